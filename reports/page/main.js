// The bar at the top and the first drawing.

function drawControls() {
  const slices = data.slices.map((slice, i) => ({
    value: i,
    title: slice.label,
    hint: `tolerance ${slice.label}: ${slice.verdict}, ${slice.stop_by_text}, ${slice.start} start`,
  }));
  const families = [
    { value: "", title: `All ${data.group.many}` },
    ...data.families.map((family) => ({ value: family, title: familyTitle(family) })),
  ];
  document.getElementById("controls").replaceChildren(
    slices.length > 4
      ? select(
          "Tolerance",
          slices.map((one) => ({ ...one, value: String(one.value) })),
          String(state.slice),
          (value) => update({ slice: Number(value), page: 0 }),
        )
      : segmented("Tolerance", slices, state.slice, (slice) => update({ slice, page: 0 })),
    el("input", {
      type: "search",
      id: "only",
      class: "only",
      placeholder: "solvers: NSGS ADMM",
      "aria-label": "Only solvers whose name has one of these words",
      title: "Only solvers whose name has one of these words",
      value: state.only,
      onchange: (event) => update({ only: event.target.value.trim() }),
    }),
    families.length > 2
      ? select(capital(data.group.one), families, state.family, (family) => update({ family, page: 0 }))
      : "",
    themeButton(),
  );
}

view(["slice", "family", "only"], drawControls);

function drawFooter() {
  const versions = distinct(data.runs.map((run) => `${run.build.version} (${run.build.commit})`));
  document
    .getElementById("footer")
    .replaceChildren(
      el(
        "span",
        {},
        `Conebench ${versions.join(", ")}. Every answer judged by the harness on the original problem; ` +
          "solvers' own claims are shown, never trusted.",
      ),
      hasCharts ? el("span", {}, ` Charts: plotly.js ${Plotly.version} (MIT).`) : "",
      el("span", {}, " Keys: / to filter; arrows in the map and in a cell's panel; Enter opens, Esc closes."),
    );
}

// To a section, with the page's state in the address.
document.addEventListener("click", (event) => {
  const anchor = event.target.closest("nav a, a.skip, a.anchor");
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const at = anchor.getAttribute("href").slice(1);
  update({ at });
  document.getElementById(at).scrollIntoView();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, select, textarea, dialog")) return;
  event.preventDefault();
  document.getElementById("search").focus();
});
Object.assign(state, readHash());
startCharts();
if (data.slices.length > 0) {
  for (const { draw } of views) if (draw !== drawCellRows) draw(); // drawCells() draws the rows too
} else {
  drawOverview();
  drawRuns();
  views.length = 0; // nothing else has anything to show
}
drawFooter();
// Also to a link from elsewhere, "#ranking".
document.getElementById(state.at || decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
document.documentElement.dataset.ready = Math.round(performance.now());

// For the console and the tests.
window.conebench = {
  data,
  cells,
  state,
  update,
  computeProfile,
  rankings,
  scopeOf,
  countingSolvers,
  drawChart,
  drawWaiting,
  nameColour,
  looks,
};
