// The report's data, as the page uses it, and the state that a reader changes.

const data = JSON.parse(document.getElementById("data").textContent);

const cells = data.cells.rows.map((row, index) => {
  const cell = { index };
  data.cells.names.forEach((name, i) => {
    cell[name] = row[i];
  });
  return cell;
});

// grids[slice][problem][solver] → cell or undefined
const grids = data.slices.map(() => data.problems.map(() => []));
for (const cell of cells) grids[cell.slice][cell.problem][cell.solver] = cell;

const shortStatus = Object.fromEntries(data.status_text.map((one) => [one.status, one.brief]));
const statusText = Object.fromEntries(data.status_text.map((one) => [one.status, one.text]));
const costTitles = Object.fromEntries(data.costs.map((cost) => [cost.id, cost.title]));

const defaults = {
  slice: data.slices.length > 1 ? Math.floor((data.slices.length - 1) / 2) : 0,
  family: "",
  cost: data.costs[0].id,
  chosen: "", // solvers in colour, by their configurations' hashes, "1f2e3d4c.a0b1c2d3"; "none"; empty: the best few
  alone: "", // the profile is among these alone
  sequence: "", // name of a sequence
  panels: "", // "family", "category": a small profile for each
  heat: "cost",
  order: "family",
  search: "",
  solver: "",
  outcome: "",
  status: "",
  every: "", // filters of the table of cells
  sort: "problem",
  page: 0,
  rank: "", // column that sorts the ranking
  all: "", // the ranking shows every row
  budget: "", // cost of the budgets and of the traces; empty: the first that there is
  only: "", // words, of which a solver shown has one in its name
  own: "", // "left out": the ranking is without the methods of Conebench's authors
  at: "", // section that the address leads to
  open: "", // "cell.17", "problem.3", "solver.2"
};
const state = { ...defaults };

// Heads of hashes that tell these apart. An address names solvers, problems, cells and tolerances by what they are, not by
// their indices, so that it leads to the same in the next report.
function shortened(list) {
  const hashes = list.map((hash) => hash.replace(/[^\w-]/g, "-"));
  let length = 8;
  const most = Math.max(0, ...hashes.map((hash) => hash.length));
  while (length < most && new Set(hashes.map((hash) => hash.slice(0, length))).size < new Set(hashes).size) length += 1;
  return hashes.map((hash) => hash.slice(0, length));
}
const solverNames = shortened(data.solvers.map((solver) => solver.hash));
const names = {
  solver: solverNames,
  problem: shortened(data.problems.map((problem) => problem.hash)),
  cell: shortened(cells.map((cell) => cell.key)),
};
const positions = Object.fromEntries(
  Object.entries(names).map(([kind, list]) => [kind, new Map(list.map((name, i) => [name, i]))]),
);
const permanent = {
  slice: {
    write: (slice) => data.slices[slice].label,
    read: (text) => data.slices.findIndex((slice) => slice.label === text),
  },
  solver: { write: (s) => solverNames[s] ?? "", read: (name) => String(positions.solver.get(name) ?? "") },
  open: {
    write: (open) => open.replace(/^(\w+)\.(\d+)$/, (_, kind, position) => `${kind}.${names[kind][position]}`),
    read: (text) => {
      const [, kind, name] = /^(solver|problem|cell)\.(.*)$/.exec(text) ?? [];
      const position = kind && positions[kind].get(name);
      return position === undefined ? "" : `${kind}.${position}`;
    },
  },
};

function readHash() {
  const fresh = { ...defaults };
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (!(key in defaults)) continue;
    fresh[key] = permanent[key]
      ? permanent[key].read(value)
      : typeof defaults[key] === "number"
        ? Number(value)
        : value;
  }
  const whole = (value, end) => Number.isInteger(value) && value >= 0 && value < end;
  if (!whole(fresh.slice, data.slices.length)) fresh.slice = defaults.slice;
  if (!whole(fresh.page, Infinity)) fresh.page = 0;
  if (fresh.family && !data.families.includes(fresh.family)) fresh.family = "";
  if (!(fresh.cost in costTitles)) fresh.cost = defaults.cost;
  return fresh;
}

function hashOf(values) {
  const words = new URLSearchParams();
  for (const key of Object.keys(defaults)) {
    if (values[key] !== defaults[key]) words.set(key, permanent[key] ? permanent[key].write(values[key]) : values[key]);
  }
  return words.toString();
}

// Sections register what they draw and which parts of the state it depends on.
const views = [];
function view(keys, draw) {
  views.push({ keys, draw });
}

function redraw(changed) {
  for (const { keys, draw } of views) {
    if (changed.has("own") || changed.has("only") || keys.some((key) => changed.has(key))) draw();
  }
}

// `push`: a step that the browser's back button undoes.
function update(patch, push = false) {
  const changed = new Set(Object.keys(patch).filter((key) => state[key] !== patch[key]));
  if (changed.size === 0) return;
  Object.assign(state, patch);
  const url = "#" + hashOf(state);
  history[push ? "pushState" : "replaceState"](null, "", url);
  redraw(changed);
}

window.addEventListener("popstate", () => {
  // A link to a section has no state in it; leave the state alone then.
  if (document.getElementById(location.hash.slice(1))) return;
  const fresh = readHash();
  const changed = new Set(Object.keys(fresh).filter((key) => fresh[key] !== state[key]));
  Object.assign(state, fresh);
  redraw(changed);
});

const isOpen = (problem, slice) => grids[slice][problem].some((cell) => cell !== undefined);

// Headline problems of a scope with their weights: families weigh the same, and so do problems of one family.
// keep(problem): whether it belongs to a part of the scope.
function scopeOf(slice, family, keep = () => true) {
  const problems = [];
  const size = new Map();
  data.problems.forEach((problem, p) => {
    if (!problem.counted[slice] || (family && problem.family !== family) || !isOpen(p, slice) || !keep(problem)) return;
    problems.push(p);
    size.set(problem.family, (size.get(problem.family) || 0) + 1);
  });
  const weights = problems.map((p) => 1 / (size.size * size.get(data.problems[p].family)));
  return { problems, weights };
}

// As measured: it may be zero.
function spent(cell, cost) {
  if (cost === "condensed_time") return cell.total_median_s === null ? null : cell.total_median_s + (cell.condensation_s ?? 0);
  return cell[{ time: "total_median_s", solve_time: "solve_median_s" }[cost] ?? cost];
}

// As the harness counts it: solved cells only, and a count of zero counts as one, so that ratios exist.
function costOf(cell, cost) {
  if (!cell || cell.outcome !== "solved" || spent(cell, cost) === null) return null;
  return Math.max(spent(cell, cost), cost.includes("time") ? 1e-9 : 1);
}

function bestCost(slice, problem, cost, solvers) {
  let best = null;
  for (const s of solvers) {
    const value = costOf(grids[slice][problem][s], cost);
    if (value !== null && (best === null || value < best)) best = value;
  }
  return best;
}

function stepCurve(solver, points) {
  points.sort((a, b) => a[0] - b[0]);
  const curve = { solver, x: [], y: [] };
  let sum = 0;
  for (const [position, weight] of points) {
    sum += weight;
    if (curve.x.length > 0 && curve.x[curve.x.length - 1] === position) {
      curve.y[curve.y.length - 1] = sum;
    } else {
      curve.x.push(position);
      curve.y.push(sum);
    }
  }
  return curve;
}

const isOwn = (solver) => data.solvers[solver].origin === "own";
// Whether the switch and the filter of solvers leave it in.
const isIn = (solver) => {
  if (state.own !== "" && isOwn(solver)) return false;
  const words = state.only.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const label = data.solvers[solver].label.toLowerCase();
  return words.length === 0 || words.some((word) => label.includes(word));
};

// Weights of some problems, of which families have equal ones.
function equalFamilies(problems) {
  const size = new Map();
  for (const p of problems) size.set(data.problems[p].family, (size.get(data.problems[p].family) || 0) + 1);
  return problems.map((p) => 1 / (size.size * size.get(data.problems[p].family)));
}

// exp(sum of w log(x + shift)) - shift; null of nothing.
function shiftedMean(values, weights, shift) {
  if (values.length === 0) return null;
  return Math.exp(values.reduce((sum, x, i) => sum + weights[i] * Math.log(x + shift), 0)) - shift;
}

// A ranking among its rows that keep(solver) leaves: what depends on the others is counted anew.
function rankingAmong(ranking, keep) {
  const { slice, cost } = ranking;
  const rows = ranking.rows.filter((row) => keep(row.solver));
  const { problems, weights } = scopeOf(slice, ranking.family);
  const solvers = rows.map((row) => row.solver);
  const costs = (p) => solvers.map((s) => costOf(grids[slice][p][s], cost));
  const best = new Map(problems.map((p) => [p, bestCost(slice, p, cost, solvers)]));
  const half = solvers.filter((s, i) => 2 * rows[i].solved >= problems.length);
  const common =
    half.length > 0 ? problems.filter((p) => half.every((s) => costOf(grids[slice][p][s], cost) !== null)) : [];
  const commonWeights = equalFamilies(common);
  const limitOf = (p) => Math.max(...grids[slice][p].filter(Boolean).map((cell) => cell.limit_s));
  const timed = data.times_shown;
  const counting = new Set(countingAmong(slice, cost, solvers));
  return {
    ...ranking,
    common_problems: timed ? common.length : ranking.common_problems,
    common_solvers: half.length,
    solved_by_any: problems.filter((p) =>
      grids[slice][p].some((cell) => cell && keep(cell.solver) && cell.outcome === "solved"),
    ).length,
    best_of_all_s: timed
      ? shiftedMean(
          problems.map((p) => best.get(p) ?? limitOf(p)),
          weights,
          data.shift_s,
        )
      : null,
    rows: rows.map((row, i) => {
      const of = (p) => costs(p)[i];
      const solved = problems.filter((p) => of(p) !== null);
      const ratios = solved.map((p) => of(p) / best.get(p));
      const inCommon = common.length > 0 && common.every((p) => of(p) !== null);
      return {
        ...row,
        times_best: timed ? shiftedMean(ratios, equalFamilies(solved), 0) : row.times_best,
        time_common_s:
          timed && inCommon
            ? shiftedMean(
                common.map((p) => of(p)),
                commonWeights,
                data.shift_s,
              )
            : null,
        rho_1: counting.has(row.solver)
          ? problems.reduce((sum, p, k) => sum + (of(p) !== null && of(p) <= best.get(p) ? weights[k] : 0), 0)
          : null,
      };
    }),
  };
}

const amongSome = { key: "", of: new Map() }; // made when they are first wanted
function rankings() {
  if (state.own === "" && state.only === "") return data.rankings;
  const key = JSON.stringify([state.own, state.only]);
  if (amongSome.key !== key) Object.assign(amongSome, { key, of: new Map() });
  return data.rankings.map((ranking) => {
    if (!amongSome.of.has(ranking)) amongSome.of.set(ranking, rankingAmong(ranking, isIn));
    return amongSome.of.get(ranking);
  });
}

// Ranked solvers whose solved cells all have the cost: a counter that a library does not keep would read as unsolved.
function countingSolvers(slice, cost) {
  const ranking = rankings().find((one) => one.slice === slice);
  const solvers = ranking ? ranking.rows.map((row) => row.solver).sort((a, b) => a - b) : [];
  return countingAmong(slice, cost, solvers);
}

function countingAmong(slice, cost, solvers) {
  if (cost.includes("time")) return solvers;
  return solvers.filter((s) =>
    grids[slice].every((row) => !row[s] || row[s].outcome !== "solved" || known(spent(row[s], cost))),
  );
}

// Profiles among `solvers` alone: leaving one out changes the best of each problem.
function computeProfile(slice, { problems, weights }, cost, solvers) {
  const best = problems.map((p) => bestCost(slice, p, cost, solvers));
  const curves = (position) =>
    solvers.map((s) =>
      stepCurve(
        s,
        problems.flatMap((p, i) => {
          const value = costOf(grids[slice][p][s], cost);
          return value === null ? [] : [[position(value, i), weights[i]]];
        }),
      ),
    );
  return {
    problems: problems.length,
    performance: curves((value, i) => value / best[i]),
    data: curves((value) => value),
  };
}

// On how many problems each of two is better: {first, second, ties}.
function duel(slice, { problems }, cost, a, b) {
  const counts = { first: 0, second: 0, ties: 0 };
  for (const p of problems) {
    const [x, y] = [a, b].map((s) => costOf(grids[slice][p][s], cost) ?? Infinity);
    if (x === y) counts.ties += Number.isFinite(x);
    else counts[x < y ? "first" : "second"] += 1;
  }
  return counts;
}

// In the order of the ranking: the best few that count this cost, or those that the reader chose.
const bestFew = 5;
function colouredSolvers() {
  const counting = new Set(countingSolvers(state.slice, state.cost));
  const ranked = (currentRanking()?.rows ?? []).map((row) => row.solver).filter((s) => counting.has(s));
  if (state.chosen === "") return ranked.slice(0, bestFew);
  const names = new Set(state.chosen.split("."));
  return ranked.filter((s) => names.has(solverNames[s]));
}

function currentRanking() {
  return rankings().find((ranking) => ranking.slice === state.slice && ranking.family === state.family);
}

// The same by the other time, where what is not given had to be made.
function otherRankings() {
  const first = currentRanking();
  return rankings().filter(
    (ranking) => ranking !== first && ranking.slice === state.slice && ranking.family === state.family,
  );
}

// Value of a step curve at `position`.
function valueAt(curve, position) {
  let value = 0;
  for (let i = 0; i < curve.x.length && curve.x[i] <= position; ++i) value = curve.y[i];
  return value;
}

function commandOf(cell) {
  const { arguments: problem, whole_command } = data.problems[cell.problem];
  if (whole_command) return problem;
  const { arguments: solver } = data.solvers[cell.solver];
  return problem && solver ? [problem, solver, data.commands[cell.command]].join(" ") : "";
}
