// Ranking, claims against verdicts, and statuses.

// Solved, falsely claimed, failed, unsupported, not run: as parts of one bar.
function outcomeBar(row) {
  const total = outcomes.reduce((sum, one) => sum + row[one.id], 0);
  const parts = outcomes.filter((one) => row[one.id] > 0);
  const label = parts.map((one) => `${one.title}: ${row[one.id]}`).join(", ");
  return el(
    "div",
    { class: "stack", role: "img", "aria-label": label, title: label },
    parts.map((one) => el("span", { class: one.id, style: { "flex-grow": row[one.id] / total } })),
  );
}

function shareCell(value) {
  return el("span", { class: "share" }, formatShare(value));
}

// Numbers of a column with the best one marked.
function marking(rows, value, lower) {
  const values = rows.map(value).filter(known);
  const best = values.length > 0 ? (lower ? Math.min(...values) : Math.max(...values)) : null;
  const candidates = new Set(rows.map((row) => row.solver));
  return (row) => candidates.has(row.solver) && known(value(row)) && value(row) === best;
}

// Columns by priority: 1 is always there, 4 on wide screens alone. What would repeat another column is left out: ρ(∞) is the
// solved share, and so is that of supported problems where every solver supports all.
function rankingColumns(ranking) {
  const rows = ranking.rows;
  const half = rows.filter((row) => 2 * row.solved >= ranking.problems);
  const best = (value, lower, show, candidates = rows) => {
    const marked = marking(candidates, value, lower);
    return { value, show: (row) => el(marked(row) ? "b" : "span", {}, show(value(row))) };
  };
  const costTitle = costTitles[ranking.cost];
  const share = best((row) => row.solved_share, false, shareCell);
  const columns = [
    {
      id: "rank",
      priority: 1,
      title: "#",
      hint: "solved share, then time at limit",
      value: (row) => row.rank,
      show: (row) => row.rank,
    },
    {
      id: "label",
      priority: 1,
      title: "Solver",
      left: true,
      value: (row) => data.solvers[row.solver].label,
      show: (row) =>
        el(
          "span",
          { class: "solver-cell" },
          solverLink(row.solver),
          doubtMark(row),
          el("span", { class: "tag" }, data.solvers[row.solver].formulation),
          origin(row.solver),
        ),
    },
    { id: "bar", priority: 3, title: "Outcomes", left: true, show: outcomeBar },
    {
      id: "share",
      priority: 1,
      title: "Solved share",
      descending: true,
      hint: `Share of all problems that count, ${data.group.many} weighing the same`,
      value: share.value,
      show: share.show,
    },
    {
      id: "solved",
      priority: 3,
      title: "problems",
      descending: true,
      hint: "Problems that it solves, each counted once",
      value: (row) => row.solved,
      show: (row) => el("span", { class: "of" }, `${row.solved}/${ranking.problems}`),
    },
  ];
  if (rows.some((row) => row.unsupported + row.not_run > 0)) {
    columns.push({
      id: "supported",
      priority: 4,
      title: "of supported",
      descending: true,
      hint: "Share of the problems that the solver supports and has run",
      ...best((row) => row.supported_share, false, formatShare),
    });
  }
  if (data.times_shown) {
    columns.push(
      {
        id: "limit",
        priority: 1,
        title: "Time, at limit",
        ...best((row) => row.time_at_limit_s, true, formatTime),
        hint: `Geometric mean of ${costTitle}; unsolved problems count with the time limit`,
      },
      {
        id: "cold",
        priority: 3,
        title: "cold",
        ...best((row) => row.time_cold_s, true, formatTime),
        hint: "The same of first runs, beside the repeated ones that are ranked",
      },
      {
        id: "penalised",
        priority: 4,
        title: "penalised",
        ...best((row) => row.time_penalised_s, true, formatTime),
        hint: `The same; unsolved problems count with ${data.penalty_factor} times the limit`,
      },
      {
        id: "common",
        priority: 3,
        title: "common",
        ...best((row) => row.time_common_s, true, formatTime),
        hint: "The same over the common subset only",
      },
      {
        id: "ratio",
        priority: 2,
        title: "× best",
        ...best((row) => row.times_best, true, formatNumber, half),
        hint: "Geometric mean of time over the best solver's time, over the problems that the solver solves",
      },
    );
  }
  columns.push(
    {
      id: "rho1",
      priority: 2,
      title: "ρ(1)",
      descending: true,
      ...best((row) => row.rho_1, false, formatShare),
      hint: `Share of problems on which the solver is the best: ${costTitle}`,
    },
    {
      id: "iterations",
      priority: data.times_shown ? 3 : 1,
      title: "Iterations",
      hint: "Median over solved problems",
      value: (row) => row.median_iterations,
      show: (row) => formatNumber(row.median_iterations),
    },
    {
      id: "factorizations",
      priority: 4,
      title: "Factoriz.",
      hint: "Mean over solved problems",
      value: (row) => row.mean_factorizations,
      show: (row) => formatNumber(row.mean_factorizations),
    },
  );
  return columns;
}

// Of a row whose times are doubtful; which and how many the ranking's notes say, too.
function doubtMark(row) {
  const doubts = Object.entries(row.doubts);
  const title = doubts.map(([code, cells]) => `${plural(cells, "cell")}: ${data.time_doubts[code] ?? code}`).join("\n");
  return doubts.length > 0 ? el("span", { class: "doubt", title }, "?") : "";
}

// Whose a solver is, where it is ours or another project's.
function origin(solver) {
  if (isOwn(solver)) return el("small", { class: "own" }, originText.own);
  const { peer_version, peer_released, peer_build } = data.solvers[solver];
  const version = [peer_version, peer_released && `of ${peer_released}`].filter(Boolean).join(" ");
  return version || peer_build ? el("small", { class: "peer", title: peer_build }, version || peer_build) : "";
}

// The switch of a ranking without our own methods; nothing where there is no choice.
function ownSwitch() {
  const ranked = data.rankings.flatMap((ranking) => ranking.rows.map((row) => row.solver));
  if (!ranked.some(isOwn) || ranked.every(isOwn)) return "";
  const box = el("input", {
    type: "checkbox",
    id: "without-own",
    onchange: (event) => update({ own: event.target.checked ? "left out" : "" }),
  });
  box.checked = state.own !== "";
  return el("label", { class: "switch" }, box, "without methods of Conebench's authors");
}

function rankingNotes(ranking) {
  const texts = [
    `${plural(ranking.problems, "problem")} in ${countFamilies(ranking.families)} of equal weight; ` +
      `${data.slices[ranking.slice].stop_by_text}.`,
  ];
  if (data.times_shown) {
    texts.push(
      `Times: set-up + solve, geometric mean shifted by ${formatTime(data.shift_s)}. Common subset: the ` +
        `${plural(ranking.common_problems, "problem")} that all ` +
        `${plural(ranking.common_solvers, "solver")} which solve at ` +
        "least half solve; others show – there.",
    );
  }
  if (known(ranking.best_of_all_s)) {
    texts.push(
      `Best solver of each problem: ${formatTime(ranking.best_of_all_s)} at limit, ${ranking.solved_by_any} of ` +
        `${ranking.problems} solved.`,
    );
  }
  if (ranking.doubt_text) texts.push(`? ${ranking.doubt_text}.`);
  return el("p", { class: "caption" }, texts.concat(ranking.remarks).join(" "));
}

function legend() {
  return el(
    "div",
    { class: "legend p3" },
    outcomes.map((one) => el("span", { title: one.hint }, el("i", { class: one.id }), one.title)),
  );
}

const toCells = (solver, filter) => ({ ...clearedFilters, solver: String(solver), ...filter });

function countButton(count, patch, kind = "") {
  if (count === 0) return el("span", { class: "zero" }, "·");
  return el(
    "button",
    { type: "button", class: `count ${kind}`, title: "Show these cells", onclick: () => showCells(patch) },
    formatCount(count),
  );
}

// Headline cells of the scope.
function scopeCells() {
  return scopeOf(state.slice, state.family).problems.flatMap((p) =>
    grids[state.slice][p].filter((cell) => cell !== undefined),
  );
}

const claimColumns = [
  { title: "claims, solved", key: "claimed_solved", filter: { outcome: "solved" } },
  { title: "claims, not solved", key: "claimed_unsolved", filter: { outcome: "false_claim" }, kind: "alert" },
  { title: "silent, solved", key: "silent_solved", filter: { outcome: "solved" } },
  { title: "silent, not solved", key: "silent_unsolved", filter: { outcome: "failed" } },
];

function claimTable(ranking) {
  const all = scopeCells();
  const statuses = distinct(all.map((cell) => cell.status)).sort(
    (a, b) => (b === "converged") - (a === "converged") || a.localeCompare(b),
  );
  const group = (title, span) => el("th", { scope: "colgroup", colspan: span, class: "group" }, title);
  const head = [
    el(
      "tr",
      {},
      el("td", { "aria-hidden": "true" }),
      group("Claim against verdict", claimColumns.length),
      group("Residuals", 1),
      group("Status of the solve or cell", statuses.length),
    ),
    el(
      "tr",
      {},
      el("th", { scope: "col", class: "left" }, "Solver"),
      claimColumns.map((one) => el("th", { scope: "col", class: "narrow" }, one.title)),
      el(
        "th",
        {
          scope: "col",
          class: "narrow",
          title: "natural_map_relative at most the tolerance, natural_map_scaled above it",
        },
        "passes relative, fails scaled",
      ),
      statuses.map((name) => el("th", { scope: "col", class: "narrow", title: statusText[name] }, statusTitle(name))),
    ),
  ];
  const body = ranking.rows.map((row) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", class: "left" }, solverLink(row.solver)),
      claimColumns.map((one) => el("td", {}, countButton(row[one.key], toCells(row.solver, one.filter), one.kind))),
      el("td", {}, row.passes_relative_only || el("span", { class: "zero" }, "·")),
      statuses.map((status) => {
        const own = all.filter((cell) => cell.solver === row.solver && cell.status === status);
        const node = countButton(own.length, toCells(row.solver, { status }));
        const reasons = distinct(own.map((cell) => cell.reason).filter(Boolean));
        if (reasons.length > 0) node.title = reasons.join("\n");
        return el("td", {}, node);
      }),
    ),
  );
  return el("table", { class: "claims", id: "claim-table" }, el("thead", {}, head), el("tbody", {}, body));
}

function reasonList() {
  const counts = new Map();
  for (const cell of scopeCells()) {
    if (!cell.reason) continue;
    const key = `${statusTitle(cell.status)}: ${cell.reason}`;
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  if (counts.size === 0) return null;
  const items = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 12);
  return el(
    "details",
    {},
    el("summary", {}, `Reasons (${counts.size})`),
    el(
      "ul",
      { class: "reasons" },
      items.map(([text, count]) => el("li", {}, `${text} — ${plural(count, "cell")}`)),
    ),
  );
}

// A stage has one colour in the whole report, whoever solved by it and whatever is filtered, and so one place in bars.
const stageNames = distinct(cells.map((cell) => cell.stage).filter(Boolean)).sort();
const stageColour = (stage) => `var(--series-${stageNames.indexOf(stage) % colours})`;

// Which stage of a solver solved how many cells: a bar for all and one for each family.
function stageBars(ranking) {
  const all = scopeCells().filter((cell) => cell.stage && cell.outcome === "solved");
  const families = distinct(all.map((cell) => data.problems[cell.problem].family));
  const partsOf = (own) =>
    stageNames
      .map((stage) => ({ stage, count: own.filter((cell) => cell.stage === stage).length }))
      .filter((part) => part.count > 0);
  const bar = (own) => {
    const parts = partsOf(own);
    const label = parts.map((part) => `${part.stage}: ${part.count}`).join(", ");
    return el(
      "div",
      { class: "stack", role: "img", "aria-label": label, title: label },
      parts.map((part) =>
        el("span", { style: { "flex-grow": part.count / own.length, background: stageColour(part.stage) } }),
      ),
    );
  };
  const tables = ranking.rows
    .map((row) => ({ solver: row.solver, own: all.filter((cell) => cell.solver === row.solver) }))
    .filter(({ own }) => own.length > 0)
    .flatMap(({ solver, own }) => {
      const line = (title, cells) =>
        el(
          "tr",
          {},
          el("th", { scope: "row", class: "left" }, title),
          el("td", {}, bar(cells)),
          el("td", {}, formatCount(cells.length)),
        );
      return [
        el("p", {}, solverLink(solver)),
        el(
          "div",
          { class: "legend" },
          partsOf(own).map(({ stage, count }) =>
            el("span", {}, el("i", { style: { background: stageColour(stage) } }), `${stage} ${formatCount(count)}`),
          ),
        ),
        el(
          "table",
          { class: "stages" },
          el(
            "tbody",
            {},
            line(`all ${data.group.many}`, own),
            families.length > 1
              ? families.map((family) => {
                  const cells = own.filter((cell) => data.problems[cell.problem].family === family);
                  return cells.length > 0 ? line(familyTitle(family), cells) : null;
                })
              : null,
          ),
        ),
      ];
    });
  return tables.length > 0 ? card(el("h3", {}, "Which stage solved"), tables) : null;
}

// The best ten first; a click shows all, and the address keeps it.
const rowsAtOnce = 10;
function moreRows(rows) {
  if (rows <= rowsAtOnce) return null;
  const all = state.all !== "";
  return el(
    "button",
    { type: "button", id: "all-rows", "aria-expanded": String(all), onclick: () => update({ all: all ? "" : "1" }) },
    all ? `Show ${rowsAtOnce} of ${rows}` : `Show all ${rows}`,
  );
}

// What stands below the ranking: claims, statuses, stages.
function rankingDetails(ranking) {
  return el(
    "details",
    { class: "fold", id: "claims", open: document.getElementById("claims")?.open ?? state.at === "claims" },
    el("summary", {}, "What solvers claim, what the judge says, and how solves ended"),
    card(scroller(claimTable(ranking), { "aria-label": "Claims and statuses" }), reasonList()),
    stageBars(ranking) ?? "",
  );
}

function drawRanking() {
  const section = document.getElementById("ranking");
  const ranking = currentRanking();
  if (!ranking) {
    section.replaceChildren(sectionTitle("ranking", "Ranking"), card(el("p", {}, "Nothing to rank.")));
    return;
  }
  const tableOf = (one, id) =>
    sortable(
      rankingColumns(one),
      one.rows.map((row, i) => ({ ...row, rank: i + 1 })),
      state.rank,
      (rank) => update({ rank }),
      { class: "ranking", id },
      undefined,
      state.all ? Infinity : rowsAtOnce,
    );
  section.replaceChildren(
    el("div", { class: "heading" }, sectionTitle("ranking", "Ranking"), legend()),
    card(
      scroller(tableOf(ranking, "ranking-table"), { "aria-label": "Ranking" }),
      moreRows(ranking.rows.length),
      rankingNotes(ranking),
    ),
    ...otherRankings().map((other) =>
      el(
        "details",
        { class: "fold", id: `ranking-${other.cost}`, open: document.getElementById(`ranking-${other.cost}`)?.open },
        el("summary", {}, `The same by ${costTitles[other.cost]} (above: ${costTitles[ranking.cost]})`),
        scroller(tableOf(other, `ranking-table-${other.cost}`), { "aria-label": `Ranking by ${other.cost}` }),
      ),
    ),
    rankingDetails(ranking),
  );
}

view(["slice", "family", "rank", "all"], drawRanking);
