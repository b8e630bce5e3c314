// What changed since an earlier run of the suite, as `conebench compare` judges it.

const since = JSON.parse(document.getElementById("since")?.textContent ?? "null");
const sinceRows = 60;
const outlookTone = {
  worse: "false_claim",
  better: "solved",
  undecided: "unsupported",
  same: "unsupported",
  added: "not_run",
};
const placeOfKey = new Map(cells.map((cell) => [cell.key, cell.index]));

function changedSettings(slice) {
  const told = slice.settings.filter(({ outlook }) => outlook === "worse" || outlook === "better");
  if (told.length === 0) return null;
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
        told.map((one) =>
          el(
            "tr",
            {},
            el(
              "th",
              { scope: "row", class: "left" },
              el("span", { class: `badge ${outlookTone[one.outlook]}` }, one.outlook),
              ` ${one.setting}`,
            ),
            el("td", { class: "left" }, one.times ? percent(one.times.corrected) : none),
            el("td", { class: "left long" }, one.why),
          ),
        ),
      ),
    ),
    { "aria-label": "Settings that changed" },
  );
}

function changedCells() {
  const list = since.changed_cells;
  if (list.length === 0) return el("p", {}, "Every cell that both runs have ended alike.");
  return el(
    "details",
    { class: "fold", open: list.length <= 12 },
    el("summary", {}, `Cells that changed (${formatCount(list.length + since.changed_cells_left_out)})`),
    scroller(
      el(
        "table",
        { class: "fit" },
        headRow(["", "problem", "setting", "before", "now"], [], 5),
        el(
          "tbody",
          {},
          list.slice(0, sinceRows).map((one) => {
            const place = placeOfKey.get(one.new_key);
            const text = `${one.change}, ${formatExponent(one.tolerance, 0)}`;
            return el(
              "tr",
              {},
              el("th", { scope: "row", class: "left" }, place === undefined ? text : link(text, `cell.${place}`)),
              [one.problem, one.setting, one.base, one.new].map((words) => el("td", { class: "left" }, words)),
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
  const before = since.base.runs[0];
  section.replaceChildren(
    el("div", { class: "heading" }, el("h2", { id: "since-view-title" }, "Since the last run")),
    card(
      el(
        "p",
        { class: "lead" },
        el("b", {}, since.headline),
        before ? `, against ${before.started_utc.slice(0, 10)}, ${before.version} (${before.commit.slice(0, 10)})` : "",
      ),
      since.times_compared ? null : el("p", { class: "note" }, `Times are not compared: ${since.times_refused}`),
      since.slices.map(changedSettings),
      changedCells(),
    ),
  );
}

view([], drawSince);
