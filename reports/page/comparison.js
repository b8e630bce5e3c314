// Two runs of a suite: which configurations are worse, times of the candidate against the baseline's, families, changed cells.

const data = JSON.parse(document.getElementById("data").textContent);
const isWorse = (one) => one.configurations.some((configuration) => configuration.failed);
let slice = Math.max(0, data.slices.findIndex(isWorse));

const formatTolerance = (value) => value.toExponential().replace("e+", "e");
const percent = (log) => {
  const value = 100 * Math.expm1(log);
  return `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(1)} %`;
};
const assessmentClass = { worse: "failed", better: "solved", same: "not_run", undecided: "unsupported", new: "not_run" };
const heading = (id, text, aside) =>
  el("div", { class: "heading" }, sectionTitle(id.replace(/-title$/, ""), text, aside));
const change = (log) => 100 * Math.expm1(log);
const verdictColour = { slower: "--worse", faster: "--better" };
const toneOfVerdict = (verdict) => `var(${verdictColour[verdict] ?? "--soft"})`;

const longOnes = ["Why", "Baseline", "Candidate"];
const minorOnes = ["Cells timed", "Raw"];  // not on a small screen
function table(headings, rows, left, tall) {
  const row = (tag, cells) => el("tr", {}, cells.map((cell, i) => el(tag, { class: left.includes(i) ? (longOnes.includes(headings[i]) ? "left long" : "left") : minorOnes.includes(headings[i]) ? "minor" : null }, cell)));
  return el("div", { class: tall ? "scroll tall card" : "scroll card" }, el("table", { class: "fit" }, el("thead", {}, row("th", headings)), el("tbody", {}, rows.map((cells) => row("td", cells)))));
}

function drawHeadline() {
  const side = (name, one) => {
    const run = one.runs[one.runs.length - 1];
    const build = run ? `${run.started_utc} · ${run.version} ${run.commit}${run.executable ? ` (${run.executable.slice(0, 8)})` : ""}` : "no run";
    return el("div", { class: "tile" }, el("div", { class: "tile-title" }, name), el("div", {}, el("b", {}, one.name)), el("div", { class: "tile-title" }, build), el("div", { class: "tile-title" }, `${one.cells} cells${one.loaded ? ", loaded" : ""}`));
  };
  const notes = [...data.differences, ...data.notes].map((note) => el("li", { class: "warning" }, note));
  document.getElementById("headline").replaceChildren(
    el("div", { class: "tile lead" }, el("span", { class: `badge ${data.failed ? "failed" : "solved"}`, title: "by --fail-on" }, data.failed ? "fails" : "passes"), " ", data.headline),
    el("div", { class: "tiles" }, side("Baseline", data.baseline), side("Candidate", data.candidate)),
    notes.length > 0 ? el("ul", { class: "notes" }, notes) : "",
  );
}

function drawConfigurations() {
  const one = data.slices[slice];
  const rows = one.configurations.map((configuration) => [
    el("span", { class: `badge ${assessmentClass[configuration.assessment]}` }, configuration.assessment),
    configuration.origin === "own" ? el("span", {}, configuration.configuration, " ", el("small", { class: "own" }, originText.own)) : configuration.configuration,
    configuration.times ? String(configuration.times.cells) : none,
    configuration.times ? percent(configuration.times.raw) : none,
    configuration.times ? percent(configuration.times.corrected) : none,
    configuration.times && configuration.times.bar > 0 ? percent(configuration.times.bar).replace("+", "±") : none,
    configuration.why,
  ]);
  const others = data.slices.filter((other) => other !== one && isWorse(other)).map((other) => formatTolerance(other.tolerance));
  document.getElementById("configurations").replaceChildren(
    heading("configurations-title", `Configurations at ${formatTolerance(one.tolerance)}`, `${plural(one.cells, "cell")} compared, all configurations together ${percent(one.together)}; ${one.text}${others.length > 0 ? `; something fails at ${others.join(", ")}, too` : ""}`),
    table(["", "Configuration", "Cells timed", "Raw", "Corrected", "Bar", "Why"], rows, [0, 1, 6]),
    el("p", { class: "caption" }, "Raw: how much longer the candidate took, a trimmed mean over problems. Corrected: less what the other configurations show on the same problems, which is the machine. A configuration is slower or faster where its corrected change is beyond its bar."),
  );
}

const percentAxis = (values, title) => ({ title, range: roomy([0, ...values], 0.06), ...percentTicks, zeroline: true });
// Names down the axis, the first of them on top.
const namesAxis = (names, narrow) => ({
  range: [names.length - 0.3, -0.7],
  ticks: names.map((_, i) => i),
  ticktext: names.map((name) => plain(middleOut(name, narrow ? 16 : 34))),
});

function drawTimes() {
  const section = document.getElementById("times");
  const points = data.points[slice];
  const one = data.slices[slice];
  const shown = one.configurations.filter((configuration) => configuration.times && configuration.times.cells > 0);
  if (points.baseline.length === 0) {
    section.replaceChildren(heading("times-title", "Times"), el("p", { class: "note" }, "No cell was solved by both, or times are not compared."));
    return;
  }
  section.replaceChildren(
    heading("times-title", "Times", `${points.baseline.length} of ${points.all} cells that both solved`),
    el("div", { class: "charts" }, el("div", { class: "card" }, el("h3", {}, "Candidate against baseline"), chartBox("scatter")), el("div", { class: "card" }, el("h3", {}, "Corrected change by configuration", el("span", { class: "aside" }, "slower or faster where the bar does not reach 0")), chartBox("ratios"))),
  );
  const ends = roomyLog([...points.baseline, ...points.candidate], 1.1);
  const narrow = section.clientWidth < 600;
  const kinds = [
    { label: "other work", colour: "var(--series-1)", of: (change) => change !== "same work" },
    { label: "same work", colour: "var(--series-0)", of: (change) => change === "same work" },
  ];
  drawChart(document.getElementById("scatter"), {
    x: { title: "baseline", log: true, range: ends, ...secondTicks },
    y: { title: "candidate", log: true, range: ends, ...secondTicks },
    series: [
      ...kinds.map(({ label, colour, of }) => {
        const shown = points.change.map((_, i) => i).filter((i) => of(points.change[i]));
        return {
          x: shown.map((i) => points.baseline[i]), y: shown.map((i) => points.candidate[i]), label, colour, lineless: true, marks: true, radius: 2.2,
          hover: (k) => `${data.labels[points.configuration[shown[k]]]} · ${data.names[points.problem[shown[k]]]} · ${points.change[shown[k]]}: ${formatTime(points.baseline[shown[k]])} → ${formatTime(points.candidate[shown[k]])}`,
        };
      }),
      { x: ends, y: ends, label: "equal", colour: "var(--soft)" },
    ],
    height: 420,
    aria: "Times of the candidate against those of the baseline",
  });
  const sorted = [...shown].sort((a, b) => b.times.corrected - a.times.corrected);
  const x = sorted.map((s) => change(s.times.corrected));
  const bars = sorted.map((s) => change(s.times.bar));
  drawChart(document.getElementById("ratios"), {
    x: percentAxis([...x.map((value, i) => value - bars[i]), ...x.map((value, i) => value + bars[i])], "change"),
    y: namesAxis(sorted.map((s) => s.configuration), narrow),
    series: [{ x, y: sorted.map((_, i) => i), label: "", lineless: true, marks: true, radius: 4, errors: bars, colours: sorted.map((s) => toneOfVerdict(s.times.verdict)), hover: (i) => `${sorted[i].configuration}: ${percent(sorted[i].times.corrected)}` }],
    height: Math.max(420, 60 + 18 * sorted.length),
    aria: "Corrected change of each configuration's time",
  });
}

function drawFamilies() {
  const families = data.slices[slice].families;
  const section = document.getElementById("families");
  if (families.length === 0) {
    section.replaceChildren(heading("families-title", "Families"), el("p", { class: "note" }, "No family is judged: a store was loaded, times are not compared, or families have fewer than three cells of 10 µs."));
    return;
  }
  const most = 40;
  const reported = families.filter((family) => family.verdict in verdictColour);
  const quiet = families.filter((family) => !(family.verdict in verdictColour)).slice(0, most);
  const headings = ["", "Configuration", "Family", "Cells", "Median, corrected", "Bar"];
  const rows = (list) => list.map((family) => [
    el("span", { class: `badge ${assessmentClass[{ slower: "worse", faster: "better" }[family.verdict] || "undecided"]}` }, family.verdict),
    family.configuration, family.family, String(family.cells), percent(family.median), percent(family.bar).replace("+", "±"),
  ]);
  section.replaceChildren(
    heading("families-title", "Families", `${reported.length} of ${families.length} slower or faster`),
    el("div", { class: "card" }, el("h3", {}, "Corrected change by family, a point a configuration"), chartBox("by-family")),
    reported.length > 0 ? table(headings, rows(reported), [0, 1, 2]) : "",
    quiet.length > 0 ? el("details", {}, el("summary", {}, `the ${quiet.length} others nearest to their bar`), table(headings, rows(quiet), [0, 1, 2])) : "",
  );
  const names = [...new Set(families.map((family) => family.family))].sort();
  const x = families.map((family) => change(family.median));
  drawChart(document.getElementById("by-family"), {
    x: percentAxis(x, "change of the median"),
    y: namesAxis(names.map((name) => name || "(no family)"), section.clientWidth < 600),
    series: [{
      x, y: families.map((family) => names.indexOf(family.family)), label: "", lineless: true, marks: true, radius: 4,
      colours: families.map((family) => toneOfVerdict(family.verdict)), hover: (i) => `${families[i].configuration} on ${families[i].family}: ${percent(families[i].median)}, bar ${percent(families[i].bar).replace("+", "±")}`,
    }],
    height: 90 + 26 * names.length,
    aria: "Corrected change by family",
  });
}

function drawChanged() {
  const most = 500;
  const cells = data.changed_cells;
  const lines = [
    ...data.problems.missing.map((p) => `missing problem ${p.name}`), ...data.problems.new.map((p) => `new problem ${p.name}`),
    ...data.problems.unreadable.map((p) => `problem ${p.name}: ${p.note}`), ...data.configurations.missing.map((s) => `missing configuration ${s}`),
    ...data.configurations.new.map((s) => `new configuration ${s}`),
  ];
  const rows = cells.slice(0, most).map((cell, i) => [
    el("a", { id: `cell-${i + 1}`, href: `#cell-${i + 1}`, title: "link to this cell" }, cell.change), cell.problem, cell.configuration, formatTolerance(cell.tolerance), cell.baseline, cell.candidate,
    cell.command ? el("details", {}, el("summary", {}, "repeat"), el("pre", {}, cell.command)) : none,
  ]);
  document.getElementById("changed").replaceChildren(
    heading("changed-title", "Changed cells", `${cells.length}${cells.length > most ? `, the first ${most} shown` : ""}`),
    lines.length > 0 ? el("ul", { class: "notes" }, lines.slice(0, most).map((line) => el("li", {}, line))) : "",
    rows.length > 0 ? table(["", "Problem", "Configuration", "Tolerance", "Baseline", "Candidate", "Command"], rows, [0, 1, 2, 4, 5, 6], true) : el("p", { class: "note" }, "Every cell of both stores ended alike."),
  );
}

function draw() {
  const titles = data.slices.map((one, i) => ({ value: i, title: formatTolerance(one.tolerance), hint: `${one.verdict}, stop_by ${one.stop_by}, ${one.start} start` }));
  document.getElementById("controls").replaceChildren(
    titles.length > 1 ? segmented("Tolerance", titles, slice, (chosen) => { slice = chosen; draw(); }) : "",
    themeButton(),
  );
  drawHeadline();
  if (data.slices.length > 0) {
    drawConfigurations();
    drawTimes();
    drawFamilies();
  }
  drawChanged();
}

startCharts();
draw();
// The rows are younger than the address that names one.
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
document.getElementById("footer").replaceChildren(el("span", {}, "How each is decided: docs/compare.md of Conebench. Every answer judged by the harness on the original problem."));
document.documentElement.dataset.ready = Math.round(performance.now());
window.conebench = { data, drawWaiting };
