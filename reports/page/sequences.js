// Steps of a simulation one after the other: from zero, and from the solver's own answer to the step before.

// Pairs of slices that differ in the start alone.
const startPairs = data.slices.flatMap((cold, c) => {
  const w = data.slices.findIndex(
    (warm) =>
      warm.start === "previous" &&
      warm.tolerance === cold.tolerance &&
      warm.stop_by === cold.stop_by &&
      warm.verdict === cold.verdict,
  );
  return cold.start === "cold" && w >= 0 ? [{ cold: c, warm: w }] : [];
});
const startPair = () =>
  startPairs.find(({ cold, warm }) => state.slice === cold || state.slice === warm) ?? startPairs[0];

// What has no answer to start from, as the first of a sequence, starts cold though it was asked to start warm.
const startedWarm = (cell) => cell !== undefined && cell.start_used !== "cold";

// Problems whose names differ in their last number alone, three or more that some solver started warm:
// {name, steps: [{p, step}]}.
function sequencesHere({ cold, warm }) {
  const found = new Map();
  data.problems.forEach((problem, p) => {
    const parts = /^(.*?)(\d+)(\D*)$/.exec(problem.name);
    if (!parts || !isOpen(p, cold) || !grids[warm][p].some(startedWarm)) return;
    if (state.family && problem.family !== state.family) return;
    const name = `${parts[1]}…${parts[3]}`;
    if (!found.has(name)) found.set(name, { name, steps: [] });
    found.get(name).steps.push({ p, step: Number(parts[2]) });
  });
  const list = [...found.values()].filter(({ steps }) => steps.length > 2);
  for (const { steps } of list) steps.sort((a, b) => a.step - b.step);
  return list;
}

// Over the steps that both starts solve: how much of the cold cost the warm start takes (geometric mean).
function warmShare({ steps }, { cold, warm }, solver) {
  const ratios = steps.flatMap(({ p }) => {
    if (!startedWarm(grids[warm][p][solver])) return [];
    const [a, b] = [cold, warm].map((slice) => costOf(grids[slice][p][solver], state.cost));
    return a === null || b === null ? [] : [Math.log(b / a)];
  });
  const solved = [cold, warm].map(
    (slice) => steps.filter(({ p }) => grids[slice][p][solver]?.outcome === "solved").length,
  );
  return {
    steps: ratios.length,
    solved,
    share: ratios.length > 0 ? Math.exp(ratios.reduce((a, b) => a + b, 0) / ratios.length) : null,
  };
}

function sequenceSpec({ steps }, { cold, warm }, solvers) {
  const series = solvers
    .flatMap((solver) =>
      [warm, cold].map((slice) => {
        const points = steps.flatMap(({ p, step }) => {
          const value = costOf(grids[slice][p][solver], state.cost);
          return value === null ? [] : [[step, value]];
        });
        const start = slice === warm ? "warm" : "cold";
        return {
          x: points.map(([x]) => x),
          y: points.map(([, y]) => y),
          label: solvers.length > 1 ? `${data.solvers[solver].label}, ${start}` : start,
          front: true,
          colour: colourOf(solver),
          dash: slice === warm ? "" : "3 3",
          hover: (i) => `step ${points[i][0]}: ${formatCost(points[i][1], state.cost)}`,
        };
      }),
    )
    .filter(({ x }) => x.length > 0);
  const values = series.flatMap(({ y }) => y);
  return {
    x: { title: "step", range: [steps[0].step, steps[steps.length - 1].step] },
    y: { title: costTitles[state.cost], log: true, range: roomyLog(values), ...costTicks(state.cost) },
    series,
    labels: true,
    height: 330,
    aria: "Cost along the sequence, cold and warm",
  };
}

function drawSequences() {
  const section = document.getElementById("sequences");
  const pair = startPair();
  const list = pair ? sequencesHere(pair) : [];
  section.hidden = list.length === 0;
  document.querySelector('nav a[href="#sequences"]').hidden = section.hidden;
  if (section.hidden) return section.replaceChildren();
  const chosen = list.find(({ name }) => name === state.sequence) ?? list[0];
  const coloured = colouredSolvers();
  const shown = coloured
    .filter((s) => chosen.steps.some(({ p }) => costOf(grids[pair.cold][p][s], state.cost) !== null))
    .filter((s, i, list) => list.findIndex((other) => colourOf(other) === colourOf(s)) === i) // dashes tell the starts
    .slice(0, 3);
  section.replaceChildren(
    el(
      "div",
      { class: "heading" },
      el("h2", { id: "sequences-title" }, "Cold against warm"),
      select(
        "Sequence",
        list.map(({ name }) => ({ value: name, title: name })),
        chosen.name,
        (sequence) => update({ sequence }),
      ),
    ),
    card(
      shown.length > 0
        ? chartFigure(
            "sequence-chart",
            "Along the sequence",
            `${plural(chosen.steps.length, "step")}; dashed: from zero, solid: from the answer to the step before`,
            "sequence",
          )
        : null,
      scroller(
        el(
          "table",
          { class: "key", id: "sequence-table" },
          headRow(["in colour", "warm takes, of cold", "solved cold", "solved warm"], [false, false, true, true]),
          el(
            "tbody",
            {},
            coloured.map((solver) => {
              const { share, solved } = warmShare(chosen, pair, solver);
              return el(
                "tr",
                {},
                el("th", { scope: "row", class: "left" }, solverLink(solver)),
                el("td", {}, known(share) ? el("b", {}, `${formatNumber(100 * share)} %`) : none),
                el("td", { class: "minor" }, `${solved[0]} of ${chosen.steps.length}`),
                el("td", { class: "minor" }, `${solved[1]} of ${chosen.steps.length}`),
              );
            }),
          ),
        ),
        { "aria-label": "Cold against warm" },
      ),
      el(
        "p",
        { class: "caption" },
        `Geometric mean of ${costTitles[state.cost]} over the steps that are solved from both starts; the first step has nothing to start from and is left out. The chart has the first three of different colours.`,
      ),
    ),
  );
  if (shown.length > 0) drawChart(document.getElementById("sequence-chart"), sequenceSpec(chosen, pair, shown));
}

view(["slice", "family", "cost", "chosen", "alone", "sequence"], drawSequences);
