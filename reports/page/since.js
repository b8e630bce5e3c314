// What changed since an earlier run of the suite, as `conebench compare` judges it.

const since = JSON.parse(document.getElementById("since")?.textContent ?? "null");
const sinceRows = 60;
const assessmentTone = {
  worse: "false_claim",
  better: "solved",
  undecided: "unsupported",
  same: "unsupported",
  new: "not_run",
};
const indexOfKey = new Map(cells.map((cell) => [cell.key, cell.index]));

function changedConfigurations(slice) {
  const reported = slice.configurations.filter(({ assessment }) => assessment === "worse" || assessment === "better");
  if (reported.length === 0) return null;
  const percent = (log) => `${log >= 0 ? "+" : "−"}${formatNumber(Math.abs(100 * Math.expm1(log)))}\u00a0%`;
  return scroller(
    el(
      "table",
      { class: "fit" },
      headRow(
        [`at ${formatExponent(slice.tolerance, 0)}${slice.start === "cold" ? "" : `, ${slice.start}`}`, "time", "why"],
        [],
        3,
      ),
      el(
        "tbody",
        {},
        reported.map((one) =>
          el(
            "tr",
            {},
            el(
              "th",
              { scope: "row", class: "left" },
              el("span", { class: `badge ${assessmentTone[one.assessment]}` }, one.assessment),
              ` ${one.configuration}`,
            ),
            el("td", { class: "left" }, one.times ? percent(one.times.corrected) : none),
            el("td", { class: "left long" }, one.why),
          ),
        ),
      ),
    ),
    { "aria-label": "Configurations that changed" },
  );
}

function changedCells() {
  const list = since.changed_cells;
  if (list.length === 0) return el("p", {}, "Every cell of both runs ended alike.");
  return el(
    "details",
    { class: "fold", open: list.length <= 12 },
    el("summary", {}, `Cells that changed (${formatCount(list.length + since.changed_cells_left_out)})`),
    scroller(
      el(
        "table",
        { class: "fit" },
        headRow(["", "problem", "configuration", "before", "now"], [], 5),
        el(
          "tbody",
          {},
          list.slice(0, sinceRows).map((one) => {
            const position = indexOfKey.get(one.candidate_key);
            const text = `${one.change}, ${formatExponent(one.tolerance, 0)}`;
            return el(
              "tr",
              {},
              el("th", { scope: "row", class: "left" }, position === undefined ? text : link(text, `cell.${position}`)),
              [one.problem, one.configuration, one.baseline, one.candidate].map((text) => el("td", { class: "left" }, text)),
            );
          }),
        ),
      ),
      { "aria-label": "Cells that changed" },
    ),
  );
}

function drawSince() {
  const section = document.getElementById("since-view");
  section.hidden = !since;
  document.querySelector('nav a[href="#since-view"]').hidden = !since;
  if (!since) return;
  const before = since.baseline.runs[0];
  section.replaceChildren(
    el("div", { class: "heading" }, sectionTitle("since-view", "Since the last run")),
    card(
      el(
        "p",
        { class: "lead" },
        el("b", {}, since.headline),
        before ? `, against ${before.started_utc.slice(0, 10)}, ${before.version} (${before.commit.slice(0, 10)})` : "",
      ),
      since.times_compared ? null : el("p", { class: "note" }, `Times are not compared: ${since.times_refused}`),
      since.slices.map(changedConfigurations),
      changedCells(),
    ),
  );
}

view([], drawSince);
