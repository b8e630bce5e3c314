// How solvers answer to their options: which value is best, for whom, and how a choice does on problems that it was not made on.

const studiesHere = () => data.option_studies.filter((study) => study.slice === state.slice);
const shownValue = (value) =>
  value === null || value === ""
    ? "default"
    : typeof value === "number"
      ? String(value)
      : typeof value === "string"
        ? value
        : JSON.stringify(value);
const configurationText = (study, k) =>
  study.axes.map((axis, a) => `${axis.option} = ${shownValue(axis.values[study.configurations[k].indices[a]])}`).join(", ");
const formatTimes = (ratio) => (ratio < 1.0005 ? "1" : ratio < 1e4 ? formatNumber(ratio) : formatExponent(ratio, 1));

// Of the family that is chosen in the bar at the top, or of all.
function timesBest(study, k) {
  const position = study.families.findIndex((one) => one.family === state.family);
  return state.family && position >= 0 ? study.configurations[k].by_family[position] : study.configurations[k].times_best;
}
const bestHere = (study) =>
  study.configurations.reduce((best, _, k) => (timesBest(study, k) < timesBest(study, best) ? k : best), 0);

// Values that grow by a constant factor have a logarithmic axis; texts and a few uneven numbers stand side by side.
function valueAxis(axis) {
  const numbers = axis.values;
  const spread = axis.numeric && numbers[0] > 0 ? numbers[numbers.length - 1] / numbers[0] : 1;
  if (axis.numeric && spread >= 8) {
    const room = spread ** 0.04;
    return {
      position: (i) => numbers[i],
      spec: {
        log: true,
        range: [numbers[0] / room, numbers[numbers.length - 1] * room],
        ticks: numbers,
        ticktext: numbers.map(shownValue),
      },
    };
  }
  if (axis.numeric) {
    const room = 0.04 * (numbers[numbers.length - 1] - numbers[0]);
    return {
      position: (i) => numbers[i],
      spec: { range: [numbers[0] - room, numbers[numbers.length - 1] + room], ticks: numbers },
    };
  }
  return {
    position: (i) => i,
    spec: {
      range: [-0.5, numbers.length - 0.5],
      ticks: numbers.map((_, i) => i),
      ticktext: numbers.map((value) => plain(shownValue(value))),
    },
  };
}

// One option: the curve with its quartiles over problems, and each family's in grey.
function responseSpec(study) {
  const [axis] = study.axes;
  const { position, spec } = valueAxis(axis);
  const x = study.configurations.map((configuration) => position(configuration.indices[0]));
  const series = [
    {
      x,
      y: study.configurations.map((configuration) => configuration.times_best),
      label: `all ${data.group.many}`,
      front: true,
      colour: "var(--series-0)",
      marks: true,
      band: { low: study.configurations.map((one) => one.quartiles[0]), high: study.configurations.map((one) => one.quartiles[2]) },
      hover: (i) =>
        `${configurationText(study, i)}: ${formatTimes(study.configurations[i].times_best)} × best, ${study.configurations[i].solved} of ${study.problems} solved`,
    },
    ...study.families.map((family, f) => ({
      x,
      y: study.configurations.map((configuration) => configuration.by_family[f]),
      label: familyTitle(family.family),
      front: family.family === state.family && state.family !== "",
      colour: "var(--series-1)",
      dash: "7 3",
      hover: (i) => `${configurationText(study, i)}: ${formatTimes(study.configurations[i].by_family[f])} × best`,
    })),
  ];
  const all = series.flatMap((one) => [...one.y, ...(one.band ? [...one.band.low, ...one.band.high] : [])]);
  const most = all.reduce((a, b) => Math.max(a, b), 1.2);
  return {
    x: { title: axis.option, ...spec },
    y: {
      title: `${costTitles[study.cost]}, × the best configuration of each problem`,
      log: true,
      range: [0.95, most * 1.1],
      ...numberTicks,
    },
    series,
    labels: true,
    height: 320,
    aria: `${study.solver}: cost by ${axis.option}`,
  };
}

function tintedCell(study, k) {
  const ratio = timesBest(study, k);
  const configuration = study.configurations[k];
  const td = el(
    "td",
    {
      class: `heat solved${k === bestHere(study) ? " best" : ""}`,
      title: `${configurationText(study, k)}: ${formatTimes(ratio)} × best; ${configuration.solved} of ${study.problems} solved`,
      "data-configuration": k,
    },
    formatTimes(ratio),
    k === study.recommended ? el("span", { title: "recommended" }, " ★") : null,
  );
  return tint(td, Math.max(0, 1 - Math.log2(ratio) / 6));
}

// Two options: a row for each value of one, a column for each of the other, which has more.
function responseMap(study) {
  const [rows, columns] = study.axes[0].values.length <= study.axes[1].values.length ? [0, 1] : [1, 0];
  const at = new Map(study.configurations.map((configuration, k) => [`${configuration.indices[rows]}.${configuration.indices[columns]}`, k]));
  return el(
    "table",
    { class: "heatmap response" },
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("td"),
        el(
          "th",
          { scope: "colgroup", class: "group", colspan: study.axes[columns].values.length },
          study.axes[columns].option,
        ),
      ),
      el(
        "tr",
        {},
        el("th", { scope: "col", class: "left" }, study.axes[rows].option),
        study.axes[columns].values.map((value) => el("th", { scope: "col" }, shownValue(value))),
      ),
    ),
    el(
      "tbody",
      {},
      study.axes[rows].values.map((value, r) =>
        el(
          "tr",
          {},
          el("th", { scope: "row", class: "left" }, shownValue(value)),
          study.axes[columns].values.map((_, c) =>
            at.has(`${r}.${c}`) ? tintedCell(study, at.get(`${r}.${c}`)) : el("td", { class: "heat not_run" }),
          ),
        ),
      ),
    ),
  );
}

// More options: the best configurations one below the other.
const configurationRows = 20;
function configurationList(study) {
  const order = study.configurations.map((_, k) => k).sort((a, b) => timesBest(study, a) - timesBest(study, b) || a - b);
  return el(
    "table",
    { class: "heatmap response" },
    headRow([...study.axes.map((axis) => axis.option), "× best", "solved"]),
    el(
      "tbody",
      {},
      order.slice(0, configurationRows).map((k) =>
        el(
          "tr",
          {},
          study.axes.map((axis, a) =>
            el("td", { class: "plain-cell" }, shownValue(axis.values[study.configurations[k].indices[a]])),
          ),
          tintedCell(study, k),
          el("td", { class: "plain-cell" }, `${study.configurations[k].solved} of ${study.problems}`),
        ),
      ),
    ),
  );
}

// What the families cost that were left out, the dearest first; those that a long list has no room for are folded.
const adviceRows = 8;
function adviceTable(study) {
  const options = study.axes.map((axis) => axis.option).join(", ");
  const values = (k) => study.axes.map((axis, a) => shownValue(axis.values[study.configurations[k].indices[a]])).join(", ");
  const configuration = (k) => link(values(k), `solver.${study.configurations[k].solver}`, { title: configurationText(study, k) });
  const order = study.families
    .map((_, f) => f)
    .sort((a, b) => study.families[b].chosen_times_best - study.families[a].chosen_times_best || a - b);
  const table = (positions) =>
    el(
      "table",
      { class: "advice" },
      headRow(
        [data.group.one, `best here: ${options}`, "chosen on the others", "costs here", "lost"],
        [false, false, false, false, true],
        3,
      ),
      el(
        "tbody",
        {},
        positions.map((f) => {
          const one = study.families[f];
          return el(
            "tr",
            {},
            el(
              "th",
              { scope: "row", class: "left" },
              familyTitle(one.family),
              el("span", { class: "aside" }, String(one.problems)),
            ),
            el(
              "td",
              { class: "left" },
              configuration(one.best),
              el("span", { class: "aside" }, `${formatTimes(study.configurations[one.best].by_family[f])} ×`),
            ),
            el("td", { class: "left" }, configuration(one.chosen)),
            el("td", { class: "whole" }, el("b", {}, `${formatTimes(one.chosen_times_best)} ×`)),
            el("td", { class: "minor" }, String(one.chosen_lost)),
          );
        }),
      ),
    );
  const rest = order.slice(adviceRows);
  return [
    table(order.slice(0, adviceRows)),
    rest.length > 0
      ? el("details", { class: "fold" }, el("summary", {}, `the ${rest.length} others`), table(rest))
      : null,
  ];
}

function advice(study) {
  const words = configurationText(study, study.recommended);
  const unsolved = study.unsolved > 0 ? ` No configuration solves the other ${study.unsolved === 1 ? "problem" : plural(study.unsolved, "problem")}.` : "";
  const limits =
    study.dropped > 0
      ? `, among the ${study.configurations.length} configurations that ran on all problems; ${study.dropped} ran on fewer. How a choice does on problems that it was not made on is not known.`
      : `. One ${data.group.one} alone cannot say what holds for another.`;
  const best = ["Best configuration: ", el("b", {}, words)];
  if (!known(study.unseen_times_best)) return el("p", { class: "lead" }, best, `${limits}${unsolved}`);
  const lost =
    study.unseen_lost > 0
      ? `, and does not solve ${study.unseen_lost} of ${plural(study.problems, "problem")} that another configuration solves`
      : "";
  return el(
    "p",
    { class: "lead" },
    best,
    `. A configuration chosen on all ${data.group.many} but one takes `,
    el("b", {}, `${formatTimes(study.unseen_times_best)} ×`),
    ` the best ${study.cost.includes("time") ? "time" : "count"} on that one${lost}.${unsolved}`,
  );
}

function drawOptions() {
  const section = document.getElementById("options");
  const studies = studiesHere();
  section.hidden = studies.length === 0;
  document.querySelector('nav a[href="#options"]').hidden = section.hidden;
  if (section.hidden) return section.replaceChildren();
  const curves = [];
  const cards = studies.map((study, i) => {
    const id = `response-${i}`;
    if (study.axes.length === 1) curves.push([id, study]);
    const where =
      state.family && study.families.some((one) => one.family === state.family)
        ? familyTitle(state.family)
        : `all ${data.group.many}`;
    const picture =
      study.axes.length === 1
        ? chartFigure(
            id,
            study.solver,
            "band: quartiles over problems; grey: by " + data.group.one,
            `options-${study.solver}`,
          )
        : el(
            "div",
            {},
            el(
              "h3",
              {},
              study.solver,
              el("span", { class: "aside" }, `× the best configuration of each problem, ${where}; ★ recommended`),
            ),
            scroller(study.axes.length === 2 ? responseMap(study) : configurationList(study), {
              "aria-label": `Configurations of ${study.solver}`,
            }),
          );
    return card(
      advice(study),
      el(
        "div",
        { class: "study" },
        picture,
        known(study.unseen_times_best)
          ? el(
              "div",
              {},
              el("h3", {}, "Each left out in turn"),
              scroller(el("div", {}, adviceTable(study)), { "aria-label": "Configurations by family" }),
            )
          : null,
      ),
    );
  });
  section.replaceChildren(
    el("div", { class: "heading" }, sectionTitle("options", "Options")),
    ...cards,
    el(
      "p",
      { class: "caption" },
      `Over the problems that some configuration of the solver solves. A configuration costs its geometric mean of ${costTitles[studies[0].cost]} over that of the best configuration of each problem, ${data.group.many} of equal weight; what it does not solve counts with ${data.penalty_factor} times the limit.`,
    ),
  );
  for (const [id, study] of curves) drawChart(document.getElementById(id), responseSpec(study));
}

view(["slice", "family"], drawOptions);
