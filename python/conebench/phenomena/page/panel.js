// A cell in a panel at the side: what was measured and what is right, the curve, the film, verdicts, and how to repeat it.

const dialog = document.getElementById("details");
const verdictTitles = {
  "equation of motion": "Defect of the equation of motion",
  cone: "Friction beyond the cone",
  "natural map": "Defect of Coulomb's and Signorini's laws",
  penetration: "Overlap",
  "energy gain": "Energy gained",
};
const impulseTitles = { engine: "the engine's", best: "the best admissible" };

// A cell's file, loaded once by a script so that it works from a folder too.
const loaded = new Map();
window.conebenchCell = (name, content) => loaded.set(name, content);
function loadCell(name) {
  if (loaded.has(name)) return Promise.resolve(loaded.get(name));
  return new Promise((resolve, reject) => {
    const script = el("script", {
      src: `cells/${name}.js`,
      onload: () => {
        script.remove();
        if (loaded.has(name)) resolve(loaded.get(name));
        else reject(new Error("it holds another cell"));
      },
      onerror: () => {
        script.remove();
        reject(new Error("it is not there"));
      },
    });
    document.head.append(script);
  });
}

function repeatCommand(cell) {
  const row = data.rows[cell.row];
  const phenomenon = data.phenomena[cell.phenomenon];
  const engine = data.engines.find((one) => one.id === row.engine); // of one's own: its file
  return [
    "conebench phenomena",
    `--engine ${quoted(engine.file || row.engine)}`,
    `--variant ${quoted(row.variant)}`,
    `--phenomenon ${quoted(phenomenon.id)}`,
    `--case '${phenomenon.cases[cell.case].name.replace(/'/g, "'\\''")}'`,
    `--time-step ${row.step}`,
    data.quick ? "--quick" : "",
    "--out again",
  ]
    .filter(Boolean)
    .join(" ");
}

function resultLine(cell, phenomenon) {
  const badge = el(
    "span",
    { class: `badge g${cell.grade}` },
    cell.grade === grades.right ? "✓ right" : gradeText(cell),
  );
  if (cell.outcome !== "measured") return el("p", { class: "result" }, badge);
  return el(
    "p",
    { class: "result" },
    el("b", {}, withUnit(cell.value, phenomenon.unit)),
    el(
      "span",
      { class: "soft" },
      ` where ${cell.upper_bound ? "at most " : ""}${withUnit(cell.exact, phenomenon.unit)} is right`,
    ),
    " ",
    badge,
  );
}

function measuredFacts(cell, phenomenon) {
  const number = (value) =>
    known(value) ? `${Number(value.toPrecision(6))}${phenomenon.unit ? ` ${phenomenon.unit}` : ""}` : null;
  return facts([
    ["Value", number(cell.value)],
    [cell.upper_bound ? "Exact, at most" : "Exact", number(cell.exact)],
    ["Error", number(cell.error)],
    ["Error / scale", known(cell.error) ? percent(relative(cell)) : null],
    ["Allowed by the time step", number(cell.allowed)],
    ["Scale, as wrong as can be", number(cell.scale)],
    ["Time step", milliseconds(data.rows[cell.row].step)],
    ["Took", cell.seconds ? `${short(cell.seconds)} s` : null],
  ]);
}

function verdictTable(verdicts) {
  const names = Object.keys(verdicts).filter((name) => verdicts[name]);
  if (names.length === 0) return null;
  const heads = [
    "",
    "largest",
    "median",
    "unit",
    ...(names.some((name) => verdicts[name].impulses) ? ["with impulses"] : []),
  ];
  const left = (i) => (i === 1 || i === 2 ? null : "left");
  return [
    el("h3", {}, "Judged from outside", el("span", { class: "aside" }, "over the steps of the film")),
    el(
      "table",
      { class: "plain" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map((text, i) => el("th", { scope: "col", class: left(i) }, text)),
        ),
      ),
      el(
        "tbody",
        {},
        names.map((name) =>
          el(
            "tr",
            {},
            el(
              "th",
              { scope: "row", class: "left" },
              verdictTitles[name.replace(/_/g, " ")] ?? capital(name.replace(/_/g, " ")),
            ),
            ["max", "median"].map((part) => el("td", {}, short(verdicts[name][part]))),
            el("td", { class: "left" }, verdicts[name].unit ?? ""),
            heads[4] ? el("td", { class: "left" }, impulseTitles[verdicts[name].impulses] ?? "") : null,
          ),
        ),
      ),
    ),
  ];
}

// The same case on the rows of the matrix, the best first.
function others(cell) {
  const list = shownRows()
    .map((row) => table[row.number][cell.phenomenon].find((one) => one.case === cell.case))
    .filter(Boolean)
    .sort((a, b) => (tried(a) ? a.rank : Infinity) - (tried(b) ? b.rank : Infinity) || 0);
  if (list.length < 2) return null;
  const { unit } = data.phenomena[cell.phenomenon];
  return [
    el("h3", {}, "The same case on other engines", unit ? el("span", { class: "aside" }, unit) : null),
    el(
      "ul",
      { class: "others" },
      list.map((one) =>
        el(
          "li",
          { class: one === cell ? "current" : null },
          cellButton(one, false, { "data-focus": `other.${one.file}`, "aria-current": one === cell ? "true" : null }),
          el("span", {}, rowText(data.rows[one.row])),
        ),
      ),
    ),
  ];
}

function caseChips(cell, phenomenon) {
  if (phenomenon.cases.length < 2) return null;
  const list = table[cell.row][cell.phenomenon];
  return el(
    "div",
    { class: "chips cases", role: "group", "aria-label": "Case" },
    phenomenon.cases.map(({ name }, number) => {
      const one = list.find((found) => found.case === number);
      return el(
        "button",
        {
          type: "button",
          class: "chip",
          disabled: !one,
          "aria-pressed": String(number === cell.case),
          "data-focus": `case.${name}`,
          onclick: () => update({ open: one.file }),
        },
        one ? el("i", { class: `dot g${one.grade}` }, one.grade === grades.right ? "✓" : "") : null,
        name,
      );
    }),
  );
}

let film = null;
let drawAgain = () => {};
const widths = new ResizeObserver(() => drawAgain());
const still = matchMedia("(prefers-reduced-motion: reduce)");

// Curve and film into `place`, what is judged and measured besides into `after`.
function fillPanel(place, after, cell, phenomenon, content) {
  const curves = Object.entries(content.curves).filter(([, [x, y]]) =>
    x.some((value, i) => known(value) && known(y[i])),
  );
  const parts = [];
  const box = el("div", { class: "curve" });
  if (curves.length > 0) parts.push(box);
  if (content.film && content.film.times.length > 0) {
    film = new FilmView(content.film);
    parts.push(film.box);
  }
  if (content.message && cell.outcome !== "cannot" && content.message !== cell.message)
    parts.push(el("pre", {}, content.message));
  place.replaceChildren(...parts);
  const more = Object.entries(content.facts).map(([name, value]) => [name, anyText(value)]);
  after.replaceChildren(
    ...[more.length > 0 ? [el("h3", {}, "Also measured"), facts(more)] : null, verdictTable(content.verdicts)]
      .flat(Infinity)
      .filter(Boolean),
  );
  if (curves.length > 0) {
    // Where the y axis is the value's.
    const own =
      known(cell.exact) &&
      phenomenon.unit &&
      unitOf(phenomenon.axes[1]) === phenomenon.unit &&
      curves.filter(([name]) => !isExact(name)).length === 1;
    const target = own ? { exact: cell.exact, allowed: cell.allowed ?? 0, upperBound: cell.upper_bound } : null;
    let width = 0;
    drawAgain = () => {
      if (box.clientWidth === width || box.clientWidth === 0) return;
      width = box.clientWidth;
      drawCurve(box, Object.fromEntries(curves), phenomenon.axes, target);
    };
    drawAgain();
    widths.observe(box);
  }
  if (film && film.end > film.begin && !still.matches) film.play();
}

function leavePanel() {
  film?.stop();
  film = null;
  widths.disconnect();
  drawAgain = () => {};
}

function drawPanel() {
  const cell = cells.find((one) => one.file === state.open);
  leavePanel();
  if (!cell) {
    if (dialog.open) dialog.close();
    return;
  }
  const focus = dialog.open ? document.activeElement?.dataset?.focus : null;
  const phenomenon = data.phenomena[cell.phenomenon];
  const row = data.rows[cell.row];
  const options =
    data.engines.find((engine) => engine.id === row.engine)?.variants.find((variant) => variant.name === row.variant)
      ?.options ?? {};
  const list = shownPhenomena()
    .map((one) => worst(table[cell.row][one.number]))
    .filter(Boolean);
  const at = list.findIndex((one) => one.phenomenon === cell.phenomenon);
  const step = (by, text, label) =>
    el(
      "button",
      {
        type: "button",
        "aria-label": label,
        title: label,
        disabled: !list[at + by],
        "data-focus": `step.${by}`,
        "data-step": by,
        onclick: () => update({ open: list[at + by].file }),
      },
      text,
    );
  const parameters = phenomenon.cases[cell.case].parameters;
  const place = el("div", { class: "loaded" }, el("p", { class: "soft" }, "…"));
  const after = el("div", { class: "after" });
  const panel = el(
    "div",
    { class: "panel", tabindex: -1 },
    resultLine(cell, phenomenon),
    cell.outcome !== "measured" && cell.message ? el("p", { class: "note" }, cell.message) : null,
    caseChips(cell, phenomenon),
    el("p", { class: "law" }, phenomenon.law),
    phenomenon.quantity
      ? el("p", { class: "soft" }, `Measured: ${phenomenon.quantity}${phenomenon.unit ? ` [${phenomenon.unit}]` : ""}.`)
      : null,
    place,
    cell.outcome === "measured" ? [el("h3", {}, "Measured"), measuredFacts(cell, phenomenon)] : null,
    after,
    others(cell),
    el("h3", {}, "Repeat it"),
    command(repeatCommand(cell)),
    el("p", { class: "soft" }, [
      Object.keys(parameters).length > 0 ? `Case: ${listText(parameters)}. ` : "",
      `Variant ${row.variant}: ${Object.keys(options).length > 0 ? listText(options) : "the engine's own settings"}.`,
    ]),
  );
  dialog.replaceChildren(
    el(
      "header",
      {},
      el(
        "h2",
        { id: "details-title" },
        phenomenon.title,
        el(
          "span",
          { class: "aside" },
          `${phenomenon.cases.length > 1 ? `${phenomenon.cases[cell.case].name} · ` : ""}${rowText(row)}`,
        ),
      ),
      el(
        "div",
        { class: "steps" },
        step(-1, "‹", "Phenomenon before"),
        step(1, "›", "Phenomenon after"),
        el(
          "button",
          {
            type: "button",
            class: "close",
            "aria-label": "Close",
            "data-focus": "close",
            onclick: () => dialog.close(),
          },
          "×",
        ),
      ),
    ),
    panel,
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  const again = focus && dialog.querySelector(`[data-focus="${CSS.escape(focus)}"]:not(:disabled)`);
  (again || panel).focus({ preventScroll: true });
  loadCell(cell.file)
    .then(
      (content) => {
        if (state.open === cell.file && place.isConnected) fillPanel(place, after, cell, phenomenon, content);
      },
      (error) => {
        place.replaceChildren(
          el(
            "p",
            { class: "note warning" },
            `No curve and no film: cells/${cell.file}.js could not be read (${error.message}).`,
          ),
        );
      },
    )
    .finally(() => {
      dialog.dataset.ready = cell.file;
    });
}

dialog.addEventListener("close", () => {
  if (!state.open) return;
  const file = state.open;
  update({ open: "" });
  const cell = cells.find((one) => one.file === file);
  const buttons = [...document.querySelectorAll(`#matrix tbody button.cell[data-focus^="${cell.row}."]`)];
  const id = data.phenomena[cell.phenomenon].id;
  const home = buttons.find((button) =>
    [id, `${id}:${data.phenomena[cell.phenomenon].cases[cell.case].name}`].includes(
      button.dataset.focus.slice(String(cell.row).length + 1),
    ),
  );
  home?.focus({ preventScroll: true });
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
dialog.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, canvas") || event.ctrlKey || event.metaKey || event.altKey) return;
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by) dialog.querySelector(`[data-step="${by}"]:not(:disabled)`)?.click();
});
