// Problems × solvers: each cell its cost, tinted by how far it is from the best of its problem.

const heatRows = 150; // more are drawn on demand
let heatAll = false;

function hardness(p) {
  const row = grids[state.slice][p];
  const solved = row.filter((cell) => cell && cell.outcome === "solved").length;
  const best = bestCost(
    state.slice,
    p,
    state.cost,
    data.solvers.map((_, s) => s),
  );
  return solved === 0 ? Infinity : (data.solvers.length - solved) * 1e9 + Math.log(best);
}

// What distinguishes problems of a family: their names without the words that all of them share.
const shortNames = (() => {
  const wordsOf = (name) => name.split(name.includes("=") ? /[_ ]/ : /[-_ ]/);
  const families = new Map();
  data.problems.forEach(({ family, name }, p) => {
    if (!families.has(family)) families.set(family, []);
    const rest = family && name.startsWith(family) ? name.slice(family.length).replace(/^[-_ ]/, "") : name;
    families.get(family).push({ p, words: wordsOf(rest || name) });
  });
  const short = [];
  for (const [family, members] of families) {
    const counts = new Map();
    for (const { words } of members) for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const { p, words } of members) {
      const own = words.filter(
        (word) => word !== family && (members.length === 1 || counts.get(word) < members.length),
      );
      short[p] = own.length > 0 ? own.join(" ") : data.problems[p].name;
    }
  }
  return short;
})();

// By family, and within it by name with numbers by size: ratio=30 stands before ratio=1000.
const naturalPositions = (() => {
  const families = distinct(data.problems.map((problem) => problem.family));
  const order = data.problems
    .map(({ family, name }, p) => ({ p, family: families.indexOf(family), name }))
    .sort((a, b) => a.family - b.family || byName(a.name, b.name) || a.p - b.p);
  const positions = [];
  order.forEach(({ p }, position) => (positions[p] = position));
  return positions;
})();

const heatOrders = {
  family: { title: data.group.one, value: (p) => naturalPositions[p] },
  contacts: { title: "contacts", value: (p) => data.problems[p].contacts },
  hardness: { title: "hardest first", value: (p) => -hardness(p) },
};

function heatProblems() {
  const list = data.problems
    .map((_, p) => p)
    .filter((p) => isOpen(p, state.slice) && (!state.family || data.problems[p].family === state.family));
  const order = heatOrders[state.order] || heatOrders.family;
  const values = new Map(list.map((p) => [p, order.value(p)]));
  return list.sort((a, b) => values.get(a) - values.get(b) || a - b);
}

function heatText(cell) {
  if (!cell || cell.outcome === "not_run") return "";
  if (cell.outcome === "unsupported") return "n/a";
  if (state.heat === "verdict") return formatResidual(cell.verdict_value);
  if (cell.outcome === "solved") return formatCost(spent(cell, state.cost), state.cost);
  return shortStatus[cell.status] ?? statusTitle(cell.status);
}

// 1: the best (or a verdict far below the tolerance); 0: 64 times slower (or at the tolerance).
function heatStrength(cell, best) {
  if (state.heat === "verdict") {
    const digits = Math.log10(data.slices[cell.slice].tolerance / Math.max(cell.verdict_value, 1e-300));
    return Math.min(1, 0.25 + digits / 4);
  }
  return Math.max(0, 1 - Math.log2(costOf(cell, state.cost) / best) / 6);
}

// The darkest tint has light ink. Those between it and three quarters would read with neither ink.
function tint(td, strength) {
  const strong = strength > 0.8;
  td.style.setProperty("--heat", `${Math.round(strong ? 100 : 75 * strength)}%`);
  td.classList.toggle("strong", strong);
  return td;
}

function heatTitle(p, s, cell) {
  const where = `${data.problems[p].name} × ${data.solvers[s].label}`;
  if (!cell) return `${where}: not run`;
  return (
    `${where}: ${outcomeTitle[cell.outcome]} (${statusTitle(cell.status)}${cell.reason ? `, ${cell.reason}` : ""}), ` +
    `verdict ${formatResidual(cell.verdict_value)}, ${plural(cell.iterations, "iteration")}, ` +
    formatTime(cell.total_median_s)
  );
}

function heatCell(p, s, best) {
  const cell = grids[state.slice][p][s];
  const what = cell ? cell.outcome : "not_run";
  const td = el(
    "td",
    {
      class: `heat ${what}`,
      tabindex: -1,
      title: heatTitle(p, s, cell),
      "data-open": cell ? `cell.${cell.index}` : null,
    },
    heatText(cell),
  );
  if (what === "solved") {
    const strength = known(costOf(cell, state.cost)) || state.heat === "verdict" ? heatStrength(cell, best) : 0;
    tint(td, strength);
    if (state.heat === "cost" && costOf(cell, state.cost) === best) td.classList.add("best");
  }
  return td;
}

function heatRow(p, solvers) {
  const problem = data.problems[p];
  const best = bestCost(state.slice, p, state.cost, solvers);
  const first = el(
    "th",
    { scope: "row", class: "left", title: problem.name },
    thumbnail(problem),
    link(
      middleOut(state.order === "family" ? shortNames[p] : `${problem.family} ${shortNames[p]}`, 42),
      `problem.${p}`,
    ),
    problem.counted[state.slice] ? null : el("span", { class: "tag", title: problem.left_out }, "not counted"),
  );
  return el(
    "tr",
    {},
    first,
    el("td", { class: "contacts" }, problem.error ? none : formatCount(problem.contacts)),
    solvers.map((s) => heatCell(p, s, best)),
  );
}

// Arrow keys go from cell to cell; Enter opens one.
function heatKeys(event) {
  const td = event.target.closest("td.heat");
  if (!td) return;
  if (event.key === "Enter" && td.dataset.open) return update({ open: td.dataset.open }, true);
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!step) return;
  event.preventDefault();
  const rows = [...td.parentElement.parentElement.rows].filter((one) => one.querySelector("td.heat"));
  const row = rows[rows.indexOf(td.parentElement) + step[0]];
  const next = row && row.cells[td.cellIndex + step[1]];
  if (!next || !next.classList.contains("heat")) return;
  td.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function heatLegend() {
  const verdict = state.heat === "verdict";
  return el(
    "div",
    { class: "legend" },
    el(
      "span",
      {},
      verdict ? "far below the tolerance" : "best",
      el("i", { class: "ramp" }),
      verdict ? "at the tolerance" : "64× the best or more",
    ),
    outcomes.slice(1, 4).map((one) => el("span", { title: one.hint }, el("i", { class: one.id }), one.title)),
  );
}

function drawHeatmap() {
  const section = document.getElementById("heatmap");
  const heading = el(
    "div",
    { class: "heading" },
    sectionTitle("heatmap", "Problems × solvers"),
    el(
      "span",
      { class: "tools" },
      segmented(
        "Shown",
        [
          { value: "cost", title: costTitles[state.cost], hint: "the cost chosen under Profiles" },
          { value: "verdict", title: "verdict" },
        ],
        state.heat,
        (heat) => update({ heat }),
      ),
      el(
        "label",
        {},
        "order ",
        select(
          "Order",
          Object.entries(heatOrders).map(([value, { title }]) => ({ value, title })),
          state.order,
          (order) => update({ order }),
        ),
      ),
    ),
  );
  const problems = data.slices.length > 0 ? heatProblems() : [];
  if (problems.length === 0) {
    section.replaceChildren(heading, card(el("p", {}, "No cells.")));
    return;
  }
  const ranking = currentRanking();
  const ranked = ranking ? ranking.rows.map((row) => row.solver) : [];
  const solvers = ranked.concat(data.solvers.map((_, s) => s).filter((s) => !ranked.includes(s) && isIn(s)));
  const head = el(
    "tr",
    {},
    el("th", { scope: "col", class: "left" }, "Problem"),
    el("th", { scope: "col", title: "contacts", class: "contacts" }, "n", el("sub", {}, "c")),
    solvers.map((s) =>
      el(
        "th",
        { scope: "col", class: "upright" },
        el("span", {}, swatch(s), link(unbroken(data.solvers[s].label), `solver.${s}`)),
      ),
    ),
  );
  const shown = heatAll ? problems : problems.slice(0, heatRows);
  let family = null;
  const body = el(
    "tbody",
    {},
    shown.map((p) => {
      const fresh = state.order === "family" && data.problems[p].family !== family;
      family = data.problems[p].family;
      return [
        fresh
          ? el(
              "tr",
              { class: "family-start" },
              el("th", { scope: "rowgroup", class: "left", colspan: 2 }, familyTitle(family)),
            )
          : null,
        heatRow(p, solvers),
      ];
    }),
  );
  const table = el(
    "table",
    {
      class: solvers.length > 7 ? "heatmap wide" : "heatmap",
      id: "heat-table",
      onkeydown: heatKeys,
      onclick: (event) => {
        const td = event.target.closest("td.heat");
        if (td && td.dataset.open) update({ open: td.dataset.open }, true);
      },
    },
    el("thead", {}, head),
    body,
  );
  const corner = table.querySelector("td.heat");
  if (corner) corner.tabIndex = 0;
  const more =
    problems.length > shown.length
      ? el(
          "button",
          {
            type: "button",
            onclick: () => {
              heatAll = true;
              drawHeatmap();
            },
          },
          `Show all ${problems.length} problems`,
        )
      : null;
  section.replaceChildren(
    heading,
    card(
      heatLegend(),
      scroller(table, { class: "scroll tall", tabindex: null, "aria-label": "Problems and solvers" }),
      more,
    ),
  );
}

view(["slice", "family", "cost", "heat", "order"], drawHeatmap);
