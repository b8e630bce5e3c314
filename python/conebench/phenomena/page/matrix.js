// Engines × phenomena: a number a cell, coloured by its error. A column is a phenomenon, or one of its cases.

// A phenomenon stands for the worst of its cases. Where these have several exact values, numbers are errors.
function columnsOf(phenomena) {
  return phenomena.flatMap((phenomenon) => {
    const all = data.rows.flatMap((_, row) => table[row][phenomenon.number]);
    if (phenomenon.cases.length > 1 && state.wide.includes(phenomenon.id)) {
      return phenomenon.cases.map(({ name }, number) => {
        const exact = exactOf(all.filter((cell) => cell.case === number));
        return {
          phenomenon,
          id: `${phenomenon.id}:${name}`,
          title: name,
          first: number === 0,
          exact,
          errors: state.show === "errors",
          find: (row) => table[row.number][phenomenon.number].find((cell) => cell.case === number),
        };
      });
    }
    const exact = exactOf(all);
    return [
      {
        phenomenon,
        id: phenomenon.id,
        title: phenomenon.title,
        first: true,
        whole: true,
        exact,
        unknown: !all.some((cell) => known(cell.exact)),
        errors: state.show === "errors" || exact === null,
        find: (row) => worst(table[row.number][phenomenon.number]),
      },
    ];
  });
}

// Rows of an engine stay together, engines by their best row's right cells, where no column sorts.
function sortedRows(rows, phenomena, columns) {
  const right = new Map(rows.map((row) => [row, counts(cellsOf(row, phenomena)).right]));
  const down = state.sort.startsWith("-");
  const id = state.sort.replace(/^-/, "");
  if (id === "engine")
    return [...rows].sort((a, b) => (down ? -1 : 1) * (a.engine.localeCompare(b.engine) || a.number - b.number));
  if (id === "right")
    return [...rows].sort((a, b) => (down ? -1 : 1) * (right.get(a) - right.get(b)) || a.number - b.number);
  const column = columns.find((one) => one.id === id);
  if (column) {
    const value = (row) => {
      const cell = column.find(row);
      return cell && tried(cell) ? cell.rank : null; // what says nothing comes last either way
    };
    return [...rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return known(x) && known(y) ? (down ? y - x : x - y) || a.number - b.number : known(y) - known(x);
    });
  }
  const best = new Map();
  for (const row of rows) best.set(row.engine, Math.max(best.get(row.engine) ?? 0, right.get(row)));
  return [...rows].sort(
    (a, b) => best.get(b.engine) - best.get(a.engine) || a.engine.localeCompare(b.engine) || a.number - b.number,
  );
}

// The good ones first, then the other way, then as at the start.
function sortButton(id, title, hint) {
  const ways = id === "right" ? ["-right", "right", ""] : [id, `-${id}`, ""];
  return el(
    "button",
    {
      type: "button",
      class: "sort",
      title: hint,
      "data-focus": `sort.${id}`,
      onclick: () => update({ sort: ways[(ways.indexOf(state.sort) + 1) % 3] }),
    },
    title,
  );
}

const sortedBy = (id) => (state.sort === id ? "ascending" : state.sort === `-${id}` ? "descending" : null);

function widthButton(phenomenon) {
  if (phenomenon.cases.length < 2) return null;
  const open = state.wide.includes(phenomenon.id);
  const hint = `${open ? "Hide" : "Show"} the ${phenomenon.cases.length} cases of ${phenomenon.title}`;
  return el(
    "button",
    {
      type: "button",
      class: "fold",
      "aria-expanded": String(open),
      "aria-label": hint,
      title: hint,
      "data-focus": `wide.${phenomenon.id}`,
      onclick: () =>
        update({ wide: open ? state.wide.filter((id) => id !== phenomenon.id) : [...state.wide, phenomenon.id] }),
    },
    open ? "× cases" : `${phenomenon.cases.length} ▸`,
  );
}

const lawHint = ({ title, law, quantity }) => `${title}\n${quantity ? `Measured: ${quantity}.\n` : ""}${law}`;

function heads(columns) {
  const wide = columns.some((column) => !column.whole);
  const rows = wide ? 3 : 2;
  const spans = (of) =>
    columns.reduce((found, column) => {
      if (found.length > 0 && of(found.at(-1)[0]) === of(column)) found.at(-1)[1] += 1;
      else found.push([column, 1]);
      return found;
    }, []);
  const begins = new Set(spans((column) => column.phenomenon.group).map(([column]) => column));
  for (const column of columns) column.begins = begins.has(column);
  const upright = (column, hint) =>
    el(
      "th",
      {
        scope: "col",
        class: `upright${column.begins ? " begins" : ""}`,
        rowspan: column.whole && wide ? 2 : null,
        "aria-sort": sortedBy(column.id),
      },
      el(
        "div",
        {},
        sortButton(column.id, el("span", { class: "words" }, column.title), hint),
        column.whole ? widthButton(column.phenomenon) : null,
      ),
    );
  return el(
    "thead",
    {},
    el(
      "tr",
      { class: "groups" },
      el(
        "th",
        { scope: "col", rowspan: rows, class: "left pinned", "aria-sort": sortedBy("engine") },
        sortButton("engine", "Engine", "By name; again: the other way; a third time: engines by their right cells"),
      ),
      el(
        "th",
        { scope: "col", rowspan: rows, class: "score", "aria-sort": sortedBy("right") },
        sortButton("right", "Right", "Cells that are right of those tried, over all cases of the groups shown"),
      ),
      spans((column) => column.phenomenon.group).map(([column, count]) =>
        el(
          "th",
          { scope: "colgroup", colspan: count, class: "begins" },
          el("span", {}, capital(column.phenomenon.group)),
        ),
      ),
    ),
    el(
      "tr",
      {},
      spans((column) => column.phenomenon.id).map(([column, count]) =>
        column.whole
          ? upright(column, lawHint(column.phenomenon))
          : el(
              "th",
              {
                scope: "colgroup",
                colspan: count,
                class: `several${column.begins ? " begins" : ""}`,
                title: lawHint(column.phenomenon),
              },
              column.phenomenon.title,
              " ",
              widthButton(column.phenomenon),
            ),
      ),
    ),
    wide
      ? el(
          "tr",
          {},
          columns
            .filter((column) => !column.whole)
            .map((column) => upright(column, `${column.phenomenon.title}: ${column.title}`)),
        )
      : null,
    el(
      "tr",
      { class: "exact" },
      el("th", { scope: "row", class: "left pinned" }, "exact"),
      el("td", { class: "score" }),
      columns.map((column) =>
        el(
          "td",
          { class: column.begins ? "begins" : null },
          known(column.exact) && !column.errors
            ? el("span", { class: "number" }, short(column.exact))
            : column.unknown
              ? el("span", { class: "number" }, "–")
              : el(
                  "span",
                  {
                    class: "number",
                    title:
                      column.exact === null
                        ? "The exact value differs by case: numbers are errors, 0 is exact."
                        : `Numbers are errors. Exact: ${withUnit(column.exact, column.phenomenon.unit)}`,
                  },
                  "error",
                ),
          el("span", { class: "unit" }, column.phenomenon.unit || " "),
        ),
      ),
    ),
  );
}

function numberOf(cell, errors) {
  return outcomeWords[cell.outcome] ?? short(errors ? cell.error : cell.value);
}

// A cell as a button: its number, a tick where it is right, a bar as long as its grade is bad.
function cellButton(cell, errors, extra = {}) {
  const text = sentence(cell);
  const why = cell.message.startsWith(cell.element) ? cell.message : `${cell.element}: ${cell.message}`;
  return el(
    "button",
    {
      type: "button",
      class: `cell g${cell.grade}`,
      title: why && cell.outcome !== "measured" ? `${text}\n${why}` : text,
      "aria-label": text,
      ...extra,
      onclick: () => update({ open: cell.file }, true),
    },
    el("span", {}, cell.grade === grades.right ? el("i", { class: "tick" }, "✓") : null, numberOf(cell, errors)),
  );
}

function rowHead(row, label) {
  return el(
    "th",
    { scope: "row", class: "left pinned", title: rowText(row) },
    el("b", {}, label),
    " ",
    el("span", { class: "variant" }, row.variant),
    state.step === "all" && manySteps ? el("span", { class: "variant" }, ` ${milliseconds(row.step)}`) : null,
    row.best && row.variant !== "best" && row.variant !== "default"
      ? el("span", { class: "tag", title: "The variant with the most right cells" }, "best")
      : null,
  );
}

function score(row, phenomena) {
  const found = counts(cellsOf(row, phenomena));
  const total = found.tried + found.cannot;
  const part = (grade, count) => (count > 0 ? el("i", { class: `g${grade}`, style: `flex-grow: ${count}` }) : null);
  const text = `${found.right} right of ${found.tried} tried; ${found.failed} without a value; ${found.cannot} cannot`;
  return el(
    "td",
    { class: "score", title: text },
    el("b", {}, found.right),
    el("span", { class: "of" }, `/${found.tried}`),
    total > 0
      ? el(
          "span",
          { class: "stack", "aria-hidden": "true" },
          part(0, found.right),
          found.wrong.map((count, i) => part(i + 1, count)),
          part(5, found.failed),
          part(6, found.cannot),
        )
      : null,
  );
}

function legend() {
  const entry = (grade, text) =>
    el(
      "span",
      {},
      el(
        "i",
        { class: `cell g${grade}` },
        el("span", {}, grade === 0 ? "✓" : grade === 5 ? "NaN" : grade === 6 ? "–" : ""),
      ),
      text,
    );
  return el(
    "div",
    { class: "legend" },
    entry(0, "right: within what the time step explains"),
    el("span", { class: "scale" }, "wrong, error / scale:"),
    ["< 1 %", "< 10 %", "< 100 %", "more"].map((text, i) => entry(i + 1, text)),
    entry(5, "no value"),
    entry(6, "cannot: lacks an element"),
  );
}

function filters() {
  const steps = data.timeSteps.map((step) => ({ value: String(step), title: milliseconds(step) }));
  const engines = [...new Set(data.rows.map((row) => row.engine))];
  return el(
    "div",
    { class: "filters" },
    data.rows.some((row) => !row.main)
      ? segmented(
          "Variants",
          [
            {
              value: "main",
              title: "Default and best",
              hint: "Of each engine what its user gets, and its most exact variant",
            },
            { value: "all", title: "All variants" },
          ],
          state.variants,
          (variants) => update({ variants }),
        )
      : null,
    manySteps
      ? segmented("Time step", [...steps, { value: "all", title: "All steps" }], state.step, (step) => update({ step }))
      : null,
    segmented(
      "Numbers",
      [
        { value: "values", title: "Values" },
        { value: "errors", title: "Errors" },
      ],
      state.show,
      (show) => update({ show }),
    ),
    data.groups.length > 1 ? fold("Groups", data.groups, state.groups, (groups) => update({ groups })) : null,
    engines.length > 1 ? fold("Engines", engines, state.engines, (engines) => update({ engines })) : null,
  );
}

// Chips that open below a button, which says how many are chosen.
const folded = new Set();
function fold(label, names, chosen, choose) {
  const open = folded.has(label);
  return [
    el(
      "button",
      {
        type: "button",
        class: "folder",
        "aria-expanded": String(open),
        "data-focus": `fold.${label}`,
        onclick: () => {
          if (open) folded.delete(label);
          else folded.add(label);
          drawMatrix();
        },
      },
      `${label}: ${chosen.length > 0 ? (chosen.length === 1 ? chosen[0] : chosen.length) : "all"} `,
      el("span", { "aria-hidden": "true" }, open ? "▴" : "▾"),
    ),
    open
      ? el(
          "div",
          { class: "folded" },
          chips(label, names, chosen, choose),
          el(
            "button",
            {
              type: "button",
              class: "link",
              disabled: chosen.length === 0,
              "data-focus": `all.${label}`,
              onclick: () => choose([]),
            },
            "all",
          ),
        )
      : null,
  ];
}

// Arrow keys go from cell to cell.
function gridKeys(event) {
  const step = {
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    Home: [0, -1e3],
    End: [0, 1e3],
  }[event.key];
  const td = event.target.closest("tbody td");
  if (!step || !td || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const row =
    td.parentElement.parentElement.rows[td.parentElement.rowIndex - td.closest("table").tHead.rows.length + step[0]];
  const list = row ? [...row.cells] : [];
  for (
    let at = Math.min(Math.max(td.cellIndex + step[1], 2), list.length - 1);
    at >= 2 && at < list.length;
    at += Math.sign(step[1]) || list.length
  ) {
    const next = list[at].querySelector("button");
    if (!next || next === event.target) continue;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    // Not under the pinned column.
    const box = td.closest(".scroll");
    const covered = row.cells[0].getBoundingClientRect().right - list[at].getBoundingClientRect().left;
    if (covered > 0) box.scrollLeft -= covered;
    return;
  }
}

function notInstalled() {
  const missing = data.engines.filter((engine) => engine.missing);
  return missing.length > 0
    ? el(
        "p",
        { class: "caption" },
        el("b", {}, "Not installed: "),
        missing.map((engine, i) => [i > 0 ? "; " : "", `${engine.id} (${engine.missing})`]),
      )
    : null;
}

function drawMatrix() {
  const section = document.getElementById("matrix");
  const before = section.querySelector(".scroll");
  const place = before ? [before.scrollLeft, before.scrollTop] : [0, 0];
  const focus = document.activeElement?.dataset?.focus;
  const phenomena = shownPhenomena();
  const columns = columnsOf(phenomena);
  const head = heads(columns);
  const rows = sortedRows(shownRows(), phenomena, columns);
  let engine = null;
  const body = el(
    "tbody",
    {},
    rows.map((row) => {
      const fresh = row.engine !== engine;
      engine = row.engine;
      return el(
        "tr",
        { class: fresh ? "fresh" : null },
        rowHead(row, row.engine),
        score(row, phenomena),
        columns.map((column) => {
          const cell = column.find(row);
          return el(
            "td",
            { class: column.begins ? "begins" : null },
            cell ? cellButton(cell, column.errors, { tabindex: -1, "data-focus": `${row.number}.${column.id}` }) : null,
          );
        }),
      );
    }),
  );
  const first = body.querySelector("button.cell");
  if (first) first.tabIndex = 0;
  const grid = el(
    "table",
    { class: "matrix", onkeydown: gridKeys },
    el("caption", { class: "hidden" }, "Engines and phenomena: of several cases the worst"),
    head,
    body,
  );
  section.replaceChildren(
    filters(),
    card(
      legend(),
      rows.length > 0
        ? scroller(grid, { class: "scroll tall", "aria-label": "Engines and phenomena" })
        : el("p", { class: "note" }, "No engine to show."),
      el(
        "p",
        { class: "caption" },
        "A phenomenon is its worst case; ▸ opens its cases. A number opens its curve, its film, the law and the command that repeats it. Headings sort.",
      ),
      notInstalled(),
    ),
  );
  const box = section.querySelector(".scroll");
  if (box) {
    [box.scrollLeft, box.scrollTop] = place;
    grid.style.setProperty("--pinned", `${grid.querySelector(".pinned").offsetWidth}px`); // the names of groups stay beside it
  }
  if (focus) section.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
}
