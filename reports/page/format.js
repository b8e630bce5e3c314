// Numbers and texts as people read them; the same rules as in the other formats of the report.

const none = "–";
// Texts in order, numbers in them by size.
const byName = new Intl.Collator("en", { numeric: true }).compare;
const distinct = (values) => [...new Set(values)];
const known = (value) => value !== null && value !== undefined;

function formatNumber(value) {
  if (!known(value)) return none;
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-3 || size >= 1e7) return formatExponent(value, 2);
  if (size >= 999.5) return Math.round(value).toString();
  const decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2 + (size < 0.9995) + (size < 0.09995) + (size < 0.009995);
  return value.toFixed(decimals);
}

function formatExponent(value, decimals) {
  return value.toExponential(decimals).replace("e+", "e");
}

function formatTime(seconds) {
  if (!known(seconds)) return none;
  if (seconds === 0) return "0";
  if (seconds < 0.9995e-6) return formatNumber(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return formatNumber(seconds * 1e6) + " µs";
  if (seconds < 0.9995) return formatNumber(seconds * 1e3) + " ms";
  return formatNumber(seconds) + " s";
}

function formatCount(value) {
  return known(value) ? value.toLocaleString("en") : none;
}

// Never rounds up to 100 nor down to 0.
function formatShare(share) {
  if (!known(share)) return none;
  const percent = 100 * share;
  if (percent <= 0) return "0 %";
  if (percent >= 100 - 1e-9) return "100 %";
  return Math.min(Math.max(percent, 0.1), 99.9).toFixed(1) + " %";
}

function formatResidual(value) {
  if (value === "inf") return "∞";
  return known(value) ? (value === 0 ? "0" : formatExponent(value, 1)) : none;
}

function formatCost(value, cost) {
  if (!known(value)) return none;
  return cost === "time" || cost === "solve_time" || cost === "condensed_time" ? formatTime(value) : formatCount(value);
}

function plural(count, noun) {
  const many = noun.endsWith("y") ? noun.slice(0, -1) + "ies" : noun + "s";
  return `${formatCount(count)} ${count === 1 ? noun : many}`;
}

// Plotly reads a few tags in texts; names are shown as they are.
function plain(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

const outcomes = [
  { id: "solved", title: "solved", hint: "the judge accepts the answer" },
  { id: "false_claim", title: "false claim", hint: "the solver says converged, the judge does not accept" },
  { id: "failed", title: "failed", hint: "neither claimed nor accepted" },
  { id: "unsupported", title: "unsupported", hint: "the solver can't run on the problem" },
  { id: "not_run", title: "not run", hint: "no result yet" },
];
const originText = {
  own: "by Conebench's authors",
  paper: "a paper's method, in Conebench's code",
  peer: "another project's code",
  foreign: "a plug-in or program",
  submitted: "answers sent in; its code was not run",
};
const outcomeTitle = Object.fromEntries(outcomes.map((one) => [one.id, one.title]));
const statusTitle = (status) => status.replace(/_/g, " ");
// What stands in the place of families (--by) is named by data.group.
const familyTitle = (family) => family || `(no ${data.group.one})`;
const countFamilies = (count) => `${formatCount(count)} ${count === 1 ? data.group.one : data.group.many}`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
