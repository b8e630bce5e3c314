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


// A run can be found noisy by its cells, as a note says.
function noiseReports() {
  const reported = data.notes.filter(({ of_noise }) => of_noise);
  return distinct([...data.runs.flatMap((run) => run.noise), ...reported.map(({ text }) => text)]);
}

function machineTile() {
  const machines = distinct(data.runs.map((run) => run.machine.cpu));
  const noise = noiseReports();
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

// "150 of 166 problems at 1e-8 (90.1 % with families of equal weight)"
function solvedText(row, ranking) {
  const equal = ranking.families > 1 ? ` with ${data.group.many} of equal weight` : "";
  return [
    el("b", {}, `${formatCount(row.solved)} of ${plural(ranking.problems, "problem")}`),
    ` at ${data.slices[ranking.slice].label} (${formatShare(row.solved_share)}${equal})`,
  ];
}

const whose = (row) => (isOwn(row.solver) ? ` (${originText.own})` : "");

// What a row costs, against the first one's.
function costText(row, first, ranking) {
  if (!data.times_shown) {
    return known(row.median_iterations) ? `, ${formatNumber(row.median_iterations)} iterations in the median` : "";
  }
  if (!known(row.time_at_limit_s)) return "";
  if (row === first) {
    const limit = row.solved < ranking.problems ? ", with the time limit where it fails" : "";
    return `, in ${formatTime(row.time_at_limit_s)} each (geometric mean${limit})`;
  }
  return `, in ${formatTime(row.time_at_limit_s)}`;
}

// What stands beside a result whose times may be wrong.
function timeCaveats(rows) {
  if (!data.times_shown) return [];
  const caveats = rows
    .filter((row) => Object.keys(row.doubts).length > 0)
    .map((row) => {
      const cells = Object.values(row.doubts).reduce((a, b) => a + b, 0);
      return `Times of ${data.solvers[row.solver].label} are doubtful in ${plural(cells, "cell")} (marked ?).`;
    });
  if (noiseReports().length > 0) caveats.push("Times are noisy: other work disturbed the run.");
  return caveats;
}

// The answer: who solves most, how fast, who comes next, and the first that is not by Conebench's authors.
function drawResult() {
  const ranking = currentRanking();
  const rows = ranking?.rows ?? [];
  if (rows.length === 0) return el("p", { class: "result-line" }, "Nothing was measured.");
  const among = state.only === "" && state.own === "" ? "" : ` Among the ${plural(rows.length, "solver")} that are shown.`;
  const where = state.family ? `${capital(data.group.one)} ${familyTitle(state.family)}: ` : "";
  const [first, second] = rows;
  if (first.solved === 0) {
    return el(
      "p",
      { class: "result-line" },
      `${where}none of ${plural(rows.length, "solver")} solves any of ${plural(ranking.problems, "problem")} at ${data.slices[ranking.slice].label}.${among}`,
    );
  }
  const others = isOwn(first.solver) ? rows.find((row) => !isOwn(row.solver)) : undefined;
  const named = distinct([first, second, others].filter(Boolean));
  const caveats = timeCaveats(named);
  return el(
    "div",
    { class: "result-line" },
    el(
      "p",
      {},
      where,
      solverLink(first.solver),
      `${whose(first)} solves `,
      solvedText(first, ranking),
      costText(first, first, ranking),
      ".",
    ),
    second
      ? el(
          "p",
          { class: "next" },
          "Next: ",
          solverLink(second.solver),
          `${whose(second)} solves ${formatCount(second.solved)}`,
          costText(second, first, ranking),
          ".",
          others && others !== second
            ? [
                " First by other authors: ",
                solverLink(others.solver),
                ` solves ${formatCount(others.solved)}`,
                costText(others, first, ranking),
                ".",
              ]
            : "",
          among,
        )
      : among,
    caveats.length > 0 ? el("p", { class: "caveat" }, caveats.join(" ")) : "",
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
      `${countFamilies(data.families.length)}${left > 0 ? ` · ${left} more that do not count` : ""}`,
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
    data.runs.length > 0 ? machineTile() : null,
  );
}

// With the date of its release, where a solver of it tells.
function libraryText(name, version) {
  const released = data.solvers.find((solver) => solver.peer_version === version && solver.peer_released)?.peer_released;
  return `${name} ${version}${released ? ` of ${released}` : ""}`;
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
          `${formatCount(run.machine.memory_mb)} MB, ${run.machine.kernel}, governor ${run.machine.governor}`,
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
            .map(([name, version]) => libraryText(name, version))
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
    el("summary", {}, `Problems that do not count in shares, ranks and profiles (${left.length})`),
    el(
      "ul",
      { class: "reasons" },
      left.map((p) => el("li", {}, problemLink(p), `: ${data.problems[p].left_out}`)),
    ),
  );
}

// Warnings stand under the result; the first few at once.
const warningsAtOnce = 3;
function warningList() {
  const warnings = data.notes.filter(({ level }) => level === "warning");
  const list = (notes) => el("ul", { class: "notes" }, notes.map((note) => el("li", { class: note.level }, note.text)));
  if (warnings.length === 0) return "";
  const rest = warnings.slice(warningsAtOnce);
  return [
    list(warnings.slice(0, warningsAtOnce)),
    rest.length > 0
      ? el("details", {}, el("summary", {}, `${plural(rest.length, "more warning")}`), list(rest))
      : "",
  ];
}

function drawOverview() {
  document.getElementById("overview").replaceChildren(
    ...[drawResult(), ownSwitch(), warningList()].flat(Infinity).filter(Boolean),
  );
}

function drawRuns() {
  const suites = distinct(data.runs.map((run) => run.suite_text)).filter(Boolean);
  const notes = data.notes.filter(({ level }) => level !== "warning");
  document.getElementById("runs").replaceChildren(
    el("div", { class: "heading" }, sectionTitle("runs", "What was run")),
    drawTiles(),
    notes.length > 0 ? el("ul", { class: "notes" }, notes.map((note) => el("li", { class: note.level }, note.text))) : "",
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
view(["slice", "family"], drawRuns);
