// Performance and data profiles, for all problems and by part, and how solvers do in pairs.

const choose = (solvers, patch = {}) =>
  update({ chosen: solvers.length > 0 ? solvers.map((s) => solverNames[s]).join(".") : "none", ...patch });
function toggle(solver) {
  const coloured = colouredSolvers();
  choose(coloured.includes(solver) ? coloured.filter((s) => s !== solver) : [...coloured, solver], { alone: "" });
}

const shareAxis = { title: "share of problems", range: [-0.01, 1.03], dtick: 0.2, tickformat: ".0%" };

// A curve of the profile from the chart's left edge to its right one, without what lies beyond. Points between the
// steps are there for the pointer.
const pointerPositions = 40;
function profileSeries(curve, [begin, end], coloured, hover) {
  const between = Array.from({ length: pointerPositions + 1 }, (_, i) => begin * (end / begin) ** (i / pointerPositions));
  const x = distinct([...between, ...curve.x.filter((position) => position > begin && position < end)]).sort((a, b) => a - b);
  let passed = 0;
  const y = x.map((position) => {
    while (passed < curve.x.length && curve.x[passed] <= position) passed += 1;
    return passed > 0 ? curve.y[passed - 1] : 0;
  });
  return {
    x,
    y,
    step: true,
    solver: curve.solver,
    label: data.solvers[curve.solver].label,
    front: coloured.includes(curve.solver),
    colour: colourOf(curve.solver),
    dash: dashOf(curve.solver),
    hover: (i) => hover(x[i], y[i]),
  };
}

// In the order of `coloured`, then the others.
const inOrder = (curves, coloured) => {
  const position = (curve) => (coloured.includes(curve.solver) ? coloured.indexOf(curve.solver) : coloured.length);
  return [...curves].sort((a, b) => position(a) - position(b));
};

// The axis ends where the last of the curves in colour does: what grey ones do further out squeezes nobody.
function performanceSpec(profile, coloured, extra) {
  const front = profile.performance.filter((curve) => coloured.includes(curve.solver));
  const ratios = (front.length > 0 ? front : profile.performance).flatMap((curve) => curve.x);
  const range = [1, Math.max(2, extent(ratios)[1]) * 1.05];
  const hover = (x, y) => `${formatShare(y)} within ${formatNumber(x)} × the best`;
  return {
    x: { title: "τ: cost relative to the best", log: true, range, ...numberTicks, ...(range[1] < 10 ? { dtick: "D1" } : {}) },
    y: shareAxis,
    series: inOrder(profile.performance, coloured).map((curve) => profileSeries(curve, range, coloured, hover)),
    onPick: (series) => toggle(series.solver),
    ...extra,
  };
}

function dataSpec(profile, coloured, extra) {
  const front = profile.data.filter((curve) => coloured.includes(curve.solver));
  const positions = (front.length > 0 ? front : profile.data).flatMap((curve) => curve.x);
  const range = roomyLog(positions);
  const time = state.cost.includes("time");
  const hover = (x, y) => `${formatShare(y)} within ${formatCost(time ? x : Math.floor(x), state.cost)}`;
  return {
    x: { title: `budget: ${costTitles[state.cost]}`, log: true, range, ...costTicks(state.cost) },
    y: shareAxis,
    series: inOrder(profile.data, coloured).map((curve) => profileSeries(curve, range, coloured, hover)),
    onPick: (series) => toggle(series.solver),
    ...extra,
  };
}

const rhoPositions = [1, 2, 10, Infinity];
const rhoTitle = (tau) => `ρ(${tau === Infinity ? "∞" : tau})`;

// The key of the curves, in the order of the ranking, with their heights.
function keyTable(profile, coloured) {
  const rows = inOrder(profile.performance, coloured).slice(0, coloured.length);
  return el(
    "table",
    { class: "key", id: "profile-key" },
    headRow(["in colour", ...rhoPositions.map(rhoTitle)], [false, false, false, true]),
    el(
      "tbody",
      {},
      rows.map((curve) =>
        el(
          "tr",
          {},
          el("th", { scope: "row", class: "left" }, solverLink(curve.solver), ownMark(curve.solver)),
          rhoPositions.map((tau) => el("td", { class: tau === 10 ? "minor" : null }, formatShare(valueAt(curve, tau)))),
        ),
      ),
    ),
  );
}

// Two by two: a profile of many solvers depends on all of them, one of two does not.
function pairTable(scope, coloured) {
  if (coloured.length < 3) return null;
  const cellOf = (row, column) => {
    if (row === column) return el("td", { class: "diagonal" });
    const { first, second, ties } = duel(state.slice, scope, state.cost, row, column);
    const lean = first + second > 0 ? first / (first + second) : 0.5;
    const words = `${data.solvers[row].label} better on ${first}, ${data.solvers[column].label} on ${second}, ties ${ties}. Click: the profile of these two alone.`;
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
          title: words,
          "aria-label": words,
          onclick: () => choose([row, column], { alone: "1" }),
        },
        String(first),
      ),
    );
  };
  return el(
    "table",
    { class: "matrix", id: "pairs" },
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "col", class: "left" }, "better than … on"),
        coloured.map((s) => el("th", { scope: "col", title: data.solvers[s].label }, swatch(s))),
      ),
    ),
    el(
      "tbody",
      {},
      coloured.map((row) =>
        el(
          "tr",
          {},
          el("th", { scope: "row", class: "left" }, solverLink(row)),
          coloured.map((column) => cellOf(row, column)),
        ),
      ),
    ),
  );
}

function chips(ranked, coloured) {
  const buttons = ranked.map((s) =>
    el(
      "button",
      {
        type: "button",
        class: "chip",
        "aria-pressed": String(coloured.includes(s)),
        "data-solver": s,
        onclick: () => toggle(s),
      },
      swatch(s),
      data.solvers[s].label,
    ),
  );
  return el(
    "div",
    { class: "chips", id: "chips", role: "group", "aria-label": "Solvers in colour" },
    buttons,
    el("button", { type: "button", class: "link", onclick: () => choose(ranked) }, "all"),
    el("button", { type: "button", class: "link", onclick: () => choose([]) }, "none"),
  );
}

const parts = {
  family: { title: () => `by ${data.group.one}`, of: (problem) => problem.family, name: familyTitle },
  category: {
    title: () => "by category",
    of: (problem) => problem.category,
    name: (category) => statusTitle(category) || "(no category)",
  },
};

// A small performance profile for each part of the scope, at one scale.
function partPanels(scope, solvers, coloured) {
  const part = parts[state.panels];
  if (!part) return [];
  const names = distinct(scope.problems.map((p) => part.of(data.problems[p]))).sort();
  return names.map((name, i) => {
    const inside = scopeOf(state.slice, state.family, (problem) => part.of(problem) === name);
    const profile = computeProfile(state.slice, inside, state.cost, solvers);
    const title = part.name(name);
    const figure = chartFigure(
      `panel-${i}`,
      title,
      plural(inside.problems.length, "problem"),
      `profile-${state.cost}-${title}`,
    );
    return {
      figure,
      draw: () =>
        drawChart(
          document.getElementById(`panel-${i}`),
          performanceSpec(profile, coloured, { height: 190, aria: `Performance profile of ${title}` }),
        ),
    };
  });
}

function drawProfiles() {
  const section = document.getElementById("profiles");
  const scope = scopeOf(state.slice, state.family);
  const counting = countingSolvers(state.slice, state.cost);
  const coloured = colouredSolvers();
  const alone = state.alone !== "" && coloured.length > 0;
  const solvers = alone ? coloured : counting;
  const profile = computeProfile(state.slice, scope, state.cost, solvers);
  const ranked = (currentRanking()?.rows ?? []).map((row) => row.solver).filter((s) => counting.includes(s));
  const costs = data.costs.map((cost) => ({ value: cost.id, title: cost.title }));
  const name = `${state.cost}-${data.slices[state.slice].label}${state.family ? `-${state.family}` : ""}`;
  const panels = partPanels(scope, solvers, coloured);
  const categories = distinct(data.problems.map((problem) => problem.category)).length;
  const choices = [
    { value: "", title: "together" },
    ...(data.families.length > 1 ? [{ value: "family", title: parts.family.title() }] : []),
    ...(categories > 1 && data.group.one !== "category" ? [{ value: "category", title: parts.category.title() }] : []),
  ];
  const among = el(
    "label",
    {},
    el("input", {
      type: "checkbox",
      id: "alone",
      checked: alone,
      onchange: (event) => choose(coloured, { alone: event.target.checked ? "1" : "" }),
    }),
    " among these alone",
  );
  const words =
    `${plural(profile.problems, "problem")} at ${data.slices[state.slice].label}` +
    `${state.family ? ` of ${state.family}` : `, ${data.group.many} of equal weight`}; ` +
    `the best of each problem is taken ${alone ? `among the ${solvers.length} in colour alone` : `among ${plural(solvers.length, "solver")}`}. ` +
    "What is not solved never counts." +
    (coloured.some(isOwn) ? ` * ${originText.own}.` : "");
  section.replaceChildren(
    el(
      "div",
      { class: "heading" },
      sectionTitle("profiles", "Profiles"),
      el(
        "span",
        { class: "tools" },
        select("Cost", costs, state.cost, (cost) => update({ cost })),
        choices.length > 1 ? segmented("Panels", choices, state.panels, (value) => update({ panels: value })) : null,
      ),
    ),
    card(
      el(
        "div",
        { class: "charts" },
        chartFigure(
          "performance-chart",
          "Performance profile",
          "share solved within τ times the best solver's cost",
          `performance-profile-${name}`,
        ),
        chartFigure("data-chart", "Data profile", "share solved within a budget", `data-profile-${name}`),
      ),
      el(
        "details",
        { class: "fold", id: "profile-details", open: document.getElementById("profile-details")?.open },
        el("summary", {}, `Heights, pairs, and which solvers are in colour (${coloured.length} of ${ranked.length})`),
        el(
          "div",
          { class: "keys" },
          scroller(keyTable(profile, coloured), { "aria-label": "Heights of the profiles" }),
          el("div", {}, scroller(pairTable(scope, coloured) ?? "", { "aria-label": "Pairs" })),
        ),
        chips(ranked, coloured),
      ),
      el(
        "div",
        { class: "tools" },
        among,
        state.chosen || state.alone
          ? el(
              "button",
              { type: "button", class: "link", id: "best-few", onclick: () => update({ chosen: "", alone: "" }) },
              `← the best ${bestFew} among all`,
            )
          : null,
      ),
      el("p", { class: "caption" }, words),
    ),
    panels.length > 0
      ? card(
          el(
            "div",
            { class: "panels" },
            panels.map((panel) => panel.figure),
          ),
        )
      : "",
  );
  drawChart(
    document.getElementById("performance-chart"),
    performanceSpec(profile, coloured, {
      labels: true,
      height: 300,
      aria: "Performance profiles; their heights are in the table below",
    }),
  );
  drawChart(
    document.getElementById("data-chart"),
    dataSpec(profile, coloured, { labels: true, height: 300, aria: "Data profiles" }),
  );
  for (const panel of panels) panel.draw();
}

view(["slice", "family", "cost", "chosen", "alone", "panels"], drawProfiles);
