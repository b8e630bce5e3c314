// Performance and data profiles, and how solvers do in pairs.

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const lineColour = (solver) => css(`--series-${solver % colours}`);

function axis(extra) {
  return {
    gridcolor: css("--grid"),
    linecolor: css("--line"),
    zeroline: false,
    ticks: "outside",
    ticklen: 4,
    tickcolor: css("--line"),
    automargin: true,
    ...extra,
  };
}

function chartLayout(x) {
  return {
    xaxis: axis(x),
    yaxis: axis({
      range: [-0.012, 1.025],
      tickformat: ".0%",
      dtick: 0.2,
      title: { text: "share of problems", standoff: 6 },
    }),
    font: { family: css("--font"), size: 12, color: css("--text") },
    margin: { l: 52, r: 14, t: 26, b: 44 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    showlegend: false,
    hovermode: "closest",
    hoverlabel: {
      bgcolor: css("--card"),
      bordercolor: css("--line"),
      font: { color: css("--text"), size: 12 },
      align: "left",
    },
    dragmode: "zoom",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--accent") },
  };
}

function chartConfig(name) {
  return {
    displaylogo: false,
    responsive: true,
    displayModeBar: "hover",
    modeBarButtons: [["toImage", "resetScale2d"]],
    toImageButtonOptions: { format: "svg", filename: name, width: 720, height: 440 },
  };
}

function trace(curve, x, y, hover) {
  return {
    type: "scatter",
    mode: "lines",
    x,
    y,
    customdata: hover,
    name: plain(data.solvers[curve.solver].label),
    line: { shape: "hv", width: 2, color: lineColour(curve.solver), dash: dashOf(curve.solver) },
    hovertemplate: "%{customdata}<extra></extra>",
  };
}

const hoverText = (curve, place, share) =>
  `<b>${plain(data.solvers[curve.solver].label)}</b><br>${place}: ${formatShare(share)}`;

// Drawn from τ = 1 to the right edge, with y 0 where a solver is never the best.
function performanceTrace(curve, end) {
  const x = curve.x.map((ratio) => Math.log2(ratio));
  const y = [...curve.y];
  if (x.length === 0 || x[0] > 0) {
    x.unshift(0);
    y.unshift(0);
  }
  const hover = x.map((place, i) => hoverText(curve, `within ${formatNumber(2 ** place)}× of the best`, y[i]));
  x.push(end);
  y.push(y[y.length - 1]);
  hover.push(hoverText(curve, "in the end", y[y.length - 1]));
  return trace(curve, x, y, hover);
}

function dataTrace(curve, begin, end) {
  const x = [begin, ...curve.x, end];
  const last = curve.y.length > 0 ? curve.y[curve.y.length - 1] : 0;
  const y = [0, ...curve.y, last];
  return trace(
    curve,
    x,
    y,
    x.map((place, i) => hoverText(curve, `within ${formatCost(place, state.cost)}`, y[i])),
  );
}

function powerTicks(end, most) {
  const step = Math.max(1, Math.ceil(end / most));
  const values = [];
  for (let k = 0; k <= end + 1e-9; k += step) values.push(k);
  return { tickvals: values, ticktext: values.map((k) => (k <= 13 ? String(2 ** k) : `2<sup>${k}</sup>`)) };
}

function decadeTicks(begin, end) {
  const first = Math.ceil(Math.log10(begin) - 1e-9);
  const last = Math.floor(Math.log10(end) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first) / 8));
  const values = [];
  for (let k = first; k <= last; k += step) values.push(10 ** k);
  return {
    tickvals: values,
    ticktext: values.map((v) =>
      state.cost.includes("time")
        ? formatTime(v)
            .replace(/\.0+(?= )/, "")
            .replace(/\.00 /, " ")
        : formatCount(v),
    ),
  };
}

const charts = {};

function drawChart(id, traces, x, name) {
  Plotly.react(id, traces, chartLayout(x), chartConfig(name));
  charts[id] = true;
}

function drawCharts(profile) {
  const slice = data.slices[state.slice];
  const name = `${state.cost}-${slice.label}${state.family ? `-${state.family}` : ""}`;
  const ratios = profile.performance.flatMap((curve) => curve.x);
  const most = ratios.reduce((a, b) => Math.max(a, b), 1);
  const end = Math.max(1, Math.log2(most) * 1.04);
  drawChart(
    "performance-chart",
    profile.performance.map((curve) => performanceTrace(curve, end)),
    {
      range: [-0.01 * end, end],
      ...powerTicks(end, 12),
      title: { text: "τ: cost relative to the best (log₂ scale)", standoff: 8 },
    },
    `performance-profile-${name}`,
  );
  const places = profile.data.flatMap((curve) => curve.x);
  const low = places.reduce((a, b) => Math.min(a, b), Infinity);
  const high = places.reduce((a, b) => Math.max(a, b), 0);
  const begin = Number.isFinite(low) ? low / 1.3 : 1;
  const stop = high > 0 ? high * 1.3 : 10;
  drawChart(
    "data-chart",
    profile.data.map((curve) => dataTrace(curve, begin, stop)),
    {
      type: "log",
      range: [Math.log10(begin), Math.log10(stop)],
      ...decadeTicks(begin, stop),
      title: { text: `budget: ${costTitles[state.cost]} (log scale)`, standoff: 8 },
    },
    `data-profile-${name}`,
  );
}

// The chosen solver stands out while the pointer is on its chip.
function emphasise(solver) {
  if (!hasCharts) return;
  const shown = shownSolvers();
  const opacity = shown.map((s) => (solver === null || s === solver ? 1 : 0.13));
  for (const id of Object.keys(charts)) Plotly.restyle(id, { opacity });
}

function chips() {
  const hidden = hiddenSolvers();
  const hide = (set) => update({ hidden: [...set].sort((a, b) => a - b).join(".") });
  const buttons = data.solvers.map((solver, s) =>
    el(
      "button",
      {
        type: "button",
        class: "chip",
        "aria-pressed": String(!hidden.has(s)),
        "data-solver": s,
        title: "Click: show or hide. Double-click: this one alone.",
        onclick: () => {
          const next = new Set(hidden);
          if (!next.delete(s)) next.add(s);
          hide(next);
        },
        ondblclick: () => hide(new Set(data.solvers.map((_, other) => other).filter((other) => other !== s))),
        onmouseenter: () => emphasise(hidden.has(s) ? null : s),
        onmouseleave: () => emphasise(null),
      },
      swatch(s),
      solver.label,
    ),
  );
  const all = el("button", { type: "button", class: "link", onclick: () => hide(new Set()) }, "all");
  const ranking = currentRanking();
  const best = ranking ? new Set(ranking.rows.slice(0, 5).map((row) => row.solver)) : new Set();
  const top = el(
    "button",
    {
      type: "button",
      class: "link",
      onclick: () => hide(new Set(data.solvers.map((_, s) => s).filter((s) => !best.has(s)))),
    },
    "best five",
  );
  return el(
    "div",
    { class: "chips", role: "group", "aria-label": "Solvers in the profiles" },
    buttons,
    el("span", { class: "chip-tools" }, all, data.solvers.length > 5 ? [" · ", top] : null),
  );
}

function profileTable(profile) {
  const places = [1, 2, 4, 8, 16, 64, Infinity];
  const head = el(
    "tr",
    {},
    el("th", { scope: "col", class: "left" }, "ρ(τ)"),
    places.map((tau) => el("th", { scope: "col" }, tau === Infinity ? "∞" : `τ = ${tau}`)),
  );
  const body = profile.performance.map((curve) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", class: "left" }, solverLink(curve.solver)),
      places.map((tau) => el("td", {}, formatShare(valueAt(curve, tau)))),
    ),
  );
  return scroller(el("table", {}, el("thead", {}, head), el("tbody", {}, body)), { "aria-label": "Profile values" });
}

function pairTable() {
  const pairs = data.pairs.filter((pair) => pair.slice === state.slice && pair.cost === state.cost);
  if (pairs.length === 0) return null;
  const wins = new Map();
  for (const pair of pairs) {
    wins.set(`${pair.first}.${pair.second}`, [pair.first_better, pair.second_better, pair.ties]);
    wins.set(`${pair.second}.${pair.first}`, [pair.second_better, pair.first_better, pair.ties]);
  }
  const order = currentRanking().rows.map((row) => row.solver);
  const alone = (a, b) =>
    data.solvers
      .map((_, s) => s)
      .filter((s) => s !== a && s !== b)
      .join(".");
  const head = el(
    "tr",
    {},
    el("th", { scope: "col", class: "left" }, "row better than column on …"),
    order.map((s) =>
      el("th", { scope: "col", class: "upright" }, el("span", {}, el("span", {}, unbroken(data.solvers[s].label)))),
    ),
  );
  const body = order.map((row) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", class: "left" }, solverLink(row)),
      order.map((column) => {
        if (row === column) return el("td", { class: "diagonal" });
        const [better, worse, ties] = wins.get(`${row}.${column}`);
        const lean = better + worse > 0 ? better / (better + worse) : 0.5;
        const title =
          `${data.solvers[row].label} better on ${better}, ${data.solvers[column].label} on ${worse}, ties ${ties}.` +
          " Click: the profile of these two alone.";
        return el(
          "td",
          {
            class: "lean",
            style: { "--lean": `${Math.round(100 * Math.abs(2 * lean - 1))}%` },
            "data-side": lean >= 0.5 ? "better" : "worse",
          },
          el(
            "button",
            {
              type: "button",
              class: "plain",
              title,
              onclick: () => {
                update({ hidden: alone(row, column) });
                document.getElementById("profiles").scrollIntoView();
              },
            },
            String(better),
          ),
        );
      }),
    ),
  );
  return el(
    "details",
    { class: "fold", id: "pairs" },
    el("summary", {}, `Solvers in pairs: ${costTitles[state.cost]}`),
    el(
      "p",
      { class: "caption" },
      "A profile of many solvers depends on all of them; two at a time do not. Each number " +
        `counts the problems, of all ${data.group.many}, that the row's solver solves at less cost than ` +
        "the column's. " +
        "Click one to " +
        "see the profile of the two alone.",
    ),
    scroller(el("table", { class: "matrix" }, el("thead", {}, head), el("tbody", {}, body)), {
      "aria-label": "Pairs",
    }),
  );
}

function drawProfiles() {
  const section = document.getElementById("profiles");
  const open = document.getElementById("pairs")?.open;
  const openValues = document.getElementById("profile-values")?.open;
  const profile = currentProfile();
  const some = shownSolvers().length < data.solvers.length;
  const costs = data.costs.map((cost) => ({ value: cost.id, title: cost.title }));
  const heading = el(
    "div",
    { class: "heading" },
    el("h2", { id: "profiles-title" }, "Profiles"),
    segmented("Cost", costs, state.cost, (cost) => update({ cost })),
  );
  const scope =
    `${plural(profile.problems, "problem")} at ${data.slices[state.slice].label}` +
    `${state.family ? ` of ${state.family}` : `, ${data.group.many} of equal weight`}` +
    `${some ? `; recomputed among the ${shownSolvers().length} solvers shown` : ""}.`;
  const figure = (title, id, hint) =>
    el(
      "figure",
      {},
      el("figcaption", {}, el("b", {}, title), ` ${hint}`),
      hasCharts ? el("div", { class: "chart", id }) : null,
    );
  section.replaceChildren(
    heading,
    card(
      chips(),
      hasCharts
        ? el(
            "div",
            { class: "charts" },
            figure("Performance profile", "performance-chart", "share solved within τ times the best solver's cost"),
            figure("Data profile", "data-chart", "share solved within a budget"),
          )
        : el(
            "p",
            { class: "note info" },
            "This build has no charting library, so the profiles are shown as tables. " +
              "To get charts: run scripts/fetch_plotly.sh, build again, and write the report anew.",
          ),
      el("p", { class: "caption" }, scope, " Failures never count; the best is taken over solved cells only."),
      el(
        "details",
        { class: "fold", id: "profile-values", open: !hasCharts || openValues },
        el("summary", {}, "Profile values"),
        profileTable(profile),
      ),
      pairTable(),
    ),
  );
  const pairs = document.getElementById("pairs");
  if (pairs && open) pairs.open = true;
  if (hasCharts) drawCharts(profile);
}

view(["slice", "family", "cost", "hidden", "theme"], drawProfiles);
