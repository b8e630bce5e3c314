// A recording's answers judged: on their own law, on Coulomb's with compliance, as rigid contact, step by step.

const data = JSON.parse(document.getElementById("data").textContent);
const laws = [
  { id: "own", title: "own law", colour: "var(--series-0)" },
  { id: "compliant", title: "NCP with R", colour: "var(--series-1)" },
  { id: "rigid", title: "rigid NCP", colour: "var(--series-2)" },
];
const units = [
  { value: "scaled", title: "scaled", hint: "over V, the largest free velocity of the step, at least its median over the steps" },
  { value: "absolute_m_s", title: "m/s", hint: "the same, not scaled" },
];
const lawTitle = (law) => law.toUpperCase();
const lawsOf = (answer) => laws.filter(({ id }) => id !== "compliant" || answer.law !== "ncp"); // NCP: the own law is that
const tolerance = formatExponent(data.tolerance, 0);

// Engines first. `at` has the answer in each step, or none.
const keyOf = (answer) => `${answer.of} ${answer.name}`;
const answers = [...data.summary].sort((a, b) => (b.of === "engine") - (a.of === "engine"));
const found = data.steps.map((step) => new Map(step.answers.map((answer) => [keyOf(answer), answer])));
for (const answer of answers) answer.at = found.map((step) => step.get(keyOf(answer)));
const looks = looksOf(answers.map((answer) => answer.name));

const view = { chosen: 0, law: "own", unit: "scaled", sort: "-scaled", all: false, open: null };
const chosen = () => answers[view.chosen];
const lawOf = (id) => laws.find((law) => law.id === id);

const heading = (id, text, aside) =>
  el("div", { class: "heading" }, sectionTitle(id.replace(/-title$/, ""), text, aside));
const badgeOf = (id, text) => el("span", { class: `badge ${id}` }, text);
const lengthUnit = (size) => (size < 1e-3 ? [1e6, "µm"] : size < 1 ? [1e3, "mm"] : [1, "m"]); // how many a metre has
function metres(value) {
  if (!known(value)) return none;
  const [perMetre, unit] = lengthUnit(Math.abs(value));
  return `${formatNumber(value * perMetre)} ${unit}`;
}
const speed = (value) => (known(value) ? `${formatResidual(value)} m/s` : none);
const bodiesOf = (worst) => (worst?.bodies ?? []).filter(Boolean).join(" – ");
const blockOf = (worst) => worst?.name ?? worst?.block ?? none;
const within = (answer) => known(answer.own?.scaled) && answer.own.scaled <= data.tolerance;
function verdictOf(answer) {
  if (answer.error) return badgeOf("unsupported", "no answer");
  const id = within(answer) ? "solved" : answer.status === "converged" ? "false_claim" : "failed";
  return badgeOf(id, outcomeTitle[id]);
}
const claimOf = (answer) =>
  answer.error ?? (statusTitle(answer.status ?? "") || none) + (known(answer.tolerance) ? ` at ${formatExponent(answer.tolerance, 0)}` : "");
const modesOf = ({ modes }) => (modes ? `${modes.open} open, ${modes.stick} stick, ${modes.slip} slip` : "");
const stepNumber = (number) => data.steps.findIndex((step) => step.number === number);

function stepButton(number, text = known(number) ? String(number) : none) {
  if (!known(number)) return text;
  return el("button", { type: "button", class: "link", title: `all answers in step ${number}`,
    onclick: (event) => { event.stopPropagation(); openStep(stepNumber(number)); } }, text);
}

// The verdict on an answer, in a sentence.
function verdictTile(answer) {
  const { rigid } = answer;
  const own = answer.own ?? { within: 0 };
  const missed = answer.answers - own.within;
  const worst = answer.at[stepNumber(own.max_step)]?.own?.worst;
  const lost = data.steps.length - answer.answers;
  const tone = answer.claimed_wrong > 0 ? "false_claim" : missed > 0 ? "failed" : "solved";
  const detail = [
    lost > 0 ? `${plural(lost, "step")} without an answer` : "",
    own.max > 0 ? [`worst at step `, stepButton(own.max_step), `: ${formatResidual(own.max)}${worst ? `, ${[blockOf(worst), bodiesOf(worst)].filter(Boolean).join(", ")}` : ""}`] : "",
    `says converged on ${plural(answer.claimed, "step")}${answer.claimed_wrong > 0 ? `, wrongly on ${formatCount(answer.claimed_wrong)}` : ""}`,
  ].filter(Boolean);
  return el("div", { class: "tile lead" },
    badgeOf(answer.answers === 0 ? "unsupported" : tone, answer.answers === 0 ? "no answer" : missed > 0 ? `${plural(missed, "step")} off` : "its law holds"),
    ` ${answer.name}: on its own law (${lawTitle(answer.law)}) ${formatCount(own.within)} of ${plural(answer.answers, "step")} within ${tolerance}; as rigid contact: `,
    rigid && known(rigid.median) ? `median ${formatResidual(rigid.median)}` : "not known",
    el("div", { class: "tile-detail" }, detail.map((part, i) => [i > 0 ? " · " : "", part])));
}

function drawHeadline() {
  const { steps } = data;
  const engines = answers.filter((answer) => answer.of === "engine");
  const tile = (title, value, detail) =>
    el("div", { class: "tile" }, el("div", { class: "tile-title" }, title), el("div", { class: "tile-value" }, value), el("div", { class: "tile-detail" }, detail));
  const [least, most] = extent(steps.map((step) => step.unit_m_s).filter(known));
  const contacts = extent(steps.map((step) => step.contacts));
  const range = (low, high, format) => (low === high ? format(low) : `${format(low)} – ${format(high)}`);
  const deepest = steps.filter((step) => known(step.gap_min_m)).sort((a, b) => a.gap_min_m - b.gap_min_m)[0];
  const last = steps.at(-1);
  document.getElementById("headline").replaceChildren(
    ...engines.map(verdictTile),
    engines.length === 0 ? el("p", { class: "note warning" }, "No step holds an answer of an engine.") : "",
    steps.length === 0 ? "" : el("div", { class: "tiles" },
      tile("Steps", formatCount(steps.length), last && known(last.time) ? `to ${formatNumber(last.time)} s` : ""),
      tile("Contacts", range(...contacts, formatCount), "in a step"),
      tile("Largest free velocity V", least <= most ? range(least, most, formatNumber) : none, "m/s, in a step"),
      tile("Least gap", deepest ? metres(deepest.gap_min_m) : none, deepest ? ["at step ", stepButton(deepest.number), deepest.gap_min_at ? `, ${bodiesOf(deepest.gap_min_at) || blockOf(deepest.gap_min_at)}` : ""] : "not in the file")),
    data.description ? el("p", { class: "caption" }, data.description) : "",
    least <= most ? el("p", { class: "caption" },
      `Scaled residuals are over V = max |g_i| of their step, absolute ones in m/s. They stand side by side since at rest V is only g·Δt: `,
      `${tolerance} is ${speed(data.tolerance * least)} ${least < most ? `in the slowest step here, ${speed(data.tolerance * most)} in the fastest` : "here"}.`) : "",
    el("p", { class: "caption" },
      "Own law: the one that the answer says it solves, with the compliance R; NCP is Coulomb's law with Signorini's, CCP its convex relaxation, in which sliding contacts lift off. ",
      "Rigid NCP: limits and contacts with R = 0 and the bias max(gap, 0)/Δt; not known where a step has no gaps or no Δt. Edges of pyramids are limits: of them neither NCP says anything about Coulomb."));
}

function drawSummary() {
  const law = (of) => (answer) => {
    const one = answer[of];
    return [formatCount(one?.within), formatResidual(one?.median), stepButton(one?.max_step, formatResidual(one?.max)), formatResidual(answer.absolute_max_m_s?.[of])];
  };
  const both = (format, one) => (one ? `${format(one.median)} / ${format(one.max)}` : none);
  const lawHeads = [`≤ ${tolerance}`, "median", "max", "max, m/s"];
  const groups = [
    ["", ["steps"], (a) => [formatCount(a.answers)]],
    ["Own law", lawHeads, law("own")],
    ["NCP with R", lawHeads, law("compliant")],
    ["Rigid NCP", lawHeads, law("rigid")],
    ["Says converged", ["steps", "wrongly"], (a) => [formatCount(a.claimed), a.claimed_wrong > 0 ? badgeOf("false_claim", formatCount(a.claimed_wrong)) : "0"]],
    ["Median / max", ["iterations", "time"], (a) => [both(formatCount, a.iterations), both(formatTime, a.seconds)]],
  ];
  document.getElementById("summary").replaceChildren(
    heading("summary-title", "Answers", "engines and solvers on the same steps"),
    answers.length === 0 ? el("p", { class: "note" }, "No answer to judge.") : card(
      scroller(el("table", { class: "fit" },
        el("thead", {}, el("tr", {}, el("th", { colspan: 2 }), answers.map((answer) =>
          el("th", { scope: "col" }, answer.name, el("span", { class: "tag" }, `${answer.of}, ${lawTitle(answer.law)}`))))),
        groups.map(([title, heads, show]) => {
          const cells = answers.map(show);
          return el("tbody", {}, heads.map((head, i) => el("tr", {},
            i === 0 ? el("th", { scope: "rowgroup", class: "left top", rowspan: heads.length }, title) : "",
            el("th", { scope: "row", class: "left" }, head),
            cells.map((column) => el("td", {}, column[i])))));
        }))),
      el("p", { class: "caption" }, `A maximum opens its step. Wrongly: it says converged, and its residual on its own law is over ${tolerance}. Times of engines are their own, warm where they start so; those of solvers are measured here, from a cold start.`)));
}

function drawFilters() {
  return el("div", { class: "filters" },
    select("Answer", answers.map((answer, i) => ({ value: String(i), title: answer.name })), String(view.chosen), (value) => choose({ chosen: Number(value) })),
    segmented("Law", laws.map(({ id, title }) => ({ value: id, title })), view.law, (law) => choose({ law })),
    segmented("Residual", units, view.unit, (unit) => choose({ unit, sort: unit === "scaled" ? "-scaled" : "-absolute" })));
}
function choose(change) {
  Object.assign(view, change);
  drawCharts();
  drawSteps();
}

const numbers = data.steps.map((step) => step.number);
const stepAxis = () => ({ title: "step", range: roomy(numbers, 0.02), ...(numbers.length <= 12 ? { ticks: numbers } : numberTicks) });
const hoverStep = (i, text) => {
  const { number, time } = data.steps[i];
  return `step ${number}${known(time) ? `, ${formatNumber(time)} s` : ""}: ${text}`;
};
// A curve over the steps. What is not known is a gap in it; not at its end, where its name stands.
function curve(label, values, look, text) {
  const end = values.findLastIndex(known) + 1;
  return { x: numbers.slice(0, end), y: values.slice(0, end), label, front: true, marks: numbers.length <= 50, ...look,
    hover: (i) => hoverStep(i, text(values[i])) };
}
// On an axis of powers a zero is drawn below all others.
function logarithmic(series, extra, ticks) {
  const positive = [...series.flatMap((one) => one.y), ...extra].filter((value) => value > 0);
  const floor = positive.length > 0 ? extent(positive)[0] / 3 : 1e-16;
  for (const one of series) one.y = one.y.map((value) => (known(value) ? Math.max(value, floor) : null));
  return { log: true, range: roomyLog([...positive, ...series.flatMap((one) => one.y).filter(known)], 2), ...ticks };
}

function residualSpec(series, title, blanks = []) {
  const scaled = view.unit === "scaled";
  const axis = logarithmic(series, scaled ? [data.tolerance] : [], powerTicks);
  const ends = stepAxis().range;
  const limit = { x: ends, y: [data.tolerance, data.tolerance], label: "tolerance", front: true, colour: "var(--soft)", dash: "7 3" };
  const marks = { x: blanks.map((i) => numbers[i]), y: blanks.map(() => axis.range[1] / 1.5), label: "", lineless: true, marks: true, radius: 4,
    hollow: blanks.map(() => true), colour: "var(--false_claim)", hover: (k) => hoverStep(blanks[k], chosen().at[blanks[k]].error ?? "no residual") };
  return { y: { title: scaled ? "residual, scaled" : "residual, m/s", ...axis }, series: [...series, ...(scaled ? [limit] : []), marks], aria: title };
}

function chartCards() {
  const answer = chosen();
  const residual = (one, law) => one.at.map((found) => found?.[law]?.[view.unit]);
  const text = (value) => (view.unit === "scaled" ? formatResidual(value) : speed(value));
  const blanks = numbers.map((_, i) => i).filter((i) => answer.at[i] && !known(answer.at[i].own?.[view.unit]));
  const all = (read, format) => answers.map((one, s) => curve(one.name, one.at.map((found) => found && read(found)), looks[s], format));
  const gaps = data.steps.map((step) => step.gap_min_m);
  const [perMetre, unit] = lengthUnit(extent(gaps.filter(known).map(Math.abs))[1]);
  const depths = gaps.map((gap) => (known(gap) ? gap * perMetre : null));
  const kept = numbers.map((_, i) => i).filter((i) => answer.at[i]?.modes);
  let below = kept.map(() => 0);
  const modes = ["stick", "slip", "open"].map((mode, m) => {
    const low = below;
    below = kept.map((i, k) => low[k] + answer.at[i].modes[mode]);
    return { x: kept.map((i) => numbers[i]), y: below, band: { low, high: below }, label: mode, front: true, marks: kept.length <= 50,
      colour: `var(--series-${[0, 1, 2][m]})`, hover: (k) => hoverStep(kept[k], modesOf(answer.at[kept[k]])) };
  });
  const iterations = all((found) => found.iterations, formatCount);
  const seconds = all((found) => found.seconds, formatTime);
  return [
    { id: "chart-laws", title: `${answer.name} on each law`, aside: blanks.length > 0 ? "circles: no residual" : "",
      ...residualSpec(lawsOf(answer).map((law) => curve(law.title, residual(answer, law.id), law, text)), `Residuals of ${answer.name} over the steps`, blanks) },
    { id: "chart-answers", title: `All answers on ${view.law === "own" ? "their own law" : lawOf(view.law).title}`,
      ...residualSpec(answers.map((one, s) => curve(one.name, residual(one, view.law), looks[s], text)), "Residuals of all answers over the steps") },
    { id: "chart-modes", title: `Contacts of ${answer.name}`, aside: "stacked",
      y: { title: "contacts", range: [0, 1.06 * Math.max(1, ...below)], ...numberTicks }, series: modes, aria: "Contacts that stick, slip and open over the steps" },
    { id: "chart-gap", title: "Least gap", aside: "drift where it grows; below 0 bodies overlap",
      y: { title: `least gap, ${unit}`, range: roomy([0, ...depths.filter(known)], 0.08), zeroline: true, ...numberTicks },
      series: [{ ...curve("", depths, { colour: "var(--series-6)" }, () => ""), hover: (i) => hoverStep(i, [metres(gaps[i]), bodiesOf(data.steps[i].gap_min_at)].filter(Boolean).join(", ")) }],
      aria: "Least gap over the steps" },
    { id: "chart-iterations", title: "Iterations", y: { title: "iterations", ...logarithmic(iterations, [], numberTicks) }, series: iterations, aria: "Iterations over the steps" },
    { id: "chart-times", title: "Time", y: { title: "time", ...logarithmic(seconds, [], secondTicks) }, series: seconds, aria: "Times over the steps" },
  ];
}

function drawCharts() {
  const section = document.getElementById("charts");
  if (answers.length === 0 || !hasCharts) {
    section.replaceChildren(heading("charts-title", "Over the steps"), answers.length > 0 ? chartBox("no-charts") : el("p", { class: "note" }, "No answer to draw."));
    if (answers.length > 0) drawChart(chartBox("no-charts"), {});
    return;
  }
  const cards = chartCards().map((one) => ({ ...one, empty: !one.series.some(({ label, y }) => label !== "tolerance" && y.some(known)) }));
  section.replaceChildren(
    heading("charts-title", "Over the steps", "a click on a point opens its step"),
    drawFilters(),
    el("div", { class: "charts" }, cards.map((one) => card(
      el("h3", {}, one.title, one.aside ? el("span", { class: "aside" }, one.aside) : ""),
      one.empty ? el("p", { class: "note" }, "Not known.") : chartBox(one.id)))));
  for (const { id, empty, ...spec } of cards) {
    if (empty) continue;
    drawChart(chartBox(id), { x: stepAxis(), labels: true, height: 300, ...spec,
      onPick: (one, point) => { if (one?.hover) openStep(stepNumber(one.x[point])); } });
  }
}

function drawSteps() {
  const section = document.getElementById("steps");
  const answer = chosen();
  if (!answer) return section.replaceChildren(heading("steps-title", "Steps"), el("p", { class: "note" }, "No answer to judge."));
  const most = 30;
  // A residual that is not known is the worst.
  const size = (one, unit) => one.found[view.law]?.[unit] ?? Number.MAX_VALUE;
  const columns = [
    { id: "step", title: "Step", value: (one) => one.step.number, show: (one) => stepButton(one.step.number) },
    { id: "time", title: "Time", priority: 3, value: (one) => one.step.time, show: (one) => (known(one.step.time) ? `${formatNumber(one.step.time)} s` : none) },
    { id: "contacts", title: "Contacts", priority: 3, descending: true, value: (one) => one.step.contacts, show: (one) => formatCount(one.step.contacts) },
    { id: "unit", title: "V, m/s", priority: 3, hint: "the largest free velocity", descending: true, value: (one) => one.step.unit_m_s, show: (one) => formatNumber(one.step.unit_m_s) },
    { id: "scaled", title: "Scaled", hint: "residual over V", descending: true, value: (one) => size(one, "scaled"), show: (one) => formatResidual(one.found[view.law]?.scaled) },
    { id: "absolute", title: "m/s", hint: "residual", descending: true, value: (one) => size(one, "absolute_m_s"), show: (one) => formatResidual(one.found[view.law]?.absolute_m_s) },
    { id: "block", title: "Worst block", left: true, value: (one) => blockOf(one.found[view.law]?.worst), show: (one) => blockOf(one.found[view.law]?.worst) },
    { id: "bodies", title: "Bodies", left: true, priority: 2, value: (one) => bodiesOf(one.found[view.law]?.worst), show: (one) => bodiesOf(one.found[view.law]?.worst) || none },
    { id: "verdict", title: "On its own law", left: true, value: (one) => verdictOf(one.found).textContent, show: (one) => verdictOf(one.found) },
    { id: "claim", title: "It says", left: true, priority: 2, value: (one) => claimOf(one.found), show: (one) => claimOf(one.found) },
    { id: "iterations", title: "Iterations", priority: 4, descending: true, value: (one) => one.found.iterations, show: (one) => formatCount(one.found.iterations) },
    { id: "seconds", title: "Time taken", priority: 4, descending: true, value: (one) => one.found.seconds, show: (one) => formatTime(one.found.seconds) },
  ];
  const rows = data.steps.map((step, i) => ({ step, found: answer.at[i] })).filter(({ found }) => found);
  const column = columns.find((one) => one.id === view.sort.replace(/^-/, ""));
  rows.sort(comparing(column.value, view.sort.startsWith("-")));
  section.replaceChildren(
    heading("steps-title", ["-scaled", "-absolute"].includes(view.sort) ? "Worst steps" : "Steps", `${answer.name}, ${lawOf(view.law).title}`),
    hasCharts ? "" : drawFilters(),
    card(
      scroller(sortable(columns, view.all ? rows : rows.slice(0, most), view.sort, (sort) => { view.sort = sort; drawSteps(); }, { id: "step-table" },
        ({ step }) => ({ class: "row", onclick: () => openStep(stepNumber(step.number)) })), { class: "scroll tall" }),
      rows.length > most ? el("div", { class: "pager" }, el("button", { type: "button", onclick: () => { view.all = !view.all; drawSteps(); } },
        view.all ? `The first ${most}` : `All ${formatCount(rows.length)} steps`)) : ""));
}

// A step with all its answers, in a panel at the side.
const dialog = document.getElementById("details");
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

function answerDetails(answer) {
  const residual = (law) => {
    const one = answer[law.id];
    return [formatResidual(one?.scaled), formatResidual(one?.absolute_m_s), blockOf(one?.worst), bodiesOf(one?.worst) || none];
  };
  const words = [claimOf(answer), known(answer.iterations) ? plural(answer.iterations, "iteration") : "", known(answer.seconds) ? formatTime(answer.seconds) : "", modesOf(answer)];
  const left = (i) => (i > 2 || i === 0 ? "left" : null);
  return [
    el("h3", {}, verdictOf(answer), ` ${answer.name}`, el("span", { class: "aside" }, `${answer.of}, ${lawTitle(answer.law)}`)),
    answer.error ? el("p", { class: "note warning" }, answer.error) : [
      el("div", {}, `says ${words.filter(Boolean).join(" · ")}`),
      el("table", {},
        el("thead", {}, el("tr", {}, ["", "scaled", "m/s", "worst block", "bodies"].map((text, i) => el("th", { scope: "col", class: left(i) }, text)))),
        el("tbody", {}, lawsOf(answer).map((law) => el("tr", {}, el("th", { scope: "row", class: "left" }, law.title), residual(law).map((cell, i) => el("td", { class: left(i + 1) }, cell))))))],
  ];
}

function openStep(index) {
  const step = data.steps[index];
  if (!step) return;
  view.open = index;
  history.replaceState(null, "", `#step-${step.number}`);
  const other = (by, text, label) =>
    el("button", { type: "button", "aria-label": label, disabled: !data.steps[index + by], onclick: () => openStep(index + by) }, text);
  const at = step.gap_min_at;
  dialog.replaceChildren(
    el("header", {}, el("h2", { id: "details-title" }, `Step ${step.number}`),
      el("div", {}, other(-1, "‹", "Step before"), " ", other(1, "›", "Step after"),
        el("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×"))),
    el("div", { class: "panel", tabindex: -1, autofocus: true },
      facts([
        ["time", known(step.time) ? `${formatNumber(step.time)} s` : ""],
        ["time step", formatTime(step.time_step).replace(none, "")],
        ["contacts", formatCount(step.contacts)],
        ["rows", formatCount(step.rows)],
        ["V = max |g_i|, at least its median", known(step.unit_m_s) ? `${formatNumber(step.unit_m_s)} m/s` : ""],
        ["least gap", known(step.gap_min_m) ? metres(step.gap_min_m) : ""],
        ["least gap at", at ? [at.name, bodiesOf(at)].filter(Boolean).join(", ") : ""],
      ]),
      step.answers.length === 0 ? el("p", { class: "note" }, "No answer in this step.") : step.answers.map(answerDetails).flat(2),
      el("h3", {}, "Judge it again"), command(`conebench judge ${quoted(step.step)} --answers`)));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}
dialog.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by) openStep(view.open + by);
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
dialog.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
const openAddressed = () => openStep(stepNumber(Number(/^#step-(\d+)$/.exec(location.hash)?.[1])));

startCharts();
document.getElementById("controls").replaceChildren(themeButton());
drawHeadline();
drawSummary();
drawCharts();
drawSteps();
openAddressed();
window.addEventListener("hashchange", openAddressed);
document.getElementById("footer").replaceChildren(el("span", {}, "Residuals: docs/metrics.md of Conebench. Every answer judged by the harness on the problem of its step."));
document.documentElement.dataset.ready = Math.round(performance.now());
window.conebench = { data, view, drawWaiting };
