// Curves as inline SVG: axes with units, the exact value as a line with what is allowed about it.

const palette = ["series-0", "series-1", "series-2", "series-3", "series-4", "series-5", "series-6", "series-7"];

// Round numbers, some five of them, over a range.
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(k === 0 ? 0 : k * step);
  return { step, found };
}

function tickText(value, step) {
  if (value === 0) return "0";
  const size = Math.max(Math.abs(value), step);
  if (size >= 1e5 || step < 1e-4) return Number(value.toPrecision(4)).toExponential().replace("e+", "e");
  return value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
}

function extent(values, roomy) {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high)))
    [low, high] = low === 0 ? [-1, 1] : [low - 0.1 * Math.abs(low), high + 0.1 * Math.abs(high)];
  const room = roomy * (high - low);
  return [low - room, high + room];
}

const isExact = (name) => /^exact\b/i.test(name);
const unitOf = (axis) => axis.match(/\[([^\]]*)\]/)?.[1] ?? "";

// curves: {name: [x, y]}, of which one named "exact" stands for the exact value's line; target: {exact, allowed, upperBound} where the y axis is the value's, else null.
function drawCurve(box, curves, axes, target) {
  const width = Math.max(260, box.clientWidth);
  const [height, left, right, top, bottom] = [Math.min(300, 0.55 * width + 60), 58, 12, 12, 42];
  const list = Object.entries(curves).map(([name, [x, y]]) => ({
    name,
    x,
    y,
    points: x.map((value, i) => [value, y[i]]).filter(([a, b]) => known(a) && known(b)),
  }));
  const all = list.flatMap((curve) => curve.points);
  const bounds = target
    ? [target.exact, target.exact + target.allowed, target.upperBound ? target.exact : target.exact - target.allowed]
    : [];
  const [x0, x1] = extent(
    all.map(([x]) => x),
    0,
  );
  const [y0, y1] = extent([...all.map(([, y]) => y), ...bounds], 0.06);
  const atX = (x) => left + ((x - x0) / (x1 - x0)) * (width - left - right);
  const atY = (y) => height - bottom - ((y - y0) / (y1 - y0)) * (height - top - bottom);
  const xTicks = ticks(x0, x1, width < 420 ? 4 : 7);
  const yTicks = ticks(y0, y1, 5);
  const text = (x, y, anchor, words, extra = {}) => svg("text", { x, y, "text-anchor": anchor, ...extra }, words);
  let drawn = 0;
  const looks = list.map((curve) =>
    isExact(curve.name)
      ? { colour: "var(--exact)", dash: "6 4" }
      : { colour: `var(--${palette[drawn++ % palette.length]})` },
  );
  const path = ({ x, y }) => {
    let pen = false;
    return x
      .map((value, i) => {
        if (!known(value) || !known(y[i])) {
          pen = false;
          return "";
        }
        const part = `${pen ? "L" : "M"}${atX(value).toFixed(1)} ${atY(y[i]).toFixed(1)}`;
        pen = true;
        return part;
      })
      .join("");
  };
  const picture = svg(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `${list.map((curve) => curve.name).join(", ")}: ${axes[1]} over ${axes[0]}`,
    },
    yTicks.found.map((y) => [
      svg("line", { class: "grid", x1: left, x2: width - right, y1: atY(y), y2: atY(y) }),
      text(left - 6, atY(y) + 4, "end", tickText(y, yTicks.step)),
    ]),
    xTicks.found.map((x) => [
      svg("line", { class: "grid", x1: atX(x), x2: atX(x), y1: top, y2: height - bottom }),
      text(atX(x), height - bottom + 16, "middle", tickText(x, xTicks.step)),
    ]),
    text((left + width - right) / 2, height - 6, "middle", axes[0], { class: "axis" }),
    text(0, 0, "middle", axes[1], {
      class: "axis",
      transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`,
    }),
    target
      ? [
          svg("rect", {
            class: "allowed",
            x: left,
            width: width - left - right,
            y: target.upperBound ? atY(bounds[1]) : atY(Math.max(...bounds)),
            height: Math.max(1, atY(target.upperBound ? y0 : Math.min(...bounds)) - atY(Math.max(...bounds))),
          }),
          drawn === list.length
            ? svg("line", { class: "exact", x1: left, x2: width - right, y1: atY(target.exact), y2: atY(target.exact) })
            : null,
        ]
      : null,
    list.map((curve, i) =>
      curve.points.length === 1
        ? svg("circle", { cx: atX(curve.points[0][0]), cy: atY(curve.points[0][1]), r: 4, fill: looks[i].colour })
        : svg("path", { class: "line", d: path(curve), stroke: looks[i].colour, "stroke-dasharray": looks[i].dash }),
    ),
  );
  const swatch = (colour, dash) =>
    svg(
      "svg",
      { width: 22, height: 10, "aria-hidden": "true" },
      svg("line", { x1: 0, x2: 22, y1: 5, y2: 5, stroke: colour, "stroke-width": 2.4, "stroke-dasharray": dash }),
    );
  const readout = el("span", { class: "readout", "aria-hidden": "true" });
  watch(picture, readout, list, { atX, left, right, width, x0, x1, top, bottom, height });
  box.replaceChildren(
    picture,
    el(
      "div",
      { class: "legend" },
      list.map((curve, i) => el("span", {}, swatch(looks[i].colour, looks[i].dash), curve.name)),
      target
        ? el(
            "span",
            {},
            drawn === list.length ? swatch("var(--exact)", "6 4") : null,
            targetText(target, unitOf(axes[1])),
          )
        : null,
      readout,
    ),
  );
}

function targetText({ exact, allowed, upperBound }, unit) {
  const room = allowed > 0 ? ` (allowed ${upperBound ? "+" : "±"}${short(allowed)})` : "";
  return `exact: ${upperBound ? "at most " : ""}${withUnit(exact, unit)}${room}`;
}

// The pointer's x and the curves there.
function watch(picture, readout, list, { left, right, width, x0, x1, atX, top, bottom, height }) {
  const hair = svg("line", { class: "hair", y1: top, y2: height - bottom, visibility: "hidden" });
  picture.append(hair);
  picture.addEventListener("pointermove", (event) => {
    const at = event.clientX - picture.getBoundingClientRect().left;
    if (at < left || at > width - right) return;
    const x = x0 + ((at - left) / (width - left - right)) * (x1 - x0);
    const near = (curve) =>
      curve.points.reduce(
        (best, point) => (!best || Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best),
        null,
      );
    const points = list.map(near);
    const first = points.find(Boolean);
    if (!first) return;
    for (const name of ["x1", "x2"]) hair.setAttribute(name, atX(first[0]));
    hair.setAttribute("visibility", "visible");
    readout.textContent = `${short(first[0])}: ${points.map((point) => (point ? short(point[1]) : "–")).join(", ")}`;
  });
  picture.addEventListener("pointerleave", () => {
    hair.setAttribute("visibility", "hidden");
    readout.textContent = "";
  });
}
