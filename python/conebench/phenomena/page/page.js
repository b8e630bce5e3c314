// The page about the matrix, and the first drawing.

function drawAbout() {
  const rows = new Set(data.rows.map((row) => row.engine)).size;
  const machine = [data.machine.cpu, data.machine.system].filter(Boolean).join(", ");
  const parts = [
    plural(rows, "engine"),
    `${data.phenomena.length} ${data.phenomena.length === 1 ? "phenomenon" : "phenomena"}`,
    `${cells.length.toLocaleString("en")} cells`,
    data.date,
  ].filter(Boolean);
  document
    .getElementById("about")
    .replaceChildren(
      parts.join(" · "),
      data.quick ? el("span", { class: "tag", title: "Not every case of every phenomenon" }, "quick") : "",
    );
  document.getElementById("footer").textContent =
    `Conebench ${data.conebench}${machine ? `, on ${machine}` : ""}. Engines are judged from outside: by bodies' poses and velocities, and by contact impulses where they show them. Keys: arrows and Enter in the matrix, arrows and Esc in a panel.`;
}

function drawPhenomena() {
  document.getElementById("phenomena").replaceChildren(
    el("h2", { id: "phenomena-title" }, "What is measured, and what is right"),
    card(
      data.groups.map((group) =>
        el(
          "details",
          {},
          el(
            "summary",
            {},
            el("b", {}, capital(group)),
            ` ${data.phenomena
              .filter((one) => one.group === group)
              .map((one) => one.title)
              .join(" · ")}`,
          ),
          el(
            "dl",
            { class: "laws" },
            data.phenomena
              .filter((one) => one.group === group)
              .flatMap((one) => [
                el("dt", {}, one.title, el("code", {}, one.id)),
                el(
                  "dd",
                  {},
                  one.law,
                  one.quantity
                    ? el("span", { class: "soft" }, ` Measured: ${one.quantity}${one.unit ? ` [${one.unit}]` : ""}.`)
                    : null,
                  one.cases.length > 1
                    ? el(
                        "span",
                        { class: "soft" },
                        " Cases: ",
                        one.cases.map(({ name }, i) => [i > 0 ? "; " : "", el("span", { class: "word" }, name)]),
                        ".",
                      )
                    : null,
                ),
              ]),
          ),
        ),
      ),
    ),
  );
}

// With roles, since a phone shows a row's cells below each other.
function engineCells(engine) {
  const used = data.rows.filter((row) => row.engine === engine.id);
  const variants = engine.variants.filter(({ name }) => used.length === 0 || used.some((row) => row.variant === name));
  const isBest = (name) => name !== "best" && used.some((row) => row.variant === name && row.best);
  return [
    el("th", { scope: "row", role: "rowheader", class: "left top" }, engine.id),
    [engine.package, engine.about.version, engine.about.released, engine.about.precision].map((text) =>
      el("td", { role: "cell", class: `left top${text ? "" : " none"}` }, text || "–"),
    ),
    el(
      "td",
      { role: "cell", class: "left top" },
      engine.missing ? el("p", { class: "note warning" }, engine.missing) : null,
      el(
        "dl",
        { class: "variants" },
        variants.flatMap(({ name, options }) => [
          el("dt", {}, name, isBest(name) ? el("span", { class: "tag" }, "best") : null),
          el("dd", {}, Object.keys(options).length > 0 ? listText(options) : "the engine's own settings"),
        ]),
      ),
    ),
  ];
}

function drawEngines() {
  const heads = ["Engine", "Package", "Version", "Released", "Precision", "Variants and their options"];
  document.getElementById("engines").replaceChildren(
    el("h2", { id: "engines-title" }, "Engines"),
    card(
      scroller(
        el(
          "table",
          { class: "plain engines", role: "table" },
          el(
            "thead",
            { role: "rowgroup" },
            el(
              "tr",
              { role: "row" },
              heads.map((text) => el("th", { scope: "col", role: "columnheader", class: "left" }, text)),
            ),
          ),
          el(
            "tbody",
            { role: "rowgroup" },
            data.engines.map((engine) => el("tr", { role: "row" }, engineCells(engine))),
          ),
        ),
        { "aria-label": "Engines" },
      ),
    ),
  );
}

// Changes the state, the address and what depends on them. `step`: the browser's back button undoes it.
function update(change, step = false) {
  Object.assign(state, change);
  writeHash(step);
  if (Object.keys(change).some((name) => name !== "open")) drawMatrix();
  if ("open" in change) drawPanel();
}

// By the browser's buttons, or by hand.
window.addEventListener("popstate", () => {
  readHash();
  drawMatrix();
  drawPanel();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => film?.draw());
for (const anchor of document.querySelectorAll("a.skip")) {
  anchor.addEventListener("click", (event) => {
    // the address keeps the page's state
    event.preventDefault();
    document.getElementById(anchor.getAttribute("href").slice(1)).scrollIntoView();
  });
}

readHash();
drawAbout();
drawMatrix();
drawPhenomena();
drawEngines();
drawPanel();
document.documentElement.dataset.ready = "yes";

// For the console and the tests.
window.conebench = { data, cells, state, update, short };
