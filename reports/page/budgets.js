// The error that is left after a budget of time, iterations or products: when to stop a solver that gets no more.

const budgetTables = () => data.budgets.filter((one) => one.slice === state.slice && one.family === state.family);
const budgetCosts = distinct(data.budgets.map((one) => one.cost));
const budgetTitles = { time: "time", iterations: "iterations", operator_products: "operator products" };
// Whole decades and their thirds: "10 µs", "300".
const budgetText = (value, cost) => formatCost(value, cost).replace(/\.0+(?=\D|$)/, "");
const budgetCost = () => (budgetCosts.includes(state.budget) ? state.budget : budgetCosts[0]);

// A value that is not finite is left out of a curve.
function errorCurve(table, row, values, dash) {
  const points = table.budgets.flatMap((budget, i) => (known(values[i]) ? [[budget, Math.max(values[i], 1e-18)]] : []));
  return {
    x: points.map(([x]) => x),
    y: points.map(([, y]) => y),
    label: dash ? "" : data.solvers[row.solver].label,
    solver: row.solver,
    front: true,
    marks: !dash,
    radius: 2,
    colour: colourOf(row.solver),
    dash: dash || dashOf(row.solver),
    hover: (i) =>
      `${dash ? "90 % of problems" : "median"} after ${budgetText(points[i][0], table.cost)}: ${formatResidual(points[i][1])}`,
  };
}

function budgetSpec(table, rows) {
  const { tolerance, verdict } = data.slices[table.slice];
  const series = rows.map((row) => errorCurve(table, row, row.median)).filter(({ x }) => x.length > 0);
  const range = roomyLog(table.budgets, 1.3);
  series.push({ x: range, y: [tolerance, tolerance], label: "", front: true, colour: "var(--soft)", dash: "2 3" });
  const values = series.flatMap(({ y }) => y);
  return {
    x: { title: `budget: ${budgetTitles[table.cost]}`, log: true, range, ...costTicks(table.cost) },
    y: { title: `${verdict}, median (dotted: the tolerance)`, log: true, range: roomyLog(values, 2), ...powerTicks },
    series,
    labels: true,
    keyed: true,
    height: 330,
    aria: "Median error over the budget; the table below has the numbers",
  };
}

// Budgets of whole decades, so that a table has few columns; on a phone every second one.
function budgetTable(table, rows) {
  const { tolerance } = data.slices[table.slice];
  const whole = table.budgets.map((_, i) => i).filter((i) => Number.isInteger(Math.round(1e9 * Math.log10(table.budgets[i])) / 1e9));
  const shown = whole.slice(-8);
  const minor = shown.map((_, k) => (shown.length - 1 - k) % 2 === 1);
  const cellOf = (row, i, k) => {
    const high = row.high ? row.high[i] : undefined;
    const title = high === undefined ? null : `90 % of the problems: ${known(high) ? formatResidual(high) : "not finite"} or less`;
    const done = known(row.median[i]) && row.median[i] <= tolerance;
    return el("td", { title, class: minor[k] ? "minor" : null }, el(done ? "b" : "span", {}, known(row.median[i]) ? formatResidual(row.median[i]) : "∞"));
  };
  return el(
    "table",
    { class: "key", id: "budget-table" },
    headRow(
      ["median error after", ...shown.map((i) => budgetText(table.budgets[i], table.cost))],
      [false, ...minor],
    ),
    el(
      "tbody",
      {},
      rows.map((row) =>
        el(
          "tr",
          {},
          el("th", { scope: "row", class: "left" }, solverLink(row.solver), ownMark(row.solver)),
          shown.map((i, k) => cellOf(row, i, k)),
        ),
      ),
    ),
  );
}

function drawBudgets() {
  const section = document.getElementById("budgets");
  const table = budgetTables().find((one) => one.cost === budgetCost());
  const coloured = colouredSolvers();
  const rows = table
    ? coloured.map((solver) => table.rows.find((row) => row.solver === solver)).filter(Boolean)
    : [];
  section.hidden = rows.length === 0;
  document.querySelector('nav a[href="#budgets"]').hidden = section.hidden;
  if (section.hidden) return section.replaceChildren();
  const products = table.cost === "operator_products" ? " Products are spread evenly over a run's iterations." : "";
  section.replaceChildren(
    el(
      "div",
      { class: "heading" },
      sectionTitle("budgets", "Error after a budget"),
      segmented(
        "Budget",
        budgetCosts.map((cost) => ({ value: cost, title: budgetTitles[cost] })),
        table.cost,
        (budget) => update({ budget }),
      ),
    ),
    card(
      chartFigure(
        "budget-chart",
        "Stopped early",
        `what is left of the error, over ${plural(table.problems, "problem")}`,
        `budget-${table.cost}`,
      ),
      scroller(budgetTable(table, rows), { "aria-label": "Error after a budget" }),
      el(
        "p",
        { class: "caption" },
        "Of the first run of each cell: the last iterate that was checked within the budget; before there is one, λ = 0. " +
          "So it is with a cell without a trace until its end. Bold: the median problem is solved. " +
          `Pointing at a number shows the error that 90 % of the problems do not exceed.${products}`,
      ),
    ),
  );
  drawChart(document.getElementById("budget-chart"), budgetSpec(table, rows));
}

view(["slice", "family", "cost", "chosen", "alone", "budget"], drawBudgets);
