// Small parts of the page. Texts from the data go in as text nodes, never as markup.

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) node.style.setProperty(key, text);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function link(text, open, extra = {}) {
  return el(
    "button",
    {
      type: "button",
      class: "link",
      onclick: (event) => {
        event.stopPropagation();
        update({ open }, true);
      },
      ...extra,
    },
    text,
  );
}
// A label that breaks at blanks only, never within a name.
const unbroken = (label) =>
  label.split(" ").flatMap((word, i) => [i > 0 ? " " : "", el("span", { class: "word" }, word)]);
// Names of samples differ at their end, so a long one loses its middle.
const middleOut = (text, most) => {
  const letters = [...text];
  if (letters.length <= most) return text;
  const back = Math.floor(most / 2);
  return `${letters.slice(0, most - back - 1).join("")}…${letters.slice(-back).join("")}`;
};
// Of the simulation that a problem is a step of; the same picture is one address however often it is shown.
const pictures = JSON.parse(document.getElementById("pictures")?.textContent ?? '{"images": [], "of": {}}');
const pictureAddresses = pictures.images.map((image) => `data:image/png;base64,${image}`);
const pictureOf = (problem) => pictureAddresses[pictures.of[problem.hash]];
const thumbnail = (problem) =>
  pictureOf(problem) ? el("img", { class: "thumbnail", src: pictureOf(problem), alt: "", loading: "lazy" }) : null;
const problemLink = (p, extra) => link(data.problems[p].name, `problem.${p}`, extra);

// Where it is narrow a name loses its middle: steps and options, which tell names apart, are at its end.
function narrowLink(name, target) {
  const cut = Math.max(0, name.length - 12);
  return link([el("span", {}, name.slice(0, cut)), el("span", {}, name.slice(cut))], target, {
    class: "link narrow",
    title: name,
  });
}

function badge(cell) {
  const what = cell ? cell.outcome : "not_run";
  return el("span", { class: `badge ${what}` }, outcomeTitle[what]);
}

// One of several, as a row of buttons. options: [{value, title, hint}]
function segmented(label, options, current, choose) {
  return el(
    "div",
    { class: "segmented", role: "group", "aria-label": label },
    options.map(({ value, title, hint }) =>
      el(
        "button",
        {
          type: "button",
          "aria-pressed": String(value === current),
          title: hint,
          onclick: () => choose(value),
        },
        title,
      ),
    ),
  );
}

function select(label, options, current, choose) {
  const list = el(
    "select",
    { "aria-label": label, onchange: (event) => choose(event.target.value) },
    options.map(({ value, title }) => el("option", { value, selected: value === current }, title)),
  );
  return list;
}

function copyButton(text) {
  const button = el(
    "button",
    {
      type: "button",
      class: "copy",
      onclick: () => {
        const done = (word) => {
          button.textContent = word;
          setTimeout(() => {
            button.textContent = "Copy";
          }, 1500);
        };
        // Pages opened as files have no clipboard in some browsers: select the text for the reader instead.
        const fallback = () => {
          getSelection().selectAllChildren(button.parentElement.querySelector("code"));
          done(document.execCommand("copy") ? "Copied" : "Selected");
        };
        if (navigator.clipboard && window.isSecureContext) {
          navigator.clipboard.writeText(text).then(() => done("Copied"), fallback);
        } else fallback();
      },
    },
    "Copy",
  );
  return button;
}

// Broken between options only; the text nodes together are the command.
const command = (text) =>
  el(
    "div",
    { class: "command" },
    el(
      "code",
      {},
      text.split(/ (?=--)/).flatMap((part, i) => (i === 0 ? [el("span", {}, part)] : [" ", el("span", {}, part)])),
    ),
    copyButton(text),
  );

// Compares by value; what is missing goes last whichever way the column is sorted.
function comparing(value, descending) {
  return (a, b) => {
    const x = value(a);
    const y = value(b);
    if (!known(x) || !known(y)) return known(y) - known(x);
    const order = typeof x === "string" ? byName(x, y) : x - y;
    return descending ? -order : order;
  };
}

const columnClass = ({ left, priority }) =>
  [left ? "left" : "", priority > 1 ? `p${priority}` : ""].filter(Boolean).join(" ") || null;

// A table whose headings sort. columns: [{id, title, hint, left, priority, value(row), show(row)}]; sort: "id" or "-id".
// most: rows that are shown.
function sortable(columns, rows, sort, onSort, attributes = {}, rowAttributes = () => ({}), most = Infinity) {
  const key = sort.replace(/^-/, "");
  const column = columns.find((one) => one.id === key);
  const inOrder = column ? [...rows].sort(comparing(column.value, sort.startsWith("-"))) : rows;
  const sorted = inOrder.slice(0, most);
  const head = el(
    "tr",
    {},
    columns.map((one) => {
      const current = one.id === key;
      const direction = sort.startsWith("-") ? "descending" : "ascending";
      return el(
        "th",
        { scope: "col", class: columnClass(one), "aria-sort": current ? direction : null },
        one.value
          ? el(
              "button",
              {
                type: "button",
                title: one.hint,
                "data-sort": one.id,
                onclick: () => {
                  const first = one.descending ? `-${one.id}` : one.id;
                  const second = one.descending ? one.id : `-${one.id}`;
                  onSort(sort === first ? second : first);
                },
              },
              one.title,
            )
          : one.title,
      );
    }),
  );
  const body = sorted.map((row) =>
    el(
      "tr",
      rowAttributes(row),
      columns.map((one) => el("td", { class: columnClass(one) }, one.show(row))),
    ),
  );
  return el("table", attributes, el("thead", {}, head), el("tbody", {}, body));
}

function facts(pairs) {
  return el(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value !== null && value !== "")
      .map(([name, value]) =>
        el("div", { class: value.length > 42 ? "wide" : null }, el("dt", {}, name), el("dd", {}, value)),
      ),
  );
}

// A section's heading, with the address of the section.
const sectionTitle = (id, text, aside = "") =>
  el(
    "h2",
    { id: `${id}-title` },
    text,
    aside ? el("span", { class: "aside" }, aside) : "",
    el("a", { class: "anchor", href: `#${id}`, "aria-label": `Link to the section ${text}`, title: "Link to this section" }, "#"),
  );

const card = (...children) => el("div", { class: "card" }, ...children);
const scroller = (node, attributes = {}) =>
  el("div", { class: "scroll", tabindex: 0, role: "region", ...attributes }, node);
