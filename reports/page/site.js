// A site of many reports: what was measured, what was sent in, what was held out, and the files of each.

const data = JSON.parse(document.getElementById("data").textContent);

// As in a report's address, so that a link from here leads to a report without our own methods, too.
const words = new URLSearchParams(location.hash.slice(1));
const state = { suite: words.get("suite") ?? "", machine: words.get("machine") ?? "", own: words.get("own") ?? "" };

const isOwn = (row) => row.origin === "own";
const machineOf = (entry) => entry.submission?.machine ?? entry.cpu;
const inOrder = (texts) => distinct(texts).sort(byName);
const pathOf = (address) => address.split("/").map(encodeURIComponent).join("/");
const dayOf = (entry) => entry.started_utc.slice(0, 10) || none;
const heading = (id, text, aside) =>
  el("div", { class: "heading" }, el("h2", { id }, text, aside ? el("span", { class: "aside" }, aside) : ""));

function update(patch) {
  Object.assign(state, patch);
  const kept = new URLSearchParams(Object.entries(state).filter(([, value]) => value !== ""));
  history.replaceState(null, "", `#${kept}`);
  draw();
}

const reportLink = (entry, text) =>
  el("a", { class: "word", href: `${pathOf(entry.address)}/index.html${state.own ? "#own=left+out" : ""}` }, text);

function formatBytes(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${formatNumber(bytes / 1000 ** power)} ${units[power]}`;
}

// "1e-8  CASCADE * 46, NSN-AC 44 of 46": the three that solve most.
function solvedLine(slice) {
  const rows = slice.rows.filter((row) => !state.own || !isOwn(row)).slice(0, 3);
  const names = rows.flatMap((row, i) => [
    i > 0 ? ", " : "",
    el("span", { class: "word", title: `${originText[row.origin] ?? ""}; ${formatShare(row.share)}, families equal` },
      row.label, isOwn(row) ? el("span", { class: "own" }, " *") : "", " ", el("b", {}, formatCount(row.solved))),
  ]);
  return el("div", {}, el("span", { class: "unit" }, `${slice.label} `), names.length > 0 ? names : none,
    " ", el("span", { class: "unit word" }, `of ${formatCount(slice.problems)}`));
}

function filesOf(entry) {
  const short = (path) => (path.startsWith(entry.address) ? path.slice(entry.address.length + 1) : path);
  const row = (file) =>
    el("tr", {}, el("td", { class: "left" }, el("a", { href: pathOf(file.path) }, short(file.path))), el("td", {}, formatBytes(file.bytes)),
      el("td", { class: "left minor" }, el("code", { title: file.sha256 }, file.sha256.slice(0, 16))));
  return el("details", {}, el("summary", {}, `${plural(entry.files.length, "file")}, ${formatBytes(entry.files.reduce((sum, file) => sum + file.bytes, 0))}`),
    scroller(el("table", { class: "fit" }, el("thead", {}, el("tr", {}, ["File", "Size", "SHA-256"].map((text, i) => el("th", { scope: "col", class: i === 2 ? "left minor" : i === 0 ? "left" : null }, text)))),
      el("tbody", {}, entry.files.map(row)))));
}

function claimOf({ answers, timed, claimed_median_s }) {
  if (timed === 0) return `${plural(answers, "answer")}, no times`;
  return `${formatTime(claimed_median_s)}, median of ${formatCount(timed)} of ${plural(answers, "answer")}`;
}

const measuredColumns = [
  { title: "Report", show: (entry) => reportLink(entry, dayOf(entry)) },
  { title: "Machine", show: (entry) => `${entry.cpu}${entry.cores > 0 ? `, ${plural(entry.cores, "core")}` : ""}` },
  { title: "Build", minor: true, show: (entry) => `${entry.version} (${entry.commit.slice(0, 10)})` },
  { title: "Families", only: "held_out", show: (entry) => entry.families.join(", ") || "all" },
  { title: "Solved, the best three", long: true, show: (entry) => entry.slices.map(solvedLine) },
];
const submittedColumns = [
  { title: "Report", show: (entry) => reportLink(entry, dayOf(entry)) },
  { title: "Solver", show: ({ submission }) => `${submission.solver} ${submission.version}` },
  { title: "By", show: ({ submission }) => [submission.by || "not stated", submission.url ? el("div", { class: "unit" }, submission.url) : ""] },
  { title: "Judged: solved", long: true, show: (entry) => entry.slices.map(solvedLine) },
  { title: "Time, claimed by the submitter", long: true, show: ({ submission }) => [claimOf(submission), submission.machine ? el("div", { class: "unit" }, submission.machine) : ""] },
];

function table(entries, columns) {
  const classOf = (column) => ["left", column.long ? "long" : "", column.minor ? "minor" : ""].filter(Boolean).join(" ");
  const row = (entry) => [
    el("tr", {}, columns.map((column) => el("td", { class: classOf(column) }, column.show(entry)))),
    el("tr", {}, el("td", { class: "left", colspan: columns.length }, filesOf(entry))),
  ];
  return el("table", { class: "fit site" }, el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col", class: classOf(column) }, column.title)))),
    el("tbody", {}, entries.map(row)));
}

function drawSection(id, title, aside, entries, columns, caption) {
  const section = document.getElementById(id);
  if (!section) return;
  const groups = inOrder(entries.map((entry) => entry.suite)).map((suite) => {
    const history = data.histories.find((one) => one.suite === suite);
    const mine = entries.filter((entry) => entry.suite === suite);
    const shown = columns.filter((column) => !column.only || mine.some((entry) => entry[column.only]));
    return card(el("h3", {}, suite, id === "results" && history
      ? el("span", { class: "aside" }, el("a", { href: `${pathOf(history.address)}/index.html${state.own ? "#own=left+out" : ""}` }, `history of ${plural(history.nights, "run")}`)) : ""),
      scroller(table(mine, shown)));
  });
  section.replaceChildren(heading(`${id}-title`, title, aside),
    ...(groups.length > 0 ? groups : [el("p", { class: "note" }, "Nothing that fits the choice above.")]),
    el("p", { class: "caption" }, caption));
}

function choices() {
  const choice = (name, title, texts) =>
    texts.length > 1 || state[name]
      ? select(title, [{ value: "", title: `All ${title.toLowerCase()}s` }, ...texts.map((text) => ({ value: text, title: text }))], state[name], (value) => update({ [name]: value }))
      : "";
  const box = el("input", { type: "checkbox", id: "without-own", onchange: (event) => update({ own: event.target.checked ? "left out" : "" }) });
  box.checked = state.own !== "";
  const anyOwn = data.entries.some((entry) => entry.slices.some((slice) => slice.rows.some(isOwn)));
  return el("div", { class: "filters" },
    choice("suite", "Suite", inOrder(data.entries.map((entry) => entry.suite))),
    choice("machine", "Machine", inOrder(data.entries.map(machineOf).filter(Boolean))),
    anyOwn ? el("label", { class: "switch" }, box, "without methods of Conebench's authors") : "");
}

function drawOverview(shown) {
  const tile = (title, value, detail) => el("div", { class: "tile" }, el("div", { class: "tile-title" }, title), el("div", { class: "tile-value" }, value), el("div", { class: "tile-detail" }, detail));
  const days = shown.map(dayOf).filter((day) => day !== none).sort();
  const rows = shown.flatMap((entry) => entry.slices.flatMap((slice) => slice.rows));
  document.getElementById("overview").replaceChildren(
    choices(),
    el("div", { class: "tiles" },
      tile("Reports", formatCount(shown.length), plural(inOrder(shown.map((entry) => entry.suite)).length, "suite")),
      tile("Machines", formatCount(inOrder(shown.filter((entry) => !entry.submission).map((entry) => entry.cpu)).length), "that measured"),
      tile("Newest", days.at(-1) ?? none, `the oldest of ${days[0] ?? none}`)),
    el("p", { class: "caption" },
      "Every answer was judged by Conebench on the original problem. Reports of different machines are not ranked together. ",
      rows.some(isOwn) && !state.own ? el("span", { class: "own-legend" }, "* by Conebench's authors. ") : "",
      "Each file's SHA-256 is in ", el("a", { href: "SHA256SUMS" }, "SHA256SUMS"), "; the whole list is in ", el("a", { href: "site.json" }, "site.json"), "."));
}

function draw() {
  const shown = data.entries.filter((entry) => (!state.suite || entry.suite === state.suite) && (!state.machine || machineOf(entry) === state.machine));
  drawOverview(shown);
  drawSection("results", "Results", "measured on the machine that is named", shown.filter((entry) => !entry.held_out && !entry.submission), measuredColumns,
    "Solved: problems that count, at each tolerance. A date leads to the report with times, profiles and every cell.");
  drawSection("submitted", "Submitted answers", "judged here, not run here", shown.filter((entry) => !entry.held_out && entry.submission), submittedColumns,
    "Answers were sent in as files. The judge decides what is solved. Nobody here has run the solver: times are the submitter's word, and are compared with no measured one.");
  drawSection("held-out", "Held out", "apart from all other results", shown.filter((entry) => entry.held_out), measuredColumns,
    "Problems that are kept apart: they are in no ranking with others, and neither stores nor answers of theirs can be downloaded.");
}

startTheme(() => {});
document.getElementById("controls").replaceChildren(themeButton());
draw();
for (const anchor of document.querySelectorAll("nav a, a.skip")) {
  anchor.addEventListener("click", (event) => {
    // the address keeps the choice
    event.preventDefault();
    document.getElementById(anchor.getAttribute("href").slice(1)).scrollIntoView();
  });
}
document.getElementById("footer").replaceChildren(el("span", {}, "Made by `conebench publish`. Addresses of reports stay when the site is made again with more of them."));
document.documentElement.dataset.ready = Math.round(performance.now());
window.conebench = { data, state, update };
