// Steps of a simulation one after the other: the tail of their costs, and where both were run, starts from zero against
// starts from the solver's own answer to the step before.

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

// Simulations with three steps or more that have a cell in the slice: {name, steps: [{p, step}]}. A name is what the
// names of its steps begin with.
function sequencesHere(slice) {
  const found = new Map();
  data.problems.forEach((problem, p) => {
    if (!problem.sequence || !isOpen(p, slice)) return;
    if (state.family && problem.family !== state.family) return;
    if (!found.has(problem.sequence)) found.set(problem.sequence, []);
    found.get(problem.sequence).push({ p, step: problem.step });
  });
  const list = [...found.values()].filter((steps) => steps.length > 2);
  const used = new Map();
  return list.map((steps) => {
    steps.sort((a, b) => a.step - b.step);
    const [first, last] = [steps[0], steps[steps.length - 1]].map(({ p }) => data.problems[p].name);
    let same = 0;
    while (same < first.length && first[same] === last[same]) same += 1;
    const head = `${first.slice(0, same).replace(/\d+$/, "")}…`;
    used.set(head, (used.get(head) ?? 0) + 1);
    return { name: used.get(head) > 1 ? `${head} (${used.get(head)})` : head, steps };
  });
}

// The cost of a step that `share` of the steps do not exceed; null: it is not solved there. Steps weigh the same.
function tail({ steps }, slice, solver, share) {
  const costs = steps.map(({ p }) => costOf(grids[slice][p][solver], state.cost) ?? Infinity).sort((a, b) => a - b);
  const value = costs[Math.max(0, Math.ceil(share * costs.length) - 1)];
  return Number.isFinite(value) ? value : null;
}
const solvedSteps = ({ steps }, slice, solver) =>
  steps.filter(({ p }) => grids[slice][p][solver]?.outcome === "solved").length;

// Over the steps that both starts solve: how much of the cold cost the warm start takes (geometric mean).
function warmShare({ steps }, { cold, warm }, solver) {
  const ratios = steps.flatMap(({ p }) => {
    if (!startedWarm(grids[warm][p][solver])) return [];
    const [a, b] = [cold, warm].map((slice) => costOf(grids[slice][p][solver], state.cost));
    return a === null || b === null ? [] : [Math.log(b / a)];
  });
  return {
    steps: ratios.length,
    share: ratios.length > 0 ? Math.exp(ratios.reduce((a, b) => a + b, 0) / ratios.length) : null,
  };
}

// slices: [solid, dashed] or one.
function sequenceSpec({ steps }, slices, solvers) {
  const series = solvers
    .flatMap((solver) =>
      slices.map((slice) => {
        const points = steps.flatMap(({ p, step }) => {
          const value = costOf(grids[slice][p][solver], state.cost);
          return value === null ? [] : [[step, value]];
        });
        const start = data.slices[slice].start === "previous" ? "warm" : data.slices[slice].start;
        const label = data.solvers[solver].label;
        return {
          x: points.map(([x]) => x),
          y: points.map(([, y]) => y),
          label: slices.length === 1 ? label : solvers.length > 1 ? `${label}, ${start}` : start,
          front: true,
          colour: colourOf(solver),
          dash: slices.length === 1 ? dashOf(solver) : slice === slices[0] ? "" : "3 3",
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
    aria: "Cost along the sequence; the table below has its tail",
  };
}

const tailColumns = [
  ["p50", 0.5],
  ["p95", 0.95],
  ["worst", 1],
];

// A row a solver, and where both starts were run one for each.
function tailTable(chosen, slices, pair, solvers) {
  const paired = slices.length > 1;
  const cost = (value) => (known(value) ? formatCost(value, state.cost) : el("span", { title: "more steps than that are not solved" }, "not solved"));
  return el(
    "table",
    { class: "key", id: "sequence-table" },
    headRow(
      ["in colour", ...(paired ? ["start"] : []), ...tailColumns.map(([title]) => title), "solved", ...(paired ? ["warm takes, of cold"] : [])],
      [false, ...(paired ? [false] : []), false, false, false, true, false],
    ),
    el(
      "tbody",
      {},
      solvers.flatMap((solver) =>
        slices.map((slice, i) => {
          const start = data.slices[slice].start === "previous" ? "warm" : data.slices[slice].start;
          return el(
            "tr",
            {},
            i === 0
              ? el("th", { scope: "rowgroup", rowspan: slices.length, class: "left" }, solverLink(solver), ownMark(solver))
              : null,
            paired ? el("td", { class: "left" }, start) : null,
            tailColumns.map(([, share]) => el("td", {}, cost(tail(chosen, slice, solver, share)))),
            el("td", { class: "minor" }, `${solvedSteps(chosen, slice, solver)} of ${chosen.steps.length}`),
            paired && i === 0
              ? el("td", { rowspan: slices.length }, (() => {
                  const { share } = warmShare(chosen, pair, solver);
                  return known(share) ? el("b", {}, `${formatNumber(100 * share)} %`) : none;
                })())
              : null,
          );
        }),
      ),
    ),
  );
}

function drawSequences() {
  const section = document.getElementById("sequences");
  const pair = startPair();
  const list = sequencesHere(pair ? pair.cold : state.slice);
  section.hidden = list.length === 0;
  document.querySelector('nav a[href="#sequences"]').hidden = section.hidden;
  if (section.hidden) return section.replaceChildren();
  const chosen = list.find(({ name }) => name === state.sequence) ?? list[0];
  const warmHere = pair && chosen.steps.some(({ p }) => grids[pair.warm][p].some(startedWarm));
  const slices = warmHere ? [pair.warm, pair.cold] : [state.slice];
  const coloured = colouredSolvers();
  const shown = coloured
    .filter((s) => slices.some((slice) => solvedSteps(chosen, slice, s) > 0))
    .filter((s, i, list) => slices.length === 1 || list.findIndex((other) => colourOf(other) === colourOf(s)) === i) // dashes tell the starts
    .slice(0, slices.length > 1 ? 3 : bestFew);
  const both = slices.length > 1 ? "; dashed: from zero, solid: from the answer to the step before" : "";
  const warmText =
    slices.length > 1
      ? ` Warm of cold: geometric mean over the steps that are solved from both starts; the first step has nothing to start from and is left out. The chart has the first three of different colours.`
      : "";
  section.replaceChildren(
    el(
      "div",
      { class: "heading" },
      sectionTitle("sequences", "Sequences"),
      select(
        "Sequence",
        list.map(({ name }) => ({ value: name, title: name })),
        chosen.name,
        (sequence) => update({ sequence }),
      ),
    ),
    card(
      shown.length > 0
        ? chartFigure("sequence-chart", "Along the sequence", `${plural(chosen.steps.length, "step")}${both}`, "sequence")
        : null,
      scroller(tailTable(chosen, slices, pair, coloured), { "aria-label": "Tail over the sequence" }),
      el(
        "p",
        { class: "caption" },
        `${capital(costTitles[state.cost])} that 50 %, 95 % and all of the ${plural(chosen.steps.length, "step")} do not exceed; ` +
          `a step that is not solved exceeds everything.${warmText}`,
      ),
    ),
  );
  if (shown.length > 0) drawChart(document.getElementById("sequence-chart"), sequenceSpec(chosen, slices, shown));
}

view(["slice", "family", "cost", "chosen", "alone", "sequence"], drawSequences);
