// How the solvers of the report look.

const looks = looksOf(data.solvers.map(({ label }) => label));
const colourOf = (solver) => looks[solver].colour;
const dashOf = (solver) => looks[solver].dash;

function swatch(solver) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 18 10");
  svg.setAttribute("class", "swatch");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [name, value] of Object.entries({ x1: 0, x2: 18, y1: 5, y2: 5, "stroke-dasharray": dashOf(solver) })) {
    line.setAttribute(name, value);
  }
  line.style.stroke = colourOf(solver);
  svg.append(line);
  return svg;
}

// Behind the name of a solver by Conebench's authors.
const ownMark = (s) => (isOwn(s) ? el("span", { class: "own", title: originText.own }, " *") : "");
const solverLink = (s) => el("span", { class: "solver" }, swatch(s), link(unbroken(data.solvers[s].label), `solver.${s}`));
