// What was run, where, and what to beware of.

function tile(title, value, detail, extra = null) {
  return el(
    "div",
    { class: "tile" },
    el("div", { class: "tile-title" }, title),
    el("div", { class: "tile-value" }, value),
    el("div", { class: "tile-detail" }, detail),
    extra,
  );
}

const distinct = (values) => [...new Set(values)];

function machineTile() {
  const machines = distinct(data.runs.map((run) => run.machine.cpu));
  // A run can be found noisy by its cells, as a note says.
  const reported = data.notes.filter(({ of_noise }) => of_noise);
  const noise = distinct([...data.runs.flatMap((run) => run.noise), ...reported.map(({ text }) => text)]);
  const governors = distinct(data.runs.map((run) => run.machine.governor));
  const cores = distinct(data.runs.map((run) => run.machine.cores));
  const reported_quiet = data.runs.every((run) => run.load_known);
  const [word, title] =
    noise.length > 0
      ? ["noisy", noise.join("; ")]
      : reported_quiet
        ? ["quiet", "Cells of 5 ms or more took as long in the median as at best"]
        : ["load not known", "Too few cells of 5 ms or more to tell whether other processes ran meanwhile"];
  const state = el("span", { class: `flag ${word.split(" ")[0]}`, title }, word);
  return tile(
    "Machine",
    machines.length === 1 ? el("span", { class: "small-value" }, machines[0]) : plural(machines.length, "machine"),
    [`${cores.join(" / ")} cores · governor ${governors.join(" / ")} · `, state],
  );
}

function winnerTile() {
  const ranking = currentRanking();
  const best = ranking && ranking.rows[0];
  if (!best || best.solved === 0) return tile("First in the ranking", none, "no solver solved anything");
  const time = known(best.time_at_limit_s) ? ` · ${formatTime(best.time_at_limit_s)} at limit` : "";
  const family = state.family ? `, ${familyTitle(state.family)}` : "";
  return tile(
    `First at ${data.slices[state.slice].label}${family}`,
    el("span", { class: "small-value" }, solverLink(best.solver)),
    `${formatShare(best.solved_share)} solved${time}${isOwn(best.solver) ? ` · ${originText.own}` : ""}`,
  );
}

function drawTiles() {
  const ranking = currentRanking();
  const counted = data.problems.filter((problem) => problem.counted[state.slice]).length;
  const left = data.problems.length - counted;
  const tolerances = distinct(data.slices.map((slice) => slice.tolerance)).length;
  const configurations = data.solvers.filter((_, s) => isIn(s));
  return el(
    "div",
    { class: "tiles" },
    tile(
      "Problems",
      formatCount(counted),
      `${countFamilies(data.families.length)}${left > 0 ? ` · ${left} left out of headlines` : ""}`,
    ),
    tile(
      "Solver configurations",
      formatCount(configurations.length),
      `of ${plural(distinct(configurations.map((configuration) => configuration.solver)).length, "algorithm")}`,
    ),
    tile("Cells", formatCount(cells.filter((cell) => isIn(cell.solver)).length), `at ${plural(tolerances, "tolerance")}`),
    ranking
      ? tile(
          "Solved by some solver",
          `${ranking.solved_by_any} / ${ranking.problems}`,
          known(ranking.best_of_all_s)
            ? `best of each problem: ${formatTime(ranking.best_of_all_s)}`
            : "at this tolerance",
        )
      : null,
    ranking ? winnerTile() : null,
    data.runs.length > 0 ? machineTile() : null,
  );
}

function runsTable() {
  const rows = data.runs.map((run) =>
    el(
      "tr",
      {},
      el("td", { class: "left" }, String(run.id)),
      el("td", { class: "left" }, run.suite),
      el(
        "td",
        { class: "left" },
        run.started.replace("T", " ").replace("Z", ""),
        run.finished ? "" : el("span", { class: "flag noisy" }, "unfinished"),
      ),
      el("td", { class: "left" }, `${run.mode}, ${plural(run.jobs, "job")}, seed ${run.seed}`),
      el(
        "td",
        { class: "left" },
        `${run.machine.host}: ${run.machine.cpu}, ${run.machine.cores} cores, ` +
          `${formatCount(run.machine.memory_mb)} MB, Linux ${run.machine.kernel}, governor ${run.machine.governor}`,
      ),
      el(
        "td",
        { class: "left" },
        `load ${formatNumber(run.load_before)} → ${formatNumber(run.load_after)}, ` +
          `steal ${formatShare(run.steal_share)}${run.noise.length > 0 ? `; ${run.noise.join("; ")}` : ""}`,
      ),
      el(
        "td",
        { class: "left" },
        `${run.build.version} ${run.build.commit}, ${run.build.compiler} ${run.build.flags}; ` +
          Object.entries(run.build.libraries)
            .map(([name, version]) => `${name} ${version}`)
            .join(", "),
      ),
    ),
  );
  const head = ["run", "suite", "started (UTC)", "mode", "machine", "noise", "build"];
  return scroller(
    el(
      "table",
      { class: "wrap" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head.map((title) => el("th", { scope: "col", class: "left" }, title)),
        ),
      ),
      el("tbody", {}, rows),
    ),
    { "aria-label": "Runs" },
  );
}

function leftOutList() {
  const left = data.problems.map((_, p) => p).filter((p) => data.problems[p].left_out);
  if (left.length === 0) return null;
  return el(
    "details",
    {},
    el("summary", {}, `Problems left out of headlines (${left.length})`),
    el(
      "ul",
      { class: "reasons" },
      left.map((p) => el("li", {}, problemLink(p), `: ${data.problems[p].left_out}`)),
    ),
  );
}

function drawOverview() {
  const suites = distinct(data.runs.map((run) => run.suite_text)).filter(Boolean);
  document.getElementById("overview").replaceChildren(
    drawTiles(),
    data.notes.length > 0
      ? el(
          "ul",
          { class: "notes" },
          data.notes.map((note) => el("li", { class: note.level }, note.text)),
        )
      : "",
    el(
      "div",
      { class: "folds" },
      leftOutList() || "",
      el("details", {}, el("summary", {}, "Runs, machine and build"), runsTable()),
      ...suites.map((text) => el("details", {}, el("summary", {}, "Suite file"), el("pre", {}, text))),
    ),
  );
}

view(["slice", "family"], drawOverview);
