// Charts by plotly, drawn when they come into sight, and again where their width or the theme changes.

const hasCharts = typeof Plotly !== "undefined";

const chartStates = new WeakMap(); // box → {spec, width, figure}
let mostWidth = Infinity;
const widthOf = (box) => Math.max(200, Math.min(box.clientWidth, mostWidth));

function drawNow(box) {
  const state = chartStates.get(box);
  const first = !state.figure;
  state.width = widthOf(box);
  state.figure = figureOfSpec(state.spec, state.width);
  const { traces, layout } = state.figure;
  box.style.height = `${layout.height}px`;
  Plotly.react(box, traces, layout, { displayModeBar: false, displaylogo: false });
  delete box.dataset.waiting;
  if (!first) return;
  box.on("plotly_click", ({ points }) => {
    const one = state.figure.series[points[0].curveNumber];
    state.spec.onPick?.(one, points[0].pointNumber);
  });
  box.on("plotly_relayout", (change) => {
    if (!Object.keys(change).some((key) => key.startsWith("xaxis.") || key.startsWith("yaxis."))) return;
    const { spec, width, figure } = state;
    if (figure.labelled) Plotly.relayout(box, { annotations: endLabels(spec, box.layout, figure.plot.height, width) });
  });
}

const inSight = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting && "waiting" in target.dataset) drawNow(target);
    }
  },
  { rootMargin: "150px" },
);
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const state = chartStates.get(target);
    if (state.figure && target.clientWidth > 0 && Math.abs(widthOf(target) - state.width) > 1) drawNow(target);
  }
});

// Draws `spec` into a box that stands in the page, once it is in sight.
function drawChart(box, spec) {
  if (!hasCharts) {
    box.replaceChildren(
      el(
        "p",
        { class: "note" },
        "This build has no charting library. To get charts: run scripts/fetch_plotly.sh, build again, and write the report anew.",
      ),
    );
    return;
  }
  if (!chartStates.has(box)) {
    box.setAttribute("role", "img");
    box.style.height = `${spec.height ?? 340}px`;
    chartStates.set(box, {});
  }
  box.setAttribute("aria-label", spec.aria);
  box.dataset.waiting = "";
  chartStates.get(box).spec = spec;
  // Observing anew tells at once whether it is in sight.
  inSight.unobserve(box);
  inSight.observe(box);
  widths.observe(box);
}

function drawWaiting() {
  for (const box of document.querySelectorAll(".chart[data-waiting]")) drawNow(box);
}
// In the colours of the theme.
function redrawCharts() {
  for (const box of document.querySelectorAll(".chart.js-plotly-plot")) drawChart(box, chartStates.get(box).spec);
}

// Paper has all charts, as wide as it is.
const paperWidth = 680;
function startCharts() {
  startTheme(redrawCharts);
  window.addEventListener("beforeprint", () => {
    mostWidth = paperWidth;
    redrawCharts();
    drawWaiting();
  });
  window.addEventListener("afterprint", () => {
    mostWidth = Infinity;
    redrawCharts();
  });
}

const saveChart = (box, filename) =>
  Plotly.downloadImage(box, { format: "svg", filename, width: box.clientWidth, height: box.clientHeight });

// Boxes are kept, so that a section drawn again changes its charts and makes no new ones.
const boxes = new Map();
function chartBox(id) {
  if (!boxes.has(id)) boxes.set(id, el("div", { class: "chart", id }));
  return boxes.get(id);
}

// A titled chart with a button that saves it. The box is drawn into after it stands in the page.
function chartFigure(id, title, hint, name) {
  const box = chartBox(id);
  const save = () => {
    if ("waiting" in box.dataset) drawNow(box);
    saveChart(box, name);
  };
  return el(
    "figure",
    {},
    el(
      "figcaption",
      {},
      hasCharts
        ? el("button", { type: "button", class: "save", title: "Save this picture as SVG", onclick: save }, "SVG")
        : null,
      el("b", {}, title),
      hint ? ` ${hint}` : null,
    ),
    box,
  );
}
