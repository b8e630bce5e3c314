// Small parts of the page. Texts from the data go in as text nodes, never as markup.

function el(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const known = (value) => value !== null && value !== undefined;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// Three digits, or a power of ten where these would be long; the same as in the other formats.
function short(value) {
  if (!known(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(Number(value.toPrecision(3)));
  if (size < 1e-2 || size >= 1e5) return value.toExponential(1).replace("e+", "e");
  return value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(size))));
}

const withUnit = (value, unit) => (unit && known(value) ? `${short(value)} ${unit}` : short(value));

function percent(share) {
  if (!Number.isFinite(share)) return "–";
  const value = 100 * share;
  return `${value > 0 && value < 0.1 ? "< 0.1" : value < 9.95 ? value.toFixed(1) : value < 1e5 ? value.toFixed(0) : short(value)} %`;
}

const milliseconds = (step) => `${Number((1e3 * step).toPrecision(6))} ms`;

// Of a fact or an option.
function anyText(value) {
  if (!known(value)) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number")
    return Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : Number(value.toPrecision(5)).toString();
  if (Array.isArray(value)) return value.map(anyText).join(", ");
  return typeof value === "object" ? listText(value) : String(value);
}

const listText = (mapping) =>
  Object.entries(mapping)
    .map(([name, value]) => `${name} ${anyText(value)}`)
    .join(", ");

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
          "data-focus": `${label}.${value}`,
          onclick: () => choose(value),
        },
        title,
      ),
    ),
  );
}

// Several of several: none pressed is all. Choosing one again takes it out.
function chips(label, names, chosen, choose) {
  return el(
    "div",
    { class: "chips", role: "group", "aria-label": label },
    names.map((name) =>
      el(
        "button",
        {
          type: "button",
          class: "chip",
          "aria-pressed": String(chosen.includes(name)),
          "data-focus": `${label}.${name}`,
          onclick: () => choose(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]),
        },
        name,
      ),
    ),
  );
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
        if (navigator.clipboard && window.isSecureContext)
          navigator.clipboard.writeText(text).then(() => done("Copied"), fallback);
        else fallback();
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
      text.split(/ (?=--)/).flatMap((part, i) => [i > 0 ? " " : "", el("span", {}, part)]),
    ),
    copyButton(text),
  );

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

function facts(pairs) {
  return el(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => known(value) && value !== "")
      .map(([name, value]) =>
        el("div", { class: name.length + value.length > 40 ? "wide" : null }, el("dt", {}, name), el("dd", {}, value)),
      ),
  );
}

const card = (...children) => el("div", { class: "card" }, ...children);
const scroller = (node, attributes = {}) =>
  el("div", { class: "scroll", tabindex: 0, role: "region", ...attributes }, node);

// A colour of the style as a canvas needs it: [r, g, b].
function colourOf(name) {
  const probe = el("i", { style: `color: var(--${name}); display: none` });
  document.body.append(probe);
  const numbers = getComputedStyle(probe)
    .color.match(/[\d.]+/g)
    .map(Number);
  probe.remove();
  return numbers.slice(0, 3);
}
