// How a cell's residuals fall: from the trace that the printed command writes, opened here.

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

function convergenceSpec(trace, cell) {
  const { verdict, tolerance } = data.slices[cell.slice];
  const curve = (name, label, colour, dash) => {
    const points = trace.iteration.flatMap((k, i) =>
      known(trace[name]?.[i]) && trace[name][i] > 0 && known(k) ? [[Math.max(k, 1), trace[name][i]]] : [],
    );
    return {
      x: points.map(([x]) => x),
      y: points.map(([, y]) => y),
      label,
      front: true,
      colour,
      dash,
      hover: (i) => `iteration ${points[i][0]}: ${formatResidual(points[i][1])}`,
    };
  };
  const series = [
    curve(verdict, "judge", colourOf(cell.solver)),
    curve("own_residual", "solver's own", "var(--soft)", "4 3"),
  ].filter(({ x }) => x.length > 1);
  const last = Math.max(2, ...series.flatMap(({ x }) => x[x.length - 1]));
  series.push({
    x: [1, last],
    y: [tolerance, tolerance],
    label: "tolerance",
    front: true,
    colour: "var(--false_claim)",
    dash: "2 3",
  });
  const values = series.flatMap(({ y }) => y);
  return {
    x: { title: "iteration", log: last > 50, range: [1, last], ...numberTicks },
    y: { title: verdict, log: true, range: roomyLog(values, 2), ...powerTicks },
    series,
    labels: true,
    height: 290,
    aria: `Residual over iterations of ${data.solvers[cell.solver].label} on ${data.problems[cell.problem].name}`,
  };
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
      position.replaceChildren(
        chartFigure(
          "convergence-chart",
          "Convergence",
          `${plural(trace.iteration.length, "iterate")}, ${file.name}`,
          "convergence",
        ),
      );
      drawChart(document.getElementById("convergence-chart"), convergenceSpec(trace, cell));
    });
    reader.readAsText(file);
  };
  return el(
    "details",
    { class: "fold" },
    el("summary", {}, "Convergence"),
    el("p", { class: "aside" }, "Run this, then open the file here:"),
    command(`${text} --trace trace.csv`),
    el("input", {
      type: "file",
      id: "trace-file",
      accept: ".csv",
      "aria-label": "Trace of this cell",
      onchange: (event) => event.target.files[0] && open(event.target.files[0]),
    }),
    position,
  );
}
