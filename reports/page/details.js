// What is known of one cell, problem or solver, in a panel at the side.

const dialog = document.getElementById("details");

function resultText(cell) {
  if (!cell) return el("span", { class: "zero" }, "·");
  const text =
    cell.outcome === "solved"
      ? formatCost(costOf(cell, data.times_shown ? "time" : "iterations"), data.times_shown ? "time" : "iterations")
      : cell.outcome === "unsupported"
        ? "n/a"
        : (shortStatus[cell.status] ?? statusTitle(cell.status));
  return link(text, `cell.${cell.index}`, {
    class: `link result ${cell.outcome}`,
    title: outcomeTitle[cell.outcome],
  });
}

// minor: by column, whether a narrow screen goes without it; the first `left` are texts
const headRow = (titles, minor = [], left = 1) =>
  el(
    "thead",
    {},
    el(
      "tr",
      {},
      titles.map((title, i) => el("th", { scope: "col", class: i < left ? "left" : minor[i] ? "minor" : null }, title)),
    ),
  );

function timedHow(cell) {
  const runs = plural(cell.repeats, "run");
  return cell.rounds > 1 ? `${runs} in the quietest of ${cell.rounds} rounds` : runs;
}

function timesTable(cell) {
  if (!data.times_shown || cell.total_median_s === null) return null;
  const rows = [
    ["total", cell.total_median_s, cell.total_deviation_s, cell.total_minimum_s, cell.total_cold_s],
    ["set-up", cell.setup_median_s],
    ["solve", cell.solve_median_s],
    ...[
      ["by the runner's clock", cell.wall_s],
      ["self-reported set-up", cell.own_setup_s],
      ["self-reported solve", cell.own_solve_s],
    ].filter(([, seconds]) => known(seconds)),
  ];
  return [
    el(
      "h3",
      {},
      "Times",
      el("span", { class: "aside" }, timedHow(cell) + "; judging apart: " + formatTime(cell.judge_s)),
    ),
    ...(cell.doubts ?? []).map((code) => el("p", { class: "warning" }, `Doubtful: ${data.time_doubts[code] ?? code}`)),
    el(
      "table",
      {},
      headRow(["", "median (ranked)", "± MAD", "minimum", "first run"]),
      el(
        "tbody",
        {},
        rows.map(([name, ...values]) =>
          el(
            "tr",
            {},
            el("th", { scope: "row", class: "left" }, name),
            [0, 1, 2, 3].map((i) => el("td", {}, i in values ? formatTime(values[i]) : "")),
          ),
        ),
      ),
    ),
  ];
}

function residualTable(cell) {
  const { tolerance, verdict } = data.slices[cell.slice];
  const rows = data.residuals.map((residual, i) => [residual, cell.residuals[i]]).filter(([, entry]) => entry);
  if (rows.length === 0) return null;
  // Not every residual measures an answer against a tolerance.
  const accepted = (residual, value) =>
    residual.verdict === false ? none : value !== "inf" && value <= tolerance ? "yes" : "no";
  return [
    el("h3", {}, "Residuals", el("span", { class: "aside" }, "by the harness, on the original problem")),
    el(
      "table",
      {},
      headRow(["", "value", "unit", "worst block", `≤ ${toleranceLabel(cell)}`]),
      el(
        "tbody",
        {},
        rows.map(([residual, [value, block, missing]]) =>
          el(
            "tr",
            {},
            el(
              "th",
              { scope: "row", class: "left", title: residual.formula },
              residual.name,
              residual.name === verdict ? el("span", { class: "tag" }, "verdict") : null,
            ),
            missing
              ? el("td", { class: "left aside", colspan: 4 }, missing)
              : [
                  el("td", {}, formatResidual(value)),
                  el("td", { class: "unit" }, residual.unit ?? ""),
                  el("td", {}, block >= 0 ? String(block) : none),
                  el("td", {}, accepted(residual, value)),
                ],
          ),
        ),
      ),
    ),
  ];
}

function cellDetails(cell) {
  const slice = data.slices[cell.slice];
  const others = data.solvers.map((_, s) => s).filter((s) => grids[cell.slice][cell.problem][s]);
  const text = commandOf(cell);
  return {
    title: [problemLink(cell.problem), " × ", solverLink(cell.solver)],
    body: [
      el(
        "p",
        { class: "lead" },
        badge(cell),
        ` at ${slice.label}: `,
        statusTitle(cell.status),
        cell.reason ? ` — ${cell.reason}` : "",
        cell.stage ? `; stage ${cell.stage}` : "",
        cell.claimed ? "; the solver claims convergence" : "; the solver does not claim convergence",
      ),
      text
        ? [
            el("h3", {}, "Repeat it"),
            command(text),
            data.problems[cell.problem].whole_command ? null : convergence(cell, text),
          ]
        : [el("p", { class: "aside" }, "No file to repeat it from."), el("div", { id: "convergence" })],
      facts([
        ["verdict", `${slice.verdict} = ${formatResidual(cell.verdict_value)}`],
        ["stop_by", `${slice.stop_by}, ${slice.start} start`],
        ["iterations", formatCount(cell.iterations)],
        ["factorizations", formatCount(cell.factorizations)],
        ["operator products", formatCount(cell.operator_products)],
        ["contacts", `${cell.open} open, ${cell.stick} stick, ${cell.slip} slip`],
        ["solver's own residual", formatResidual(cell.own_residual)],
        [
          "symmetrised problem",
          cell.symmetrised ? `solved; its verdict ${formatResidual(cell.verdict_symmetrised)}` : "",
        ],
        [
          "compliance added",
          known(cell.compliance_share)
            ? `R = ${formatNumber(cell.compliance_share)} diag(G); with it the verdict is ` +
              `${formatResidual(cell.verdict_compliant)}, natural_map_ccp_scaled ${formatResidual(cell.ccp_compliant)}`
            : "",
        ],
        ["peak memory", cell.peak_memory_kb > 0 ? `${formatNumber(cell.peak_memory_kb / 1024)} MB` : ""],
        ["limits", `${formatTime(cell.limit_s)}, ${formatCount(cell.limit_mb)} MB`],
        ["run", String(cell.run)],
      ]),
      timesTable(cell),
      residualTable(cell),
      el("h3", {}, "Same problem, other tolerances and solvers"),
      resultTable(
        others.map((s) => [solverLink(s), data.slices.map((_, i) => grids[i][cell.problem][s]), s === cell.solver]),
      ),
    ],
  };
}

// rows: [heading node, cells by slice, highlighted]
function resultTable(rows) {
  return el(
    "table",
    {},
    headRow(["", ...data.slices.map((slice) => slice.label)]),
    el(
      "tbody",
      {},
      rows.map(([name, list, marked]) =>
        el(
          "tr",
          { class: marked ? "marked" : null },
          el("th", { scope: "row", class: "left" }, name),
          list.map((cell) => el("td", {}, resultText(cell))),
        ),
      ),
    ),
  );
}

function scenePicture(problem) {
  const image = pictureOf(problem);
  if (!image) return null;
  return el("img", {
    class: "scene",
    src: image,
    alt: `The scene that ${problem.name} is a step of`,
    width: 480,
    height: 360,
  });
}

function problemDetails(p) {
  const problem = data.problems[p];
  const range =
    problem.mu_min === problem.mu_max
      ? formatNumber(problem.mu_min)
      : `${formatNumber(problem.mu_min)} – ${formatNumber(problem.mu_max)}`;
  const estimated = problem.features_estimated ? " (estimated)" : "";
  return {
    title: [problem.name],
    body: [
      !problem.left_out ? null : el("p", { class: "note info" }, `Does not count in shares, ranks and profiles: ${problem.left_out}.`),
      scenePicture(problem),
      facts([
        [data.group.one, familyTitle(problem.family)],
        ["source", problem.source],
        ["kind", `${statusTitle(problem.kind)}, ${problem.space_dimension}D`],
        ["contacts", problem.error ? "" : formatCount(problem.contacts)],
        ["joints", problem.joints > 0 ? formatCount(problem.joints) : ""],
        ["limits", problem.limits > 0 ? formatCount(problem.limits) : ""],
        ["rows", formatCount(problem.rows)],
        [problem.given === "deformable" ? "nonzeros of M and J" : "nonzeros", formatCount(problem.nonzeros)],
        ["friction μ", problem.contacts > 0 ? range : ""],
        ["asymmetry of G", formatResidual(problem.symmetry_error)],
        ["rank", known(problem.rank) ? `${formatCount(problem.rank)} of ${formatCount(problem.rows)}${estimated}` : ""],
        ["conditioning", known(problem.conditioning) ? formatNumber(problem.conditioning) + estimated : ""],
        ["category", problem.category],
        ["content hash", problem.hash],
      ]),
      el("h3", {}, "Results"),
      resultTable(
        data.solvers
          .map((_, s) => s)
          .filter((s) => grids.some((grid) => grid[p][s]))
          .map((s) => [solverLink(s), grids.map((grid) => grid[p][s]), false]),
      ),
    ],
  };
}

function solverDetails(s) {
  const solver = data.solvers[s];
  const scopes = ["", ...data.families];
  const share = (slice, family) => {
    const ranking = data.rankings.find((one) => one.slice === slice && one.family === family);
    const row = ranking && ranking.rows.find((one) => one.solver === s);
    if (!row || ranking.problems === 0) return none;
    const time = known(row.time_common_s) ? el("small", {}, ` ${formatTime(row.time_common_s)}`) : null;
    return el(
      "span",
      { title: `${row.solved} of ${ranking.problems}; time: common subset` },
      formatShare(row.solved_share),
      time,
    );
  };
  const failures = data.problems
    .map((_, p) => p)
    .filter((p) => grids.some((grid) => grid[p][s] && grid[p][s].outcome !== "solved"));
  return {
    title: [swatch(s), " ", solver.label],
    body: [
      facts([
        ["algorithm", `${solver.solver}, version ${solver.version}`],
        ["formulation", solver.formulation],
        ["whose", originText[solver.origin] ?? "not known"],
        ["library", [solver.peer_version, solver.peer_released, solver.peer_build].filter(Boolean).join(", ")],
        ...Object.entries(solver.options).map(([name, value]) => [`option ${name}`, String(value)]),
        ["configuration hash", solver.hash],
      ]),
      el("h3", {}, "Solved share", el("span", { class: "aside" }, "and mean time on the common subset")),
      el(
        "table",
        {},
        headRow(["", ...data.slices.map((slice) => slice.label)]),
        el(
          "tbody",
          {},
          scopes.map((family, i) =>
            el(
              "tr",
              { class: i === 0 ? "marked" : null },
              el("th", { scope: "row", class: "left" }, i === 0 ? `all ${data.group.many}` : familyTitle(family)),
              data.slices.map((_, slice) => el("td", {}, share(slice, family))),
            ),
          ),
        ),
      ),
      el("h3", {}, failures.length > 0 ? `Not solved: ${plural(failures.length, "problem")}` : "Solved everything"),
      failures.length > 0
        ? resultTable(failures.map((p) => [problemLink(p), grids.map((grid) => grid[p][s]), false]))
        : null,
    ],
  };
}

function detailsOf(open) {
  const [kind, number] = open.split(".");
  const index = Number(number);
  if (kind === "cell" && cells[index]) return cellDetails(cells[index]);
  if (kind === "problem" && data.problems[index]) return problemDetails(index);
  if (kind === "solver" && data.solvers[index]) return solverDetails(index);
  return null;
}

function drawDetails() {
  const details = state.open ? detailsOf(state.open) : null;
  if (!details) {
    if (dialog.open) dialog.close();
    return;
  }
  dialog.replaceChildren(
    el(
      "header",
      {},
      el("h2", { id: "details-title" }, details.title),
      el("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×"),
    ),
    el("div", { class: "panel", tabindex: -1, autofocus: true }, details.body.flat(Infinity).filter(Boolean)),
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  if (state.open.startsWith("cell.")) drawStoredTrace(cells[Number(state.open.slice(5))]);
}

// In a cell's panel: left and right to the next solver, up and down to the next problem.
dialog.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  const cell = state.open.startsWith("cell.") && cells[Number(state.open.slice(5))];
  if (!step || !cell || event.target.closest("input, textarea")) return;
  let { problem, solver } = cell;
  for (
    let next;
    (problem += step[0]),
      (solver += step[1]),
      (next = grids[cell.slice][problem]) && solver >= 0 && solver < data.solvers.length;
  ) {
    if (!next[solver]) continue;
    event.preventDefault();
    return update({ open: `cell.${next[solver].index}` });
  }
});

dialog.addEventListener("close", () => update({ open: "" }));
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});

view(["open"], drawDetails);
