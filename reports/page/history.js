// Many nights of a suite: share solved and time of each configuration against date and build, and where they changed.

const data = JSON.parse(document.getElementById("data").textContent);
const view = { suite: 0, slice: 0, family: "", measure: null, axis: "date", chosen: null, own: new URLSearchParams(location.hash.slice(1)).get("own") ?? "" };

const signed = (value, digits = 1) =>
  known(value) ? `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(digits)} %` : none;
const heading = (id, text, aside) =>
  el("div", { class: "heading" }, sectionTitle(id.replace(/-title$/, ""), text, aside));
const suite = () => data.suites[view.suite];
// Without our own methods where the reader wants that.
const isShown = (configuration) => view.own === "" || suite().origins[configuration] !== "own";
const shownConfigurations = () => suite().configurations.map((_, s) => s).filter(isShown);
const buildOf = (night) =>
  `${night.commit.slice(0, 8)}${night.commit.endsWith("-dirty") ? "-dirty" : ""}${night.executable ? ` (${night.executable.slice(0, 8)})` : ""}`;
// "code of MINE 01234567 → fedcba98": plug-ins and programs that changed.
const codeText = (changes) => {
  const hashes = (list) => list.map((hash) => hash.slice(0, 8)).join(" and ");
  return changes.map((one) => `code of ${one.solver} ${hashes(one.before)} → ${hashes(one.after)}`).join(", ");
};
// With the time of day where nights share a date.
const dayOf = (night) => {
  const alike = (length) => suite().nights.filter((one) => one.started_utc.slice(0, length) === night.started_utc.slice(0, length));
  const length = [10, 16, 19].find((length) => alike(length).length === 1) ?? 19;
  return night.started_utc.slice(0, length).replace("T", " ");
};
const seriesOf = (configuration) =>
  suite().series.find(
    (one) => one.configuration === configuration && one.slice === view.slice && (one.family ?? "") === view.family,
  );

const measures = [
  { value: "solved", title: "Solved", hint: "share of the problems with a cell" },
  { value: "corrected", title: "Time, corrected", hint: "change against the first nights, less that of the other configurations on the same problems" },
  { value: "raw", title: "Time, raw", hint: "the same with what the machine did in it" },
];
// One night has no change of time.
const measure = () => view.measure ?? (suite().nights.length > 1 ? "corrected" : "solved");
function valuesOf(series) {
  if (!series) return [];
  if (measure() === "solved") {
    return series.solved.map((count, n) => (series.problems[n] > 0 ? (100 * count) / series.problems[n] : null));
  }
  return (measure() === "raw" ? series.raw_percent : series.corrected_percent) || [];
}

// A configuration's state in the last night (docs/compare.md#states).
const stateOf = (configuration) => suite().last_night.configurations.find((one) => one.configuration === configuration && one.slice === view.slice);
const decidable = () => suite().judged_nights >= suite().nights_needed;
const stateText = (state) => {
  if (!state) return none;
  const word = state.state === "undecided" ? "not yet decidable" : state.state;
  return state.evidence && ["slower", "faster"].includes(state.state) ? `${word} ${signed(state.evidence.change_percent)}` : word;
};

const changed = () => suite().time_changes.filter((one) => one.slice === view.slice);
// Those that changed, then those that solve most: as many as there are colours.
function usual() {
  const order = shownConfigurations();
  const last = (s) => seriesOf(s)?.solved.at(-1) ?? -1;
  const hit = new Set(changed().map((one) => one.configuration));
  order.sort((a, b) => hit.has(b) - hit.has(a) || last(b) - last(a) || a - b);
  return new Set(order.slice(0, 8));
}
const chosen = () => new Set([...(view.chosen ?? usual())].filter(isShown));

function toggle(configuration) {
  const next = new Set(chosen());
  if (!next.delete(configuration)) next.add(configuration);
  view.chosen = next;
  draw();
}

const pageLink = (night, text) => (night.page ? el("a", { href: night.page.split("/").map(encodeURIComponent).join("/") }, text) : text);
const toneOf = (night) => ({ 0: "solved", 1: "failed" })[night.exit_code] ?? "unsupported";

// "1 slower, 3 not yet decidable": configurations at all tolerances.
function stateCounts() {
  const counts = new Map();
  for (const one of suite().last_night.configurations) if (isShown(one.configuration)) counts.set(one.state, (counts.get(one.state) ?? 0) + 1);
  const order = ["lost", "slower", "undecided", "won", "faster", "same"].filter((state) => counts.has(state));
  return order.map((state) => `${counts.get(state)} ${state === "undecided" ? "not yet decidable" : state}`).join(", ") || none;
}

function drawHeadline() {
  const { nights } = suite();
  const times = suite().time_changes.filter((one) => isShown(one.configuration));
  const cells = suite().cell_changes.filter((one) => isShown(one.configuration));
  const last = nights.at(-1);
  const tonight = cells.filter((one) => one.night === nights.length - 1);
  const lost = tonight.reduce((sum, one) => sum + one.lost.length, 0);
  const won = tonight.reduce((sum, one) => sum + one.won.length, 0);
  const seen = times.filter((one) => one.seen_at === nights.length - 1);
  const tile = (title, value, detail) =>
    el("div", { class: "tile" }, el("div", { class: "tile-title" }, title), el("div", {}, el("b", {}, value)), el("div", { class: "tile-detail" }, detail));
  const notes = [...data.notes];
  if (!last.complete) notes.unshift(`The last night is not complete: ${plural(last.missing, "cell")} to run.`);
  for (const alarm of suite().last_night.alarms) notes.push(`${alarm.accepted ? "" : "Alarm "}${alarm.text}`);
  for (const line of suite().doubts) notes.push(line);
  if (last.not_judged) notes.unshift(`The last night's times are not judged: ${last.not_judged}.`);
  document.getElementById("headline").replaceChildren(
    el("div", { class: "tile lead" },
      el("span", { class: `badge ${toneOf(last)}` }, !known(last.exit_code) ? "last night" : `exit code ${last.exit_code}`), " ", last.headline || `${plural(lost, "cell")} lost, ${won} won`,
      el("div", { class: "tile-detail" }, `${dayOf(last)}, ${buildOf(last)}, `, pageLink(last, last.page ? "page of this night" : last.store))),
    el("div", { class: "tiles" },
      tile("Nights", formatCount(nights.length), `${dayOf(nights[0])} to ${dayOf(last)}`),
      tile("Last night", stateCounts(), suite().last_night.baseline ? `configurations, against ${suite().last_night.baseline}` : "no night to compare with"),
      tile("Cells last night", `${lost} lost, ${won} won`, "against the complete night before"),
      tile("Times over many nights", decidable() ? formatCount(times.length) : "not yet decidable", !decidable() ? `${suite().judged_nights} of ${suite().nights_needed} nights` : seen.length > 0 ? `changed, ${seen.length} seen last night` : "changed, none seen last night")),
    notes.length > 0 ? el("ul", { class: "notes" }, notes.map((note) => el("li", { class: "warning" }, note))) : "",
    el("p", { class: "caption" }, `${suite().terms.join("; ")}.`),
  );
}


// Milliseconds since 1970, or the nights one after the other.
function positions() {
  const { nights } = suite();
  return view.axis === "date" ? nights.map((night) => Date.parse(night.started_utc)) : nights.map((_, n) => n);
}

function seriesIn(configuration, x, look, front) {
  const { nights, configurations } = suite();
  const y = valuesOf(seriesOf(configuration));
  const shown = x.map((_, n) => n).filter((n) => known(y[n]));
  const format = measure() === "solved" ? (v) => `${v.toFixed(1)} % solved` : (v) => signed(v, 2);
  return {
    x: shown.map((n) => x[n]),
    y: shown.map((n) => y[n]),
    label: configurations[configuration],
    front,
    ...look,
    marks: front,
    hollow: shown.map((n) => Boolean(nights[n].not_judged) && measure() !== "solved"),
    configuration,
    hover: (i) => `${dayOf(nights[shown[i]])} · ${buildOf(nights[shown[i]])}${nights[shown[i]].loaded ? " · loaded" : ""}: ${format(y[shown[i]])}`,
  };
}

// A mark at the first night after each change.
function changeMarks(x, colouredConfigurations) {
  const shown = changed().filter((one) => measure() !== "solved" && view.family === "" && colouredConfigurations.has(one.configuration));
  const slower = (one) => one.effect_percent > 0;
  return {
    x: shown.map((one) => x[one.first_after]),
    y: shown.map((one) => valuesOf(seriesOf(one.configuration))[one.first_after]),
    label: "",
    lineless: true,
    marks: true,
    radius: 7,
    triangles: shown.map((one) => (slower(one) ? "up" : "down")),
    colours: shown.map((one) => (slower(one) ? "var(--worse)" : "var(--better)")),
    hover: (i) => shown[i].text,
  };
}

function nightAxis(x) {
  const { nights } = suite();
  if (view.axis === "date") return { type: "date", range: roomy(x, 0.02) };
  const step = Math.ceil(nights.length / 10);
  const ticks = x.filter((n) => n % step === 0);
  return { title: "night", range: roomy(x, 0.02), ticks, ticktext: ticks.map((n) => dayOf(nights[n]).slice(5)) };
}

const nothingToDraw = {
  solved: "No night has a cell of a problem that counts.",
  corrected: "No night has a corrected time: it takes two configurations that solve problems in a timed run.",
  raw: "No night has times: it takes a timed run that solves problems.",
};

function drawNightChart() {
  const section = document.getElementById("chart");
  const { configurations } = suite();
  const what = measures.find((one) => one.value === measure());
  const x = positions();
  const front = chosen();
  const looks = looksOf(configurations);
  const back = shownConfigurations().filter((s) => !front.has(s));
  const series = [changeMarks(x, front), ...[...front].map((s) => seriesIn(s, x, looks[s], true)), ...back.map((s) => seriesIn(s, x, looks[s], false))];
  const values = series.flatMap((one) => one.y);
  section.replaceChildren(
    heading("chart-title", "Share solved and time", what.hint),
    el("div", { class: "card" },
      el("div", { class: "filters" },
        segmented("Measure", measures, measure(), (value) => { view.measure = value; draw(); }),
        segmented("Axis", [{ value: "date", title: "By date" }, { value: "build", title: "By night" }], view.axis, (value) => { view.axis = value; draw(); })),
      values.length > 0 ? chartBox("history-chart") : el("p", { class: "note" }, nothingToDraw[measure()]),
      el("p", { class: "caption" }, "Hollow points: nights whose times are not judged (loaded, several workers, or all configurations moved). Triangles: where a time changed. Click a configuration below to draw it in colour.")),
  );
  if (values.length === 0) return;
  const range = measure() === "solved" ? [Math.min(95, ...values) - 1, 101] : roomy([0, ...values], 0.08);
  drawChart(document.getElementById("history-chart"), {
    x: nightAxis(x),
    y: { title: measure() === "solved" ? "solved" : "time, change", range, ...percentTicks },
    series,
    labels: true,
    height: 380,
    aria: "Configurations over the nights; the tables below have the figures",
    onPick: (one) => one.configuration !== undefined && toggle(one.configuration),
  });
}

function drawConfigurations() {
  const { nights, configurations } = suite();
  const last = nights.length - 1;
  const front = chosen();
  const looks = looksOf(configurations);
  const row = (configuration) => {
    const series = seriesOf(configuration);
    if (!series || series.problems.every((count) => count === 0)) return null;
    const share = (n) => (n >= 0 && series.problems[n] > 0 ? `${series.solved[n]} of ${series.problems[n]}` : none);
    const mine = changed().filter((one) => one.configuration === configuration);
    return el("tr", { class: "row", onclick: () => toggle(configuration), title: "Click: in colour or grey" },
      el("td", { class: "left" }, el("span", { style: { color: front.has(configuration) ? looks[configuration].colour : "var(--unsupported)" } }, "● "), configurations[configuration], suite().origins[configuration] === "own" ? el("small", { class: "own" }, ` ${originText.own}`) : ""),
      el("td", { class: "left" }, stateText(stateOf(configuration))), el("td", {}, share(last)), el("td", {}, share(last - 1)), el("td", {}, signed(series.against_last_percent, 1)),
      el("td", { class: "minor" }, signed(series.raw_against_last_percent, 1)),
      el("td", { class: "left" }, mine.length > 0 ? `${mine.length}, the last ${signed(mine.at(-1).effect_percent)} on ${dayOf(nights[mine.at(-1).first_after])}` : none));
  };
  const heads = ["Configuration", "Last night", "Solved", "Night before", "Time against the last 7", "Raw", "Changes of time"];
  document.getElementById("configurations").replaceChildren(
    el("div", { class: "heading" }, heading("configurations-title", "Configurations", `${suite().slices[view.slice].label}${view.family ? `, ${view.family}` : ""}`), ownSwitch()),
    el("div", { class: "scroll card" }, el("table", { class: "fit" },
      el("thead", {}, el("tr", {}, heads.map((text, i) => el("th", { class: i < 2 || i === 6 ? "left" : i === 5 ? "minor" : null }, text)))),
      el("tbody", {}, shownConfigurations().map((s) => row(s)).filter(Boolean)))),
  );
}

function drawChanges() {
  const { nights, configurations, slices } = suite();
  const times = suite().time_changes.filter((one) => isShown(one.configuration));
  const cells = suite().cell_changes.filter((one) => isShown(one.configuration));
  const most = 200;
  const badge = (kind, text) => el("span", { class: `badge ${kind}` }, text);
  const line = (night) => `${dayOf(nights[night])} ${buildOf(nights[night])}`;
  const facts = [
    ...times.map((one) => ({ at: one.seen_at, cells: [badge(one.effect_percent > 0 ? "failed" : "solved", one.effect_percent > 0 ? "slower" : "faster"), configurations[one.configuration], slices[one.slice].label, signed(one.effect_percent), line(one.last_before), line(one.first_after), [`seen ${dayOf(nights[one.seen_at])} by ${one.rule}`, codeText(one.code_changes)].filter(Boolean).join("; ")] })),
    ...cells.map((one) => {
      const parts = [];
      if (one.lost.length > 0) parts.push(`lost ${one.lost.length}`);
      if (one.won.length > 0) parts.push(`won ${one.won.length}`);
      if (one.at_limit > 0) parts.push(`${one.at_limit} at the limit`);
      if (one.flaky > 0) parts.push(`${one.flaky} flaky`);
      if (one.other_work > 0) parts.push(`other work on ${one.other_work}`);
      const kind = one.lost.length > 0 ? badge("false_claim", "lost") : one.won.length > 0 ? badge("solved", "won") : badge("not_run", one.other_work > 0 ? "work" : one.flaky > 0 ? "flaky" : "limit");
      const names = [...one.lost, ...one.won];
      const listed = names.length > 0 ? `${names.slice(0, 4).join(", ")}${names.length > 4 ? ` and ${names.length - 4} more` : ""}` : "";
      return { at: one.night, cells: [kind, configurations[one.configuration], slices[one.slice].label, parts.join(", "), line(one.before), line(one.night), [listed, codeText(one.code_changes)].filter(Boolean).join("; ")] };
    }),
  ].sort((a, b) => b.at - a.at);
  const heads = ["", "Configuration", "Tolerance", "What", "Last build before", "First build after", "Problems, or how it was seen"];
  document.getElementById("changes").replaceChildren(
    heading("changes-title", "Changes", facts.length > most ? `the newest ${most} of ${facts.length}` : `${facts.length}`),
    facts.length === 0
      ? el("p", { class: "note" }, decidable() ? "Between nights no cell was lost or won, no work and no time changed." : `Between nights no cell was lost or won and no work changed; of times it is not yet decidable (${suite().judged_nights} of ${suite().nights_needed} nights). The states of the last night are above.`)
      : el("div", { class: "scroll card" }, el("table", { class: "fit" },
          el("thead", {}, el("tr", {}, heads.map((text) => el("th", { class: "left" }, text)))),
          el("tbody", {}, facts.slice(0, most).map((fact) => el("tr", {}, fact.cells.map((cell, i) => el("td", { class: i === 6 ? "left long" : "left" }, cell))))))),
    el("p", { class: "caption" }, "A time changed where two nights running lie on one side of the ten before, each by more than 1 % and three deviations, or where the median of the last five or eight is off that of the thirty before by more than 0.7 % and 4.5 deviations. Lost, won and work are facts, not statistics."),
  );
}

function drawNights() {
  const { nights, together_percent: together } = suite();
  const rows = nights.map((night, n) => [pageLink(night, dayOf(night)), !known(night.exit_code) ? none : el("span", { class: `badge ${toneOf(night)}` }, String(night.exit_code)), night.headline || "", [buildOf(night), codeText(night.code_changes)].filter(Boolean).join("; "), night.version, night.cpu.replace(/ (Processor|CPU).*$/, ""), signed(together[view.slice]?.[n]), night.complete ? "" : `${formatCount(night.missing)} cells to run or cut short`, night.not_judged || "", night.store]);
  const minor = new Set([4, 5]);  // not on a small screen
  const heads = ["Date", "Exit code", "Against the night compared with", "Build", "Version", "Processor", "All configurations together", "Not complete", "Times not judged", "Store"];
  document.getElementById("nights").replaceChildren(
    heading("nights-title", "Nights", nights.some((night) => night.page) ? "newest first; a date leads to that night's page" : "newest first"),
    el("div", { class: "scroll tall card" }, el("table", { class: "fit" },
      el("thead", {}, el("tr", {}, heads.map((text, i) => el("th", { class: minor.has(i) ? "left minor" : "left" }, text)))),
      el("tbody", {}, rows.reverse().map((cells) => el("tr", {}, cells.map((cell, i) => el("td", { class: i === 2 ? "left long" : minor.has(i) ? "left minor" : "left" }, cell))))))),
  );
}

// As on a report; nothing where there is no choice.
function ownSwitch() {
  const own = suite().origins.filter((origin) => origin === "own").length;
  if (own === 0 || own === suite().origins.length) return "";
  const box = el("input", { type: "checkbox", id: "without-own", onchange: (event) => {
    view.own = event.target.checked ? "left out" : "";
    history.replaceState(null, "", view.own ? "#own=left+out" : "#");
    draw();
  } });
  box.checked = view.own !== "";
  return el("label", { class: "switch" }, box, "without methods of Conebench's authors");
}

function drawControls() {
  const slices = suite().slices.map((one, i) => ({ value: i, title: one.label, hint: `${one.verdict}, stop_by ${one.stop_by}, ${one.start} start` }));
  const families = [{ value: "", title: "All families" }, ...suite().families.map((family) => ({ value: family, title: family || "(no family)" }))];
  document.getElementById("controls").replaceChildren(
    data.suites.length > 1
      ? select("Suite", data.suites.map((one, i) => ({ value: String(i), title: one.suite })), String(view.suite), (value) => { Object.assign(view, { suite: Number(value), slice: 0, family: "", chosen: null }); draw(); })
      : "",
    slices.length > 1 ? segmented("Tolerance", slices, view.slice, (value) => { view.slice = value; view.chosen = null; draw(); }) : "",
    families.length > 2 ? select("Family", families, view.family, (value) => { view.family = value; draw(); }) : "",
    themeButton(),
  );
}

function draw() {
  if (data.suites.length === 0) {
    document.getElementById("headline").replaceChildren(el("p", { class: "note" }, "No night to show."));
    return;
  }
  drawControls();
  drawHeadline();
  drawNightChart();
  drawConfigurations();
  drawChanges();
  drawNights();
}

startCharts();
draw();
document.getElementById("footer").replaceChildren(el("span", {}, "How each is decided: docs/compare.md of Conebench. Every answer judged by the harness on the original problem."));
document.documentElement.dataset.ready = Math.round(performance.now());
window.conebench = { data, view, drawWaiting };
