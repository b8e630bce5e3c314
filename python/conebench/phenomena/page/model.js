// The data of the page, and its state, which the address keeps.

const data = JSON.parse(document.getElementById("data").textContent);
const cells = data.cells.map((line) => Object.fromEntries(data.fields.map((name, i) => [name, line[i]])));
const grades = { right: 0, near: 1, off: 2, far: 3, lost: 4, failed: 5, cannot: 6, missing: 7 };
const outcomeWords = {
  cannot: "cannot",
  missing: "missing",
  "not finite": "NaN",
  failed: "error",
  crashed: "crashed",
  "time limit": "time limit",
};

// table[row][phenomenon]: its cells, one a case.
const table = data.rows.map(() => data.phenomena.map(() => []));
for (const cell of cells) table[cell.row][cell.phenomenon].push(cell);

const worst = (list) => list.reduce((most, cell) => (!most || cell.rank > most.rank ? cell : most), null);
const tried = (cell) => cell.grade < grades.cannot;

const defaults = {
  show: "values",
  variants: "main",
  step: String(data.timeSteps[0] ?? ""),
  groups: [],
  engines: [],
  sort: "",
  wide: [],
  open: "",
};
const state = {};

// What a hand-written address may hold that this page does not know falls back to the default.
function readHash() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(defaults)) {
    state[name] = !given.has(name)
      ? value
      : Array.isArray(value)
        ? given.get(name).split("|").filter(Boolean)
        : given.get(name);
  }
  const one = (name, allowed) => {
    if (!allowed.includes(state[name])) state[name] = defaults[name];
  };
  const some = (name, allowed) => {
    state[name] = state[name].filter((value) => allowed.includes(value));
  };
  one("show", ["values", "errors"]);
  one("variants", ["main", "all"]);
  one("step", ["all", ...data.timeSteps.map(String)]);
  one(
    "open",
    cells.map((cell) => cell.file),
  );
  some("groups", data.groups);
  some(
    "engines",
    data.engines.map((engine) => engine.id),
  );
  some(
    "wide",
    data.phenomena.map((phenomenon) => phenomenon.id),
  );
}

function writeHash(step) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(defaults)) {
    const now = Array.isArray(value) ? state[name].join("|") : state[name];
    if (now !== (Array.isArray(value) ? "" : value)) parts.set(name, now);
  }
  const address = String(parts) ? `#${parts}` : location.pathname + location.search;
  if (step) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

const shownRows = () =>
  data.rows
    .map((row, number) => ({ ...row, number }))
    .filter(
      (row) =>
        (state.variants === "all" || row.main) &&
        (state.step === "all" || String(row.step) === state.step) &&
        (state.engines.length === 0 || state.engines.includes(row.engine)),
    );

const shownPhenomena = () =>
  data.phenomena
    .map((phenomenon, number) => ({ ...phenomenon, number }))
    .filter((phenomenon) => state.groups.length === 0 || state.groups.includes(phenomenon.group));

// Cells of a row that the chosen groups hold.
const cellsOf = (row, phenomena) => phenomena.flatMap((phenomenon) => table[row.number][phenomenon.number]);

function counts(list) {
  const of = (low, high) => list.filter((cell) => cell.grade >= low && cell.grade <= high).length;
  return {
    right: of(0, 0),
    wrong: [1, 2, 3, 4].map((grade) => of(grade, grade)),
    failed: of(5, 5),
    cannot: of(6, 7),
    tried: of(0, 5),
  };
}

// The exact value of cells where they have one.
function exactOf(list) {
  const found = list.map((cell) => cell.exact).filter(known);
  return found.length > 0 &&
    found.every((value) => Math.abs(value - found[0]) <= 1e-6 * Math.max(Math.abs(value), Math.abs(found[0])))
    ? found[0]
    : null;
}

const relative = (cell) => (cell.scale ? cell.error / cell.scale : cell.error ? Infinity : 0);

// A cell's verdict in words.
function gradeText(cell) {
  if (cell.grade === grades.right) return "right";
  if (cell.grade === grades.cannot) return cell.element ? `cannot: no ${cell.element}` : "cannot";
  if (cell.grade >= grades.failed) return cell.outcome;
  return known(cell.error)
    ? `wrong by ${withUnit(cell.error, data.phenomena[cell.phenomenon].unit)}`
    : "wrong: no value";
}

function sentence(cell) {
  const { title, unit } = data.phenomena[cell.phenomenon];
  const name = data.phenomena[cell.phenomenon].cases[cell.case].name;
  const value =
    cell.outcome === "measured"
      ? `${withUnit(cell.value, unit)}, exact ${cell.upper_bound ? "at most " : ""}${withUnit(cell.exact, unit)}; `
      : "";
  return `${rowText(data.rows[cell.row])}, ${title} (${name}): ${value}${gradeText(cell)}`;
}

const manySteps = data.timeSteps.length > 1;
const rowText = (row) => `${row.engine} ${row.variant}${manySteps ? `, ${milliseconds(row.step)}` : ""}`;
