// How a cell's residual fell: from the trace that the store keeps, or from a file that the printed command writes.

const traces = new Map(data.traces.map((trace) => [trace.cell, trace]));

// A trace's columns by name, numbers or null. Only commas and line ends separate; no field is quoted.
function readTrace(text) {
  const [head, ...lines] = text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(","));
  if (!head.includes("iteration") || !head.includes("seconds")) return null;
  const columns = {};
  head.forEach((name, i) => {
    columns[name] = lines.map((line) =>
      line[i] === "" || line[i] === undefined || !Number.isFinite(Number(line[i])) ? null : Number(line[i]),
    );
  });
  return columns;
}

// The stored trace under the names of a file's columns.
const stored = (trace, verdict) => ({ ...trace, [verdict]: trace.residual });

// What a cell had spent at each point; products are spread evenly over its iterations.
function spentAlong(trace, cell, cost) {
  if (cost === "time") return trace.seconds;
  const each = cost === "operator_products" && cell.iterations > 0 ? cell.operator_products / cell.iterations : 1;
  return trace.iteration.map((k) => (known(k) ? Math.max(k, 1) * each : null));
}

function traceCurve(trace, cell, name, cost, look) {
  const spent = spentAlong(trace, cell, cost) ?? [];
  const points = spent.flatMap((x, i) => (known(x) && x > 0 && known(trace[name]?.[i]) && trace[name][i] > 0 ? [[x, trace[name][i]]] : []));
  return {
    x: points.map(([x]) => x),
    y: points.map(([, y]) => y),
    hover: (i) => `${formatCost(points[i][0], cost)}${cost === "time" ? "" : ` ${budgetTitles[cost]}`}: ${formatResidual(points[i][1])}`,
    ...look,
  };
}

// `others`: cells of the same problem and tolerance with a trace, drawn thin.
function convergenceSpec(trace, cell, cost, others) {
  const { verdict, tolerance } = data.slices[cell.slice];
  const front = { front: true, colour: colourOf(cell.solver) };
  const series = [
    traceCurve(trace, cell, verdict, cost, { ...front, label: "judge" }),
    traceCurve(trace, cell, "own_residual", cost, { front: true, colour: "var(--soft)", dash: "4 3", label: "solver's own" }),
  ].filter(({ x }) => x.length > 1);
  const grey = others
    .map((other) => traceCurve(stored(traces.get(other.index), verdict), other, verdict, cost, { label: data.solvers[other.solver].label }))
    .filter(({ x }) => x.length > 1);
  const ends = [...series, ...grey].flatMap(({ x }) => [x[0], x[x.length - 1]]);
  const range = ends.length > 0 ? roomyLog(ends, 1.05) : [1, 10];
  series.push({
    x: range,
    y: [tolerance, tolerance],
    label: "tolerance",
    front: true,
    colour: "var(--false_claim)",
    dash: "2 3",
  });
  const values = [...series, ...grey].flatMap(({ y }) => y);
  return {
    x: { title: budgetTitles[cost], log: true, range, ...costTicks(cost) },
    y: { title: verdict, log: true, range: roomyLog(values, 2), ...powerTicks },
    series: [...series, ...grey],
    labels: true,
    height: 290,
    aria: `${verdict} over ${budgetTitles[cost]} of ${data.solvers[cell.solver].label} on ${data.problems[cell.problem].name}`,
  };
}

function costsOfTrace(trace, cell) {
  return [
    trace.seconds && data.times_shown ? "time" : "",
    "iterations",
    cell.operator_products > 0 ? "operator_products" : "",
  ].filter(Boolean);
}

// Draws a trace into `position`; the axis can be chosen.
function showTrace(position, trace, cell, source, others = []) {
  const costs = costsOfTrace(trace, cell);
  const draw = (cost) => {
    position.replaceChildren(
      costs.length > 1
        ? segmented(
            "Abscissa",
            costs.map((one) => ({ value: one, title: budgetTitles[one] })),
            cost,
            (one) => {
              update({ budget: one });
              draw(one);
            },
          )
        : "",
      chartFigure("convergence-chart", "Convergence", source, "convergence"),
    );
    drawChart(document.getElementById("convergence-chart"), convergenceSpec(trace, cell, cost, others));
  };
  draw(costs.includes(state.budget) ? state.budget : "iterations");
}

// After the panel stands in the page: a chart is drawn into what is there.
function drawStoredTrace(cell) {
  const trace = traces.get(cell.index);
  const position = document.getElementById("convergence");
  if (!trace || !position) return;
  const others = grids[cell.slice][cell.problem].filter((other) => other && other !== cell && traces.has(other.index));
  const grey = others.length > 0 ? `; grey: ${plural(others.length, "other solver")}` : "";
  showTrace(
    position,
    stored(trace, data.slices[cell.slice].verdict),
    cell,
    `${plural(trace.iteration.length, "checked iterate")} of the first run${grey}`,
    others,
  );
}

function convergence(cell, text) {
  const position = el("div", { id: "convergence" });
  const open = (file) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      const trace = readTrace(String(reader.result));
      if (!trace)
        return position.replaceChildren(
          el("p", { class: "note warning" }, `${file.name} is no trace: its first line names no iteration and seconds`),
        );
      showTrace(position, trace, cell, `${plural(trace.iteration.length, "iterate")}, ${file.name}`);
    });
    reader.readAsText(file);
  };
  const fromFile = el(
    "details",
    { class: "fold" },
    el("summary", {}, traces.has(cell.index) ? "Every iterate, and every residual" : "Convergence"),
    el("p", { class: "aside" }, "Run this, then open the file here:"),
    command(`${text} --trace trace.csv`),
    el("input", {
      type: "file",
      id: "trace-file",
      accept: ".csv",
      "aria-label": "Trace of this cell",
      onchange: (event) => event.target.files[0] && open(event.target.files[0]),
    }),
  );
  return [traces.has(cell.index) ? el("h3", {}, "How its error fell") : null, position, fromFile];
}
