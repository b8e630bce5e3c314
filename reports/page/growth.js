// Cost against the number of contacts, with the exponent of a power law fitted to each solver in colour.

// Least squares of log(cost) = a + b log(contacts): b with its standard error, and e^a.
function powerLaw(points) {
  const n = points.length;
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)]);
  const mean = (i) => logs.reduce((sum, one) => sum + one[i], 0) / n;
  const [mx, my] = [mean(0), mean(1)];
  const sxx = logs.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  const exponent = logs.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / sxx;
  const factor = my - exponent * mx;
  const rest = logs.reduce((sum, [x, y]) => sum + (y - factor - exponent * x) ** 2, 0);
  return { exponent, factor: Math.exp(factor), error: Math.sqrt(rest / (n - 2) / sxx) };
}

const superscript = (number) =>
  number.toFixed(2).replace(/[0-9.-]/g, (sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹·⁻"["0123456789.-".indexOf(sign)]);

const leastFitted = 8; // problems
const leastSizes = 3; // different ones
const leastSpread = 4; // largest by smallest

function growthOf(solver, problems) {
  const points = problems.flatMap((p) => {
    const value = costOf(grids[state.slice][p][solver], state.cost);
    const { contacts } = data.problems[p];
    return value === null || contacts === 0 ? [] : [[contacts, value, p]];
  });
  const sizes = points.map(([x]) => x);
  const fits =
    points.length >= leastFitted &&
    distinct(sizes).length >= leastSizes &&
    Math.max(...sizes) >= leastSpread * Math.min(...sizes);
  const asked = problems.filter((p) => data.problems[p].contacts > 0).length;
  return { solver, points, asked, fit: fits ? powerLaw(points) : null };
}

function growthSpec(growths) {
  const all = growths.flatMap(({ points }) => points);
  const range = (i, factor) =>
    roomyLog(
      all.map((point) => point[i]),
      factor,
    );
  const lines = growths
    .filter(({ fit }) => fit)
    .map(({ solver, points, fit }) => {
      const sizes = points.map(([x]) => x);
      const x = [Math.min(...sizes), Math.max(...sizes)];
      return {
        x,
        y: x.map((size) => fit.factor * size ** fit.exponent),
        label: `${data.solvers[solver].label}  n${superscript(fit.exponent)}`,
        front: true,
        colour: colourOf(solver),
        dash: dashOf(solver),
        hover: () => `exponent ${fit.exponent.toFixed(2)} ± ${fit.error.toFixed(2)}`,
      };
    });
  const clouds = growths.map(({ solver, points }) => ({
    x: points.map(([x]) => x),
    y: points.map(([, y]) => y),
    label: data.solvers[solver].label,
    colour: colourOf(solver),
    lineless: true,
    marks: true,
    radius: 2.5,
    hover: (i) =>
      `${data.problems[points[i][2]].name}: ${plural(points[i][0], "contact")}, ${formatCost(points[i][1], state.cost)}`,
  }));
  return {
    x: { title: "contacts", log: true, range: range(0, 1.1), ...numberTicks },
    y: { title: costTitles[state.cost], log: true, range: range(1, 1.25), ...costTicks(state.cost) },
    series: [...lines, ...clouds],
    labels: true,
    keyed: true,
    height: 400,
    aria: `${costTitles[state.cost]} against contacts`,
  };
}

function drawGrowth() {
  const section = document.getElementById("growth");
  const { problems } = scopeOf(state.slice, state.family);
  const growths = colouredSolvers()
    .map((solver) => growthOf(solver, problems))
    .filter(({ points }) => points.length > 1);
  section.hidden = growths.length === 0;
  if (section.hidden) return section.replaceChildren();
  section.replaceChildren(
    el("div", { class: "heading" }, sectionTitle("growth", "Size")),
    card(
      chartFigure(
        "growth-chart",
        "Cost against size",
        "a point a solved problem; lines: cost ∝ contactsᵇ, fitted",
        `growth-${state.cost}`,
      ),
      scroller(
        el(
          "table",
          { class: "key", id: "growth-table" },
          headRow(
            ["in colour", "exponent", "± standard error", "solved", "contacts"],
            [false, false, false, false, true],
          ),
          el(
            "tbody",
            {},
            growths.map(({ solver, points, asked, fit }) => {
              const sizes = points.map(([x]) => x);
              return el(
                "tr",
                {},
                el("th", { scope: "row", class: "left" }, solverLink(solver)),
                el("td", {}, fit ? el("b", {}, fit.exponent.toFixed(2)) : none),
                el("td", {}, fit ? fit.error.toFixed(2) : none),
                el("td", {}, `${formatCount(points.length)} of ${formatCount(asked)}`),
                el("td", { class: "minor" }, `${formatCount(Math.min(...sizes))} – ${formatCount(Math.max(...sizes))}`),
              );
            }),
          ),
        ),
        { "aria-label": "Fitted exponents" },
      ),
      el(
        "p",
        { class: "caption" },
        `Over solved problems only, so a solver that fails on large ones looks better than it is. Fitted by least squares in the logarithms to ${leastFitted} problems or more of ${leastSizes} sizes or more that span a factor of ${leastSpread}.`,
      ),
    ),
  );
  drawChart(document.getElementById("growth-chart"), growthSpec(growths));
}

view(["slice", "family", "cost", "chosen", "alone"], drawGrowth);
