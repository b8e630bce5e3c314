// The entries of a paper: published values beside measured ones, and what became of each claim.

const data = JSON.parse(document.getElementById("data").textContent);
const hasCharts = typeof Plotly !== "undefined";
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const outcomeOf = { holds: "solved", fails: "failed", "not comparable": "unsupported", "not run": "not_run" };

function tableOf(table) {
  const [head, ...rows] = table.texts;
  const words = table.cells.some((row) => row.some((cell) => known(cell.published))) ? 2 : 1;
  const side = (column) => (column < words ? "left" : null);
  const caption = [table.place, table.unit && `in ${table.unit}`].filter(Boolean).join(", ");
  return el("div", { class: "card" },
    el("h3", {}, table.title, caption ? el("span", { class: "aside" }, caption) : ""),
    el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, head.map((text, i) => el("th", { class: side(i) }, text)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((text, i) => el("td", { class: side(i) }, text))))))),
    table.gaps.map((gap) => el("p", { class: "caption" }, gap)));
}

function checksOf(checks) {
  const verdict = (check) =>
    el("span", { class: "solver" }, el("span", { class: `tag ${outcomeOf[check.verdict]}` }, check.verdict + (check.known_failure && check.verdict === "fails" && check.expected ? " (known)" : "")));
  return el("div", { class: "card" },
    el("h3", {}, "Claims"),
    el("div", { class: "scroll wrap" }, el("table", {},
      el("thead", {}, el("tr", {}, ["", "Claim", "Verdict", "Measured", "Reason"].map((text) => el("th", { class: "left" }, text)))),
      el("tbody", {}, checks.map((check) => el("tr", {},
        [check.id, el("span", { title: check.holds_if }, check.claim), verdict(check), check.measured, check.reason]
          .map((cell) => el("td", { class: "left" }, cell))))))));
}

function drawFigure(id, figure) {
  const traces = figure.curves.filter((curve) => curve.x.length > 0).map((curve, i) => ({
    x: curve.x, y: curve.y, name: curve.name,
    mode: figure.profile ? "lines" : "lines+markers",
    line: { color: css(`--series-${i % colours}`), dash: dashes[i % dashes.length], shape: figure.profile ? "hv" : "linear" },
    marker: { symbol: i },
  }));
  const axis = (title, log) => ({ title: { text: title }, type: log ? "log" : "linear", gridcolor: css("--grid"), exponentformat: "power" });
  Plotly.react(id, traces, {
    xaxis: axis(figure.x_label, figure.x_log), yaxis: axis(figure.y_label, figure.y_log),
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: css("--text") }, margin: { t: 12 },
  }, { responsive: true, displaylogo: false });
}

const figureId = (entry, figure) => `${entry.id}-${figure.id}`;
function figureOf(entry, figure) {
  const gaps = figure.curves.filter((curve) => curve.missing).map((curve) => `${curve.name}: ${curve.missing}`);
  return el("div", { class: "card" },
    el("h3", {}, figure.title, figure.place ? el("span", { class: "aside" }, figure.place) : ""),
    hasCharts
      ? el("div", { id: figureId(entry, figure), style: { height: "380px" } })
      : el("p", { class: "note" }, "This build has no charts; the numbers are in the CSV file beside this page."),
    gaps.map((gap) => el("p", { class: "caption" }, gap)));
}

function sectionOf(entry) {
  return el("section", { id: entry.id },
    el("div", { class: "heading" }, el("h2", {}, `${entry.id}: ${entry.title}`, el("span", { class: "aside" }, entry.place))),
    el("p", {}, [entry.shows, entry.problems && `Measured on ${entry.problems}.`].filter(Boolean).join(" ")),
    entry.not_run ? el("p", { class: "note warning" }, `Not run: ${entry.not_run}`) : "",
    entry.checks.length > 0 ? checksOf(entry.checks) : "",
    entry.tables.map(tableOf),
    entry.figures.map((figure) => figureOf(entry, figure)),
    entry.notes.map((note) => el("p", { class: "caption" }, note)));
}

function draw() {
  document.getElementById("controls").replaceChildren(themeButton());
  document.getElementById("entries").replaceChildren(...data.entries.map(sectionOf));
  if (!hasCharts) return;
  for (const entry of data.entries) for (const figure of entry.figures) drawFigure(figureId(entry, figure), figure);
}

startTheme(draw);
draw();
document.getElementById("footer").replaceChildren(el("span", {}, "Absolute times stand beside the published ones and are never checked; ratios and orders are. Every answer judged by the harness on the original problem."));
document.documentElement.dataset.ready = Math.round(performance.now());
window.conebench = { data, draw };
