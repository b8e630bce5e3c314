// What a view says of its axes and series, as plotly's traces and layout.

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const inked = (colour = "var(--soft)") => colour.replace(/^var\((.*)\)$/, (_, name) => css(name));

const small = () => ({ size: 11.5, color: css("--soft") });

const narrowChart = 460; // px: below it the key is under the chart, not at the curves' ends

function textWidth(text) {
  const pen = (textWidth.pen ??= document.createElement("canvas").getContext("2d"));
  pen.font = `600 12px ${css("--font")}`;
  return pen.measureText(text).width;
}

const extent = (values) => [
  values.reduce((a, b) => Math.min(a, b), Infinity),
  values.reduce((a, b) => Math.max(a, b), -Infinity),
];
// A range with room for marks at its ends.
function roomy(values, share = 0.05) {
  const [low, high] = extent(values);
  const room = high > low ? share * (high - low) : Math.max(1, Math.abs(high)) * share;
  return [low - room, high + room];
}
function roomyLog(values, factor = 1.2) {
  const [low, high] = extent(values);
  return low <= high ? [low / factor, high * factor] : [1, 10];
}

// Tick labels, as plotly's attributes.
const secondTicks = {
  tickformat: ".3~s",
  ticksuffix: "s",
  // Plotly leaves the unit out at 2 and 5 of a decade.
  labelalias: Object.fromEntries(
    ["n", "µ", "m", ""].flatMap((prefix) => [2, 5, 20, 50, 200, 500].map((n) => [`${n}${prefix}`, `${n}${prefix}s`])),
  ),
};
const numberTicks = { tickformat: ",.3~r" };
const costTicks = (cost) => (cost.includes("time") ? secondTicks : numberTicks);
const powerTicks = { exponentformat: "power", minorloglabels: "complete" };
const percentTicks = { ticksuffix: " %" };

// Ticks at 1, 2, 5 of every decade, or at powers of ten, as many as there is room for; within a decade by plotly's rule.
function logTicks([low, high], most) {
  const decades = high - low;
  if (decades < 1) return { nticks: most };
  return { dtick: decades < 2 || 3 * decades <= most ? "D2" : Math.ceil(decades / most) };
}

// Of a view: {title, range, log, and plotly's own attributes}.
function axisOf({ log, ticks, range, ...rest }, most) {
  const ends = log ? range.map(Math.log10) : range;
  return {
    type: log ? "log" : undefined,
    range: ends,
    ...(ticks ? { tickvals: ticks } : log ? logTicks(ends, most) : { nticks: most }),
    gridcolor: css("--grid"),
    linecolor: css("--soft"),
    showline: true,
    zeroline: false,
    zerolinecolor: css("--soft"),
    ticks: "outside",
    ticklen: 4,
    tickcolor: css("--soft"),
    tickfont: small(),
    automargin: true,
    ...rest,
  };
}

// Series of a view: {x, y, label, colour, dash, step, front, hover(i), marks, radius, colours, hollow, triangles (of each
// mark), lineless, errors (half widths), band: {low, high}}.
function traceOf(one) {
  const colour = one.front || one.lineless ? inked(one.colour) : css("--back");
  const shape = (_, i) =>
    one.triangles ? `triangle-${one.triangles[i]}-open` : one.hollow?.[i] ? "circle-open" : "circle";
  return {
    type: "scatter",
    mode: [one.lineless ? "" : "lines", one.marks ? "markers" : ""].filter(Boolean).join("+"),
    x: one.x,
    y: one.y,
    name: plain(one.label),
    showlegend: Boolean(one.front && one.label),
    line: {
      shape: one.step ? "hv" : "linear",
      width: one.front ? 2.2 : 1,
      color: colour,
      dash: one.front && one.dash ? one.dash.replace(/\d+/g, "$&px").replace(/ /g, ",") : "solid",
    },
    marker: {
      size: 2 * (one.radius ?? 3),
      color: one.colours ? one.colours.map(inked) : colour,
      symbol: one.triangles || one.hollow ? one.x.map(shape) : "circle",
      line: { width: one.triangles || one.hollow ? 1.5 : 0, color: colour },
    },
    error_x: one.errors ? { array: one.errors, color: css("--line"), thickness: 2, width: 0 } : undefined,
    hovertext: one.x.map((_, i) => (one.label ? `<b>${plain(one.label)}</b><br>` : "") + plain(one.hover?.(i) ?? "")),
    hoverinfo: one.hover || one.label ? "text" : "skip",
  };
}

function bandOf({ x, band, colour }) {
  return {
    type: "scatter",
    mode: "lines",
    x: [...x, ...[...x].reverse()],
    y: [...band.low, ...[...band.high].reverse()],
    fill: "toself",
    fillcolor: inked(colour),
    opacity: 0.16,
    line: { width: 0 },
    hoverinfo: "skip",
    showlegend: false,
  };
}

// Positions `wanted`, in order, moved apart until neighbours are `gap` apart, within [top, bottom] where they fit.
function spread(wanted, gap, top, bottom) {
  const positions = [];
  for (const position of wanted) positions.push(Math.max(position, positions.length > 0 ? positions[positions.length - 1] + gap : top));
  let end = bottom;
  for (let i = positions.length - 1; i >= 0 && positions[i] > end; --i, end -= gap) positions[i] = end;
  return positions;
}

// A label takes a quarter of the chart at most.
const endLabel = (one, width) => middleOut(one.label, Math.max(14, Math.floor(width / 28)));

// Names at the right edge, as high as their curves are there, with a short line where they had to move apart.
function endLabels(spec, axes, height, width) {
  const position = (axis, value) => {
    const [begin, end] = axis.range.map((one) => (typeof one === "string" ? Date.parse(one) : one)); // a day once zoomed
    return ((axis.type === "log" ? Math.log10(value) : value) - begin) / (end - begin);
  };
  const labelled = spec.series.flatMap((one) => {
    if (!one.front || !one.label) return [];
    const inside = one.x.filter((x) => position(axes.xaxis, x) <= 1 + 1e-9).length;
    const at = inside > 0 ? 1 - position(axes.yaxis, one.y[inside - 1]) : -1;
    return at >= -0.02 && at <= 1.02 ? [{ one, at: at * height }] : [];
  });
  labelled.sort((a, b) => a.at - b.at);
  const moved = spread(
    labelled.map(({ at }) => at),
    15,
    0,
    height,
  );
  return labelled.map(({ one, at }, i) => ({
    xref: "paper",
    yref: "paper",
    x: 1,
    y: 1 - at / height,
    ax: 12,
    ay: moved[i] - at,
    xanchor: "left",
    text: `<b>${plain(endLabel(one, width))}</b>`,
    font: { color: inked(one.colour), size: 12 },
    arrowcolor: inked(one.colour),
    arrowhead: 0,
    arrowwidth: 1,
    borderpad: 1,
  }));
}

// spec: {x, y: axes, series, labels: names at the curves' ends, keyed: a table names the curves, height, aria,
// onPick(series, point)}. Series in front are drawn last, the first of them on top.
function figureOfSpec(spec, width) {
  const height = spec.height ?? 340;
  const wide = width >= narrowChart;
  const labelled = spec.labels && wide;
  const legend = spec.labels && !wide && !spec.keyed;
  const names = spec.series.filter((one) => one.front && one.label).map((one) => textWidth(endLabel(one, width)));
  const longest = Math.max(...names, 0);
  const margin = {
    l: 46,
    r: labelled ? 24 + longest : 14,
    t: spec.y.title ? 26 : 10,
    b: spec.x.title ? 42 : 26,
  };
  const perRow = Math.max(1, Math.floor((width - 60) / (longest + 40))); // of the key
  const plot = { width: width - margin.l - margin.r, height: height - margin.t - margin.b };
  const across = { text: plain(spec.x.title ?? ""), standoff: 8, font: small() };
  const axes = {
    xaxis: axisOf({ ...spec.x, title: across }, Math.max(2, Math.floor(plot.width / 64))),
    yaxis: axisOf({ ...spec.y, title: undefined }, Math.max(2, Math.floor(plot.height / 34))),
  };
  const order = spec.series
    .map((_, i) => i)
    .sort((a, b) => Boolean(spec.series[a].front) - Boolean(spec.series[b].front) || b - a);
  const drawn = order.flatMap((i) => (spec.series[i].band ? [null, spec.series[i]] : [spec.series[i]]));
  return {
    series: drawn,
    labelled,
    plot,
    traces: drawn.map((one, i) => (one ? traceOf(one) : bandOf(drawn[i + 1]))),
    layout: {
      ...axes,
      width,
      height: height + (legend ? 20 * Math.ceil(names.length / perRow) : 0),
      margin,
      // Of the ordinate, above it: it reads like a text and takes no width.
      title: {
        text: plain(spec.y.title ?? ""),
        font: small(),
        x: 0,
        xanchor: "left",
        y: 1,
        yanchor: "top",
        pad: { t: 4, l: 4 },
      },
      annotations: labelled ? endLabels(spec, axes, plot.height, width) : [],
      showlegend: Boolean(legend),
      legend: {
        orientation: "h",
        y: -42 / plot.height,
        yanchor: "top",
        traceorder: "reversed",
        itemclick: false,
        itemdoubleclick: false,
      },
      font: { family: css("--font"), size: 12, color: css("--text") },
      paper_bgcolor: css("--card"),
      plot_bgcolor: css("--card"),
      hovermode: "closest",
      hoverdistance: 30,
      hoverlabel: {
        bgcolor: css("--card"),
        bordercolor: css("--soft"),
        font: { color: css("--text"), size: 12 },
        align: "left",
      },
      dragmode: wide ? "zoom" : false, // a finger scrolls the page
    },
  };
}
