// Line charts as SVG: axes with ticks, curves in colour in front of grey ones, labels at their ends, a reading under the
// pointer. Colours are the page's variables, so that a change of theme draws nothing anew.

const svgNamespace = "http://www.w3.org/2000/svg";
function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (known(value) && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity));
  return node;
}

// At most `most` values at 1, 2 or 5 times a power of ten.
function linearTicks(begin, end, most) {
  const rough = (end - begin) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((times) => times * power >= rough * (1 - 1e-9)) * power;
  const values = [];
  for (let k = Math.ceil(begin / step - 1e-9); k * step <= end * (1 + 1e-12); ++k)
    values.push(Number((k * step).toPrecision(12)));
  return values;
}

// A range with room for marks at its ends.
function roomy(values, share = 0.05) {
  const [low, high] = [
    values.reduce((a, b) => Math.min(a, b), Infinity),
    values.reduce((a, b) => Math.max(a, b), -Infinity),
  ];
  const room = high > low ? share * (high - low) : Math.max(1, Math.abs(high)) * share;
  return [low - room, high + room];
}

// At least two values wherever begin < end: powers of ten, with digits between them where these are few.
function logTicks(begin, end, most) {
  const first = Math.floor(Math.log10(begin));
  const last = Math.ceil(Math.log10(end));
  const ladder = (digits, step = 1) => {
    const values = [];
    for (let k = first; k <= last; ++k) {
      if (k % step === 0) values.push(...digits.map((digit) => digit * 10 ** k));
    }
    return values.filter((value) => value >= begin * (1 - 1e-9) && value <= end * (1 + 1e-9));
  };
  const ladders = [ladder([1, 1.5, 2, 3, 4, 5, 6, 8]), ladder([1, 2, 5]), ladder([1, 3])];
  for (let step = 1; step <= last - first + 1; ++step) ladders.push(ladder([1], step));
  const fitting = ladders.find((values) => values.length <= most);
  return fitting && fitting.length > 1 ? fitting : linearTicks(begin, end, most);
}

const ticksOf = (axis, most) =>
  axis.ticks ??
  (axis.log ? logTicks(axis.range[0], axis.range[1], most) : linearTicks(axis.range[0], axis.range[1], most));

function scaleOf(axis, from, to) {
  const place = axis.log ? (value) => Math.log10(value) : (value) => value;
  const [begin, end] = axis.range.map(place);
  return (value) => from + ((place(value) - begin) / (end - begin)) * (to - from);
}

const measuring = document.createElement("canvas").getContext("2d");
function textWidth(text, style = "12px") {
  measuring.font = `${style} ${getComputedStyle(document.documentElement).getPropertyValue("--font")}`;
  return measuring.measureText(text).width;
}

// Places `wanted`, in order, moved apart until neighbours are `gap` apart, within [top, bottom] where they fit.
function spread(wanted, gap, top, bottom) {
  const places = [];
  for (const place of wanted) {
    places.push(Math.max(place, places.length > 0 ? places[places.length - 1] + gap : top));
  }
  let end = bottom;
  for (let i = places.length - 1; i >= 0 && places[i] > end; --i, end -= gap) places[i] = end;
  return places;
}

// Corners in pixels; a step function holds each value up to the next place.
function cornersOf(series, x, y) {
  const corners = [];
  series.x.forEach((value, i) => {
    const px = x(value);
    if (series.step && i > 0) corners.push([px, corners[corners.length - 1][1]]);
    corners.push([px, y(series.y[i])]);
  });
  return corners;
}

const pathOf = (corners) =>
  corners.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

function distanceToSegment([px, py], [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length));
  return Math.hypot(px - ax - t * (bx - ax), py - ay - t * (by - ay));
}

function axisParts(spec, x, y, box) {
  const text = (content, attributes) => svg("text", { class: "axis", ...attributes }, content);
  const parts = [];
  const across = ticksOf(spec.x, Math.max(2, Math.floor((box.right - box.left) / (spec.x.tickWidth ?? 58))));
  for (const value of across) {
    const place = x(value).toFixed(1);
    parts.push(
      svg("line", { class: "grid", x1: place, x2: place, y1: box.top, y2: box.bottom }),
      text(spec.x.format(value), { x: place, y: box.bottom + 16, "text-anchor": "middle", "data-axis": "x" }),
    );
  }
  for (const value of ticksOf(spec.y, Math.max(2, Math.floor((box.bottom - box.top) / 34)))) {
    const place = y(value);
    parts.push(
      svg("line", { class: "grid", x1: box.left, x2: box.right, y1: place.toFixed(1), y2: place.toFixed(1) }),
      text(spec.y.format(value), {
        x: box.left - 6,
        y: (place + 4).toFixed(1),
        "text-anchor": "end",
        "data-axis": "y",
      }),
    );
  }
  if (spec.x.zero) parts.push(svg("line", { class: "zero", x1: x(0), x2: x(0), y1: box.top, y2: box.bottom }));
  parts.push(
    svg("line", { class: "frame", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
    svg("line", { class: "frame", x1: box.left, x2: box.left, y1: box.top, y2: box.bottom }),
  );
  if (spec.x.title) {
    parts.push(text(spec.x.title, { x: (box.left + box.right) / 2, y: box.bottom + 34, "text-anchor": "middle" }));
  }
  if (spec.y.title) parts.push(text(spec.y.title, { x: box.left - 6, y: box.top - 8, "text-anchor": "start" }));
  return parts;
}

// A point of a series: a disc, a ring where it is hollow, or a triangle up or down.
function mark(one, k, x, y) {
  const colour = one.colours?.[k] ?? one.colour;
  const hollow = one.hollow?.[k] || one.triangles;
  const style = `fill: ${hollow ? "var(--card)" : colour}; stroke: ${hollow ? colour : "none"}`;
  const radius = one.radius ?? 3;
  if (!one.triangles) return svg("circle", { class: "mark", style, cx: x.toFixed(1), cy: y.toFixed(1), r: radius });
  const up = one.triangles[k] === "up" ? -1 : 1;
  return svg("path", {
    class: "mark",
    style,
    d: `M${x - radius} ${y - up * radius}L${x + radius} ${y - up * radius}L${x} ${y + up * radius}Z`,
  });
}

// A label takes a quarter of the chart at most.
const endLabel = (series, width) => middleOut(series.label ?? "", Math.max(14, Math.floor(width / 28)));

function endLabels(series, corners, box, width) {
  const labelled = series
    .map((one, i) => ({ one, end: corners[i][corners[i].length - 1] }))
    .filter(({ one, end }) => one.front && one.label && end);
  labelled.sort((a, b) => a.end[1] - b.end[1]);
  const places = spread(
    labelled.map(({ end }) => end[1]),
    15,
    box.top,
    box.bottom,
  );
  return labelled.flatMap(({ one, end }, i) => [
    svg("path", {
      class: "leader",
      style: `stroke: ${one.colour}`,
      d: `M${box.right} ${end[1].toFixed(1)}L${box.right + 12} ${places[i].toFixed(1)}`,
    }),
    svg(
      "text",
      {
        class: "label",
        style: `fill: ${one.colour}`,
        x: box.right + 15,
        y: (places[i] + 4).toFixed(1),
        "data-label": one.label,
      },
      endLabel(one, width),
    ),
  ]);
}

// spec: {x, y: {title, range, log, format, ticks, zero}, series: [{x, y, label, colour, dash, step, front, hover(i),
// marks, radius, colours, hollow, triangles (of each mark), lineless, errors (half widths), band: {low, high}}],
// labels, height, aria, onPick(series)}. Series in front are drawn last, the first of them on top.
function drawnChart(spec, width, height) {
  const wide = width >= 460;
  const front = spec.series.filter((one) => one.front);
  const labelled = spec.labels && wide;
  const yTicks = ticksOf(spec.y, 8);
  const box = {
    left: 12 + Math.max(...yTicks.map((value) => textWidth(spec.y.format(value))), 8),
    right:
      width - (labelled ? 20 + Math.max(...front.map((one) => textWidth(endLabel(one, width), "600 12px")), 0) : 16),
    top: spec.y.title ? 24 : 10,
    bottom: height - (spec.x.title ? 42 : 22),
  };
  const x = scaleOf(spec.x, box.left, box.right);
  const y = scaleOf(spec.y, box.bottom, box.top);
  const corners = spec.series.map((one) => cornersOf(one, x, y));
  const clip = `clip-${(drawnChart.count = (drawnChart.count ?? 0) + 1)}`;
  const curve = (one, i) => {
    const kind = one.front ? "curve front" : "curve";
    const parts = [];
    if (one.band) {
      const low = one.x.map((value, k) => [x(value), y(one.band.low[k])]);
      const high = one.x.map((value, k) => [x(value), y(one.band.high[k])]);
      parts.push(
        svg("path", { class: "band", style: `fill: ${one.colour}`, d: `${pathOf([...low, ...high.reverse()])}Z` }),
      );
    }
    if (!one.lineless) {
      parts.push(
        svg("path", {
          class: kind,
          style: one.front ? `stroke: ${one.colour}` : null,
          "stroke-dasharray": one.front ? one.dash : null,
          d: pathOf(corners[i]),
          "data-label": one.label,
        }),
      );
    }
    if (one.errors) {
      parts.push(
        ...one.x.map((value, k) =>
          svg("line", {
            class: "error",
            x1: x(value - one.errors[k]).toFixed(1),
            x2: x(value + one.errors[k]).toFixed(1),
            y1: y(one.y[k]),
            y2: y(one.y[k]),
          }),
        ),
      );
    }
    if (one.marks) parts.push(...one.x.map((value, k) => mark(one, k, x(value), y(one.y[k]))));
    return parts;
  };
  const order = spec.series
    .map((_, i) => i)
    .sort((a, b) => Boolean(spec.series[a].front) - Boolean(spec.series[b].front) || b - a);
  const picture = svg(
    "svg",
    { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spec.aria },
    svg(
      "clipPath",
      { id: clip },
      svg("rect", {
        x: box.left - 1,
        y: box.top - 4,
        width: box.right - box.left + 2,
        height: box.bottom - box.top + 6,
      }),
    ),
    axisParts(spec, x, y, box),
    svg(
      "g",
      { "clip-path": `url(#${clip})` },
      order.map((i) => curve(spec.series[i], i)),
    ),
    labelled ? endLabels(spec.series, corners, box, width) : [],
  );
  return { picture, corners, box };
}

// The series under the pointer and its place nearest to it; those in front are preferred.
function nearestSeries(spec, corners, point) {
  let best = null;
  spec.series.forEach((one, i) => {
    const path = corners[i];
    let distance = Infinity;
    for (let k = 0; k < path.length; ++k) {
      const here =
        k > 0 && !one.lineless
          ? distanceToSegment(point, path[k - 1], path[k])
          : Math.hypot(point[0] - path[k][0], point[1] - path[k][1]);
      distance = Math.min(distance, here);
    }
    distance -= one.front ? 4 : 0;
    if (distance < 14 && (!best || distance < best.distance)) best = { i, distance };
  });
  if (!best) return null;
  const one = spec.series[best.i];
  const places = one.step ? corners[best.i].filter((_, k) => k % 2 === 0) : corners[best.i];
  let at = 0;
  places.forEach((place, k) => {
    const better = one.step
      ? place[0] <= point[0] + 2
      : Math.abs(place[0] - point[0]) < Math.abs(places[at][0] - point[0]);
    if (better) at = k;
  });
  return { one, index: best.i, at };
}

const chartSpecs = new WeakMap();
const chartSizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const known = chartSpecs.get(target);
    if (known && target.isConnected && Math.abs(target.clientWidth - known.width) > 1) drawChart(target, known.spec);
  }
});

// Draws `spec` into a box that stands in the page, and again whenever its width changes.
function drawChart(box, spec) {
  const width = Math.max(200, box.clientWidth);
  const { picture, corners } = drawnChart(spec, width, spec.height ?? 340);
  const tip = el("div", { class: "tip", hidden: true });
  const seen = (event) => {
    const frame = picture.getBoundingClientRect();
    return nearestSeries(spec, corners, [event.clientX - frame.left, event.clientY - frame.top]);
  };
  let lit = null;
  picture.addEventListener("mousemove", (event) => {
    const found = seen(event);
    lit?.classList.remove("lit");
    lit = found
      ? [...picture.querySelectorAll("path.curve")].find((path) => path.dataset.label === found.one.label)
      : null;
    lit?.classList.add("lit");
    tip.hidden = !found;
    picture.style.cursor = found && spec.onPick ? "pointer" : "";
    if (!found) return;
    tip.replaceChildren(
      el("b", {}, found.one.label ?? ""),
      el("div", {}, found.one.hover ? found.one.hover(found.at) : ""),
    );
    const frame = picture.getBoundingClientRect();
    const left = event.clientX - frame.left;
    tip.style.left = `${Math.max(0, Math.min(left + 14, width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${event.clientY - frame.top + 16}px`;
  });
  picture.addEventListener("mouseleave", () => {
    lit?.classList.remove("lit");
    tip.hidden = true;
  });
  if (spec.onPick) {
    picture.addEventListener("click", (event) => {
      const found = seen(event);
      if (found) spec.onPick(found.one);
    });
  }
  box.replaceChildren(picture, tip);
  chartSpecs.set(box, { spec, width });
  chartSizes.observe(box);
}

// The picture as a file of its own, with the colours that it has now.
function saveChart(box, name) {
  const picture = box.querySelector("svg.plot");
  const copy = picture.cloneNode(true);
  const nodes = [...picture.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((node, i) => {
    const style = getComputedStyle(nodes[i]);
    const kept = [
      "fill",
      "stroke",
      "stroke-width",
      "stroke-dasharray",
      "opacity",
      "font-family",
      "font-size",
      "font-weight",
    ];
    node.setAttribute("style", kept.map((property) => `${property}: ${style.getPropertyValue(property)}`).join("; "));
    node.removeAttribute("class");
  });
  copy.setAttribute("xmlns", svgNamespace);
  const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  el("a", { href: url, download: `${name}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// A titled chart with a button that saves it. The box is drawn into after it stands in the page.
function chartFigure(id, title, hint, name) {
  const box = el("div", { class: "chart", id });
  return el(
    "figure",
    {},
    el(
      "figcaption",
      {},
      el("b", {}, title),
      hint ? ` ${hint}` : null,
      el(
        "button",
        { type: "button", class: "save", title: "Save this picture as SVG", onclick: () => saveChart(box, name) },
        "SVG",
      ),
    ),
    box,
  );
}
