// Every cell in a table that filters, sorts and pages.

const pageSize = 50;
const clearedFilters = { search: "", solver: "", outcome: "", status: "", every: "" };

const toleranceLabel = (cell) => data.slices[cell.slice].label;

const cellColumns = [
  {
    id: "problem",
    title: "Problem",
    left: true,
    value: (c) => data.problems[c.problem].name,
    show: (c) => narrowLink(data.problems[c.problem].name, `problem.${c.problem}`),
  },
  ...(data.problems.every((problem) => problem.family === problem.name)
    ? []
    : [
        {
          id: "family",
          priority: 3,
          title: capital(data.group.one),
          left: true,
          value: (c) => data.problems[c.problem].family,
          show: (c) => {
            const { family } = data.problems[c.problem];
            return el("span", { title: family }, familyTitle(family));
          },
        },
      ]),
  {
    id: "contacts",
    priority: 3,
    title: "Cont.",
    hint: "contacts",
    value: (c) => data.problems[c.problem].contacts,
    show: (c) => formatCount(data.problems[c.problem].contacts),
  },
  {
    id: "solver",
    title: "Solver",
    left: true,
    value: (c) => data.solvers[c.solver].label,
    show: (c) =>
      el("span", { class: "solver" }, swatch(c.solver), link(unbroken(data.solvers[c.solver].label), `solver.${c.solver}`)),
  },
  { id: "tolerance", priority: 2, title: "Tol.", value: (c) => data.slices[c.slice].tolerance, show: toleranceLabel },
  {
    id: "outcome",
    title: "Outcome",
    left: true,
    value: (c) => outcomes.findIndex((one) => one.id === c.outcome),
    show: badge,
  },
  {
    id: "status",
    priority: 2,
    title: "Status",
    left: true,
    value: (c) => c.status + c.reason,
    show: (c) =>
      el(
        "span",
        { class: "status", title: c.reason },
        statusTitle(c.status),
        c.reason ? el("small", {}, ` ${c.reason}`) : null,
      ),
  },
  {
    id: "verdict",
    priority: 2,
    title: "Verdict",
    hint: "the official residual",
    value: (c) => c.verdict_value,
    show: (c) => [
      formatResidual(c.verdict_value),
      known(c.compliance_share)
        ? el(
            "small",
            { title: "with the compliance that the solver added" },
            ` (${formatResidual(c.verdict_compliant)})`,
          )
        : null,
    ],
  },
  { id: "iterations", priority: 3, title: "Iter.", value: (c) => c.iterations, show: (c) => formatCount(c.iterations) },
  {
    id: "factorizations",
    priority: 4,
    title: "Fact.",
    value: (c) => c.factorizations,
    show: (c) => formatCount(c.factorizations),
  },
  ...(data.times_shown
    ? [
        { id: "setup", priority: 4, title: "Set-up", value: (c) => c.setup_median_s, show: (c) => formatTime(c.setup_median_s) },
        {
          id: "time",
          title: "Total",
          hint: "median of set-up + solve",
          value: (c) => c.total_median_s,
          show: (c) => el("b", {}, formatTime(c.total_median_s)),
        },
        {
          id: "mad",
          priority: 4,
          title: "± MAD",
          hint: "median absolute deviation",
          value: (c) => c.total_deviation_s,
          show: (c) => (c.repeats > 1 ? formatTime(c.total_deviation_s) : none),
        },
      ]
    : []),
];

function matches(cell, words) {
  const problem = data.problems[cell.problem];
  const text =
    `${problem.name} ${problem.family} ${data.solvers[cell.solver].label} ${cell.status} ${cell.reason}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function filteredCells() {
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  return cells.filter(
    (cell) =>
      (state.every || cell.slice === state.slice) &&
      isIn(cell.solver) &&
      (!state.family || data.problems[cell.problem].family === state.family) &&
      (!state.solver || cell.solver === Number(state.solver)) &&
      (!state.outcome || cell.outcome === state.outcome) &&
      (!state.status || cell.status === state.status) &&
      matches(cell, words),
  );
}

// From a figure elsewhere on the page to the cells behind it.
function showCells(patch) {
  update({ ...clearedFilters, ...patch, page: 0 });
  document.getElementById("cells").scrollIntoView();
}

function filterBar() {
  const any = (title) => ({ value: "", title });
  const search = el("input", {
    type: "search",
    id: "search",
    placeholder: "Filter: problem, solver, reason …  ( / )",
    "aria-label": "Filter cells",
    value: state.search,
    oninput: (event) => update({ search: event.target.value, page: 0 }),
  });
  const statuses = distinct(cells.map((cell) => cell.status)).sort();
  return el(
    "div",
    { class: "filters" },
    search,
    select(
      "Solver",
      [any("every solver"), ...data.solvers.map((solver, s) => ({ value: String(s), title: solver.label }))],
      state.solver,
      (solver) => update({ solver, page: 0 }),
    ),
    select(
      "Outcome",
      [any("every outcome"), ...outcomes.slice(0, 4).map((one) => ({ value: one.id, title: one.title }))],
      state.outcome,
      (outcome) => update({ outcome, page: 0 }),
    ),
    select(
      "Status",
      [any("every status"), ...statuses.map((status) => ({ value: status, title: statusTitle(status) }))],
      state.status,
      (status) => update({ status, page: 0 }),
    ),
    el(
      "label",
      {},
      el("input", {
        type: "checkbox",
        checked: state.every !== "",
        onchange: (event) => update({ every: event.target.checked ? "1" : "", page: 0 }),
      }),
      " all tolerances",
    ),
    el("span", { class: "filter-count", id: "cell-count", role: "status" }),
  );
}

function pager(count) {
  const pages = Math.max(1, Math.ceil(count / pageSize));
  const page = Math.min(state.page, pages - 1);
  const button = (text, label, target) =>
    el(
      "button",
      {
        type: "button",
        "aria-label": label,
        disabled: target < 0 || target >= pages || target === page,
        onclick: () => update({ page: target }),
      },
      text,
    );
  const first = page * pageSize;
  return el(
    "div",
    { class: "pager" },
    button("«", "First page", 0),
    button("‹", "Previous page", page - 1),
    el(
      "span",
      {},
      count === 0 ? "no cells" : `${first + 1}–${Math.min(first + pageSize, count)} of ${formatCount(count)}`,
    ),
    button("›", "Next page", page + 1),
    button("»", "Last page", pages - 1),
  );
}

function drawCellRows() {
  const list = filteredCells();
  const key = state.sort.replace(/^-/, "");
  const column = cellColumns.find((one) => one.id === key) || cellColumns[0];
  list.sort(comparing(column.value, state.sort.startsWith("-")));
  const pages = Math.max(1, Math.ceil(list.length / pageSize));
  const first = Math.min(state.page, pages - 1) * pageSize;
  // The rows are in order already; the table only draws the headings and one page.
  const columns = cellColumns.map((one) => (one === column ? { ...one, value: () => 0 } : one));
  const table = sortable(
    columns,
    list.slice(first, first + pageSize),
    state.sort,
    (sort) => update({ sort, page: 0 }),
    { id: "cell-table" },
    (cell) => ({ class: "row", tabindex: 0, "data-cell": cell.index }),
  );
  document.getElementById("cell-count").textContent =
    `${formatCount(list.length)} of ${plural(cells.length, "cell")}`;
  document
    .getElementById("cell-rows")
    .replaceChildren(scroller(table, { "aria-label": "Cells" }), pager(list.length));
}

function openRow(event) {
  const row = event.target.closest("tr[data-cell]");
  if (!row || (event.type === "keydown" && event.key !== "Enter")) return;
  if (event.type === "keydown" && event.target !== row) return;
  update({ open: `cell.${row.dataset.cell}` }, true);
}

function drawCells() {
  document
    .getElementById("cells")
    .replaceChildren(
      el("div", { class: "heading" }, sectionTitle("cells", "Cells")),
      card(filterBar(), el("div", { id: "cell-rows", onclick: openRow, onkeydown: openRow })),
    );
  drawCellRows();
}

// Typing must not rebuild the box that is typed into.
view(["slice", "family", "search", "sort", "page"], drawCellRows);
view(["solver", "outcome", "status", "every"], drawCells);
