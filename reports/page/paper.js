// The entries of a paper: published values beside measured ones, and what became of each claim.

const data = JSON.parse(document.getElementById("data").textContent);
const toneOf = { holds: "solved", fails: "failed", "not comparable": "unsupported", undecided: "not_run" };
const claims = data.entries.flatMap((entry) => entry.checks.map((check) => ({ entry, ...check })));
const isKnown = (check) => check.known_failure && check.verdict === "fails" && check.expected;

const heading = (id, text, aside) =>
  el("div", { class: "heading" }, sectionTitle(id.replace(/-title$/, ""), text, aside));
const headRow = (texts, left) =>
  el("thead", {}, el("tr", {}, texts.map((text, i) => el("th", { scope: "col", class: i < left ? "left" : null }, text))));
const verdict = (check) =>
  el("span", { class: `badge ${toneOf[check.verdict]}` }, check.verdict);

function drawOverview() {
  const ran = data.entries.filter((entry) => !entry.not_run);
  const tile = (title, value, detail) =>
    el("div", { class: "tile" },
      el("div", { class: "tile-title" }, title), el("div", { class: "tile-value" }, value), el("div", { class: "tile-detail" }, detail));
  const count = (test) => formatCount(claims.filter(test).length);
  document.getElementById("overview").replaceChildren(el("div", { class: "tiles" },
    tile("Tables, figures, numbers", `${ran.length} of ${data.entries.length}`, "were run"),
    tile("Claims that hold", count((check) => check.verdict === "holds"), `of ${claims.length}`),
    tile("Claims that fail", count((check) => check.verdict === "fails"), `${count(isKnown)} of them for a known reason`),
    tile("Not decided", count((check) => check.verdict.startsWith("not ")), "not comparable or not run")));
}

function drawClaims() {
  const heads = ["Entry", "Claim", "Verdict", "Measured", "Reason"];
  const row = (check) => [
    el("a", { href: `#${check.entry.id}` }, `${check.entry.id} ${check.id}`),
    el("span", { title: check.holds_if }, check.claim, check.location ? el("span", { class: "aside" }, check.location) : ""),
    verdict(check), check.measured, check.reason];
  document.getElementById("claims").replaceChildren(
    heading("claims-title", "Claims", "the formula of each when the mouse is on it"),
    claims.length === 0 ? el("p", { class: "note" }, "No entry has a claim.")
      : el("div", { class: "card scroll wrap" }, el("table", { class: "claims" },
          headRow(heads, heads.length),
          el("tbody", {}, claims.map((check) => el("tr", {},
            row(check).map((cell, i) => el("td", { class: "left", "data-head": cell ? heads[i] : null }, cell))))))));
}

function tableOf(table) {
  const [head, ...rows] = table.texts;
  const words = table.cells.some((row) => row.some((cell) => known(cell.published))) ? 2 : 1;
  const aside = [table.location, table.unit && `in ${table.unit}`].filter(Boolean).join(", ");
  const cell = (text, i) => el("td", { class: i < words ? "left" : null }, text);
  return card(
    el("h3", {}, table.title, aside ? el("span", { class: "aside" }, aside) : ""),
    scroller(el("table", {}, headRow(head, words), el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell)))))),
    table.own ? el("p", { class: "caption" }, table.own) : "",
    table.gaps.map((gap) => el("p", { class: "caption" }, gap)));
}

const shortNumber = (value) => (value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5) ? String(Number(value.toPrecision(4))) : formatExponent(Number(value.toPrecision(3)), 0));

function figureSpec(figure) {
  const looks = looksOf(figure.curves.map((curve) => curve.name));
  const series = figure.curves.map((curve, i) => {
    const kept = curve.x.map((_, k) => k).filter((k) => known(curve.x[k]) && known(curve.y[k]) && !(figure.x_log && curve.x[k] <= 0) && !(figure.y_log && curve.y[k] <= 0));
    const x = kept.map((k) => curve.x[k]);
    const y = kept.map((k) => curve.y[k]);
    return {
      x, y, label: curve.name, front: true, step: figure.profile, marks: !figure.profile && x.length <= 50,
      ...looks[i], hover: (k) => `${shortNumber(x[k])}: ${shortNumber(y[k])}`,
    };
  }).filter((one) => one.x.length > 0);
  const axis = (title, log, values) => ({
    title, log, range: log ? roomyLog(values, 1.15) : roomy(values, 0.03), ...powerTicks,
  });
  return {
    x: axis(figure.x_label, figure.x_log, series.flatMap((one) => one.x)), y: axis(figure.y_label, figure.y_log, series.flatMap((one) => one.y)),
    series, labels: true, height: 356, aria: figure.title,
  };
}

const figureId = (entry, figure) => `${entry.id}-${figure.id}`;
function figureOf(entry, figure) {
  const gaps = figure.curves.filter((curve) => curve.missing).map((curve) => `${curve.name}: ${curve.missing}`);
  const empty = figure.curves.every((curve) => curve.x.length === 0);
  return card(
    el("h3", {}, figure.title, figure.location ? el("span", { class: "aside" }, figure.location) : ""),
    empty ? "" : chartBox(figureId(entry, figure)),
    gaps.map((gap) => el("p", { class: "caption" }, gap)));
}

function entryOf(entry) {
  const words = [entry.shows, entry.problems && `Measured on ${entry.problems}${entry.made ? ", " + entry.made : ""}.`].filter(Boolean).join(" ");
  return el("div", { id: entry.id, class: "entry" },
    el("div", { class: "heading" }, el("h3", {}, entry.title, el("span", { class: "aside" }, `${entry.location} · ${entry.id}`))),
    words ? el("p", { class: "caption" }, words) : "",
    entry.notes.map((note) => el("p", { class: "caption" }, note)),
    entry.tables.map(tableOf),
    entry.figures.map((figure) => figureOf(entry, figure)));
}

function drawEntries() {
  const ran = data.entries.filter((entry) => !entry.not_run);
  const missing = data.entries.filter((entry) => entry.not_run);
  document.getElementById("entries").replaceChildren(
    heading("entries-title", "Tables and figures"),
    ...ran.map(entryOf),
    missing.length > 0 ? card(el("h3", {}, "Not run"), el("ul", { class: "reasons" },
      missing.map((entry) => el("li", { id: entry.id }, `${entry.location}, ${entry.title}: ${entry.not_run}`)))) : "");
  for (const entry of ran) {
    for (const figure of entry.figures) {
      const box = document.getElementById(figureId(entry, figure));
      if (box) drawChart(box, figureSpec(figure));
    }
  }
}

function draw() {
  document.getElementById("controls").replaceChildren(themeButton());
  drawOverview();
  drawClaims();
  drawEntries();
}

startCharts();
draw();
document.getElementById("footer").replaceChildren(el("span", {}, "Absolute times stand beside the published ones and are never checked; ratios and orders are. Every answer judged by the harness on the original problem."));
document.documentElement.dataset.ready = Math.round(performance.now());
window.conebench = { data, drawWaiting };
