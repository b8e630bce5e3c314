#!/usr/bin/env python3
"""The page and the tables of `conebench phenomena` on a made-up run with every outcome: sizes, numbers, sorting,
filters, panels with curves and films, widths, light and dark; LaTeX through pdflatex; two runs compared.
usage: phenomena_page_test.py PACKAGE_FOLDER [FOLDER_FOR_THE_PAGE]      77: a module or a program is not installed"""
import csv, dataclasses, importlib.util, io, json, math, os, pathlib, re, shutil, subprocess, sys, tempfile

if importlib.util.find_spec("numpy") is None:
    print("skipped: needs numpy")
    sys.exit(77)
sys.path[:0] = [os.path.abspath(sys.argv[1]), str(pathlib.Path(__file__).resolve().parents[1] / "reports")]
import browser
import numpy as np
from conebench.phenomena import compare, grades, page, tables
from conebench.phenomena.results import Cell


def check(holds, what, shown=""):
    if not holds:
        raise SystemExit(f"FAILED: {what}\n{shown}")
    print(f"ok: {what}", flush=True)


# --- a made-up run: 26 phenomena, 9 engines, every outcome

GRAVITY = 9.81
SLIDE = ("time [s]", "way of the block [m]")
PHENOMENA = [  # id, group, title, law, quantity, unit, scale, {case: exact}, axes, kind of film
    ("push-threshold", "thresholds", "Threshold of a pushed block",
     "A block of mass m on level ground begins to slide when the "
     "horizontal force through its centre exceeds μ m g (Coulomb).", "the least force that moves it, by bisection", "N",
     5.0,
     {f"mu = {mu}": mu * GRAVITY for mu in (0.2, 0.5, 1.0)}, ("force [N]", "way in 1 s [m]"), "slide"),
    ("tilt-threshold", "thresholds", "Threshold of a tilted plane",
     "A block on a plane begins to slide at the angle atan μ.",
     "the least angle at which it slides", "°", 30.0, {"mu = 0.2": 11.31, "mu = 0.5": 26.57},
     ("angle [°]", "way in 1 s [m]"), "incline"),
    ("creep", "thresholds", "Creep under 90 % of the threshold",
     "Below the threshold nothing moves: the speed is 0 for as long as one "
     "waits.", "mean speed over 10 s", "µm/s", 1000.0, {"pushed": 0.0, "tilted": 0.0}, ("time [s]", "way [µm]"),
     "incline"),
    ("stopping", "sliding", "Stopping distance", "A block of speed v stops after v² / (2 μ g).", "the distance at rest",
     "m", 0.4,
     {"mu = 0.2, 2 m/s": 1.0194, "mu = 0.5, 2 m/s": 0.4077}, SLIDE, "slide"),
    ("lift", "sliding", "Lift of a sliding cube",
     "Friction has no part along the normal: a sliding cube stays on the ground.",
     "the largest gap", "mm", 10.0, {"2 m/s": 0.0, "6 m/s": 0.0}, ("time [s]", "gap [mm]"), "slide"),
    ("direction", "sliding", "Friction against slip", "Friction points against the slip, whatever the direction.",
     "the largest angle between them", "°", 45.0, {"16 directions": 0.0}, ("direction [°]", "angle [°]"), "slide"),
    ("isotropy", "sliding", "Isotropy of friction", "The stopping distance is the same in all directions.",
     "largest over least distance, less 1", "1", 0.4, {"16 directions": 0.0}, ("direction [°]", "distance [m]"),
     "slide"),
    ("cone", "sliding", "Never beyond the cone", "|friction| ≤ μ · normal force in every contact of every step.",
     "the largest excess over the weight", "%", 100.0, {"slide": 0.0}, ("time [s]", "excess [%]"), "slide"),
    ("disc", "torsion and rolling", "Spin-down of a disc",
     "A disc of radius R with even pressure slows down by 4 μ g / (3 R).",
     "time to rest", "s", 1.0, {"mu = 0.3": 1.699}, ("time [s]", "spin [rad/s]"), "roll"),
    ("ball", "torsion and rolling", "Spin-down of a rolling ball",
     "A rolling ball without rolling friction does not slow down.",
     "speed lost in 5 s", "%", 100.0, {"no friction": 0.0, "rolling 1 mm": 17.2}, ("time [s]", "speed [m/s]"), "roll"),
    ("bounce", "impacts", "Height of a bounce", "A ball that falls from h comes back to e² h.",
     "height of the first bounce", "m", 0.5,
     {"e = 0": 0.0, "e = 0.8": 0.64}, ("time [s]", "height [m]"), "fall"),
    ("cradle", "impacts", "Newton's cradle", "Of five balls in a row the last leaves with the first one's speed.",
     "its speed", "m/s", 1.0,
     {"5 balls": 1.0}, ("time [s]", "speed [m/s]"), "cradle"),
    ("painleve", "impacts", "Painlevé's rod",
     "A sliding rod at this angle has no solution of accelerations; with impulses it stops at "
     "once.", "speed after the first step", "m/s", 1.0, {"mu = 1.8": 0.0}, ("time [s]", "speed [m/s]"), "fall"),
    ("stack", "structures", "Stack of ten", "The lowest contact carries all weights, whatever their ratio.",
     "its force over the weight", "1",
     1.0, {"ratio 1": 1.0, "ratio 100": 1.0, "ratio 10⁴": 1.0}, ("time [s]", "force over weight [1]"), "stack"),
    ("cards", "structures", "Card house of three levels", "With μ above tan of the cards' half angle it stands.",
     "sag after 5 s", "mm", 50.0,
     {"mu = 0.8": 0.0}, ("time [s]", "sag [mm]"), "stack"),
    ("arch", "structures", "Arch of 25 stones", "A catenary of stones stands without friction between them.",
     "sag of the keystone", "mm", 100.0,
     {"25 stones": 0.0}, ("time [s]", "sag [mm]"), "arch"),
    ("pinch", "structures", "Box between two fingers", "It is held if 2 μ F ≥ m g.", "slip in 2 s", "mm", 20.0,
     {"F = 1.1 of the least": 0.0},
     ("time [s]", "slip [mm]"), "stack"),
    ("joint-held", "joints", "Joint held by its friction",
     "A hinge with dry friction above the load's torque does not turn.", "turn in 5 s",
     "mrad", 100.0, {"90 %": 0.0}, ("time [s]", "angle [mrad]"), "cradle"),
    ("joint-spin", "joints", "Spin-down of a joint", "A joint with dry friction τ stops after I ω / τ.", "time to rest",
     "s", 0.5,
     {"hinge": 0.8, "slide": 0.6}, ("time [s]", "rate [rad/s]"), "cradle"),
    ("drive", "joints", "Drive at its effort limit",
     "A drive far from its goal pushes with its effort: q'' = effort / m.", "acceleration", "m/s²",
     5.0, {"slide": 5.0}, ("time [s]", "speed [m/s]"), "slide"),
    ("slide-energy", "energy", "Energy of a frictionless slide", "Without friction energy is kept.",
     "gain over the start", "%", 100.0,
     {"bowl": 0.0}, ("time [s]", "energy [J]"), "fall"),
    ("pendulum-energy", "energy", "Energy of a bouncing pendulum", "Impacts with e = 1 keep energy.",
     "gain over the start", "%", 100.0,
     {"e = 1": 0.0}, ("time [s]", "energy [J]"), "cradle"),
    ("order", "numerics", "Order of the bodies", "Names and order of bodies change nothing.",
     "largest difference after 1 s", "mm", 10.0,
     {"reversed": 0.0, "renamed": 0.0}, ("time [s]", "difference [mm]"), "stack"),
    ("repeat", "numerics", "Repeatability", "Two runs give the same bits.", "largest difference after 1 s", "mm", 1.0,
     {"two worlds": 0.0},
     ("time [s]", "difference [mm]"), "stack"),
    ("half-step", "numerics", "Half the time step", "At half the step the error is no larger.", "ratio of the errors",
     "1", 2.0,
     {"stopping": 0.5}, ("time step [ms]", "error [m]"), "slide"),
    ("hostile", "numerics", "<b>A & B</b> 50 % of µ_{max} \\ </script>",
     "Names with $, #, ~, ^, |, \"quotes\" and 'ticks' −½ × 10⁻³ ≤ √2.", "x < y & z",
     "", 1.0, {"it's; rm -rf <x>": 1.0}, ("time [s]", "value"), "fall"),
]
ENGINES = {
    "BULLET": ("pybullet", "3.2.7", "2025-01-22", ["default", "50 iterations", "Dantzig"]),
    "CONEBENCH": ("", "0.4.0", "", ["NSGS", "CASCADE", "PGS-CCP"]),
    "DART": ("dartpy", "6.20.0", "2026-10-02", ["default", "PGS", "NSGS", "FBF"]),
    "DRAKE": ("drake", "1.51.1", "2026-11-12", ["default", "SAP", "ICF", "best"]),
    "MUJOCO": ("mujoco", "4.0.0", "2026-11-20", ["default", "elliptic", "CG", "PGS", "noslip", "best"]),
    "NEWTON-KAMINO": ("newton", "1.8.0", "2026-11-03", ["default", "DVI", "LOX", "best"]),
    "NEWTON-XPBD": ("newton", "1.8.0", "2026-11-03", ["default", "50 iterations"]),
    "ODE": ("", "0.16.2", "", ["default", "Dantzig"]),
    "PINOCCHIO": ("pin", "4.1.0", "2026-08-30", ["default", "PGS", "best"]),
}
OPTIONS = {"elliptic": {"cone": "elliptic"}, "50 iterations": {"iterations": 50},
           "best": {"cone": "elliptic", "impratio": 100, "tolerance": 0.0,
                                                                                       "solref": "-1",
                                                                                       "noslip_iterations": 100}}


def parts_of(kind):
    """Bodies of a film."""
    ground = {"name": "ground", "fixed": True, "parts": [{"shape": "half-space", "size": [], "position": [0, 0, 0],
                                                          "rotation":
                                                         [math.cos(0.15), 0, math.sin(0.15), 0] if kind == "incline"
                                                         else [1, 0, 0, 0]}]}

    def body(name, shape, size, fixed=False):
        return {"name": name, "fixed": fixed, "parts": [{"shape": shape, "size": size, "position": [0, 0, 0],
                                                         "rotation": [1, 0, 0, 0]}]}
    if kind in ("slide", "incline"):
        return [ground, body("block", "box", [0.1, 0.07, 0.05])]
    if kind == "roll":
        return [ground, body("ball", "sphere", [0.1]), body("disc", "cylinder", [0.12, 0.02])]
    if kind == "stack":
        return [ground, body("table", "box", [0.4, 0.3, 0.02], True),
                *(body(f"box {k}", "box", [0.1, 0.1, 0.05]) for k in range(10))]
    if kind == "arch":
        wedge = [-0.06, -0.08, 0.9, 0.06, -0.08, 0.9, -0.08, -0.08, 1.1, 0.08, -0.08, 1.1, -0.06, 0.08, 0.9, 0.06, 0.08,
                 0.9, -0.08, 0.08, 1.1, 0.08, 0.08, 1.1]
        return [ground, *(body(f"stone {k}", "hull", wedge) for k in range(25))]
    if kind == "cradle":
        return [body("beam", "box", [0.5, 0.02, 0.02], True), *(body(f"ball {k}", "sphere", [0.05]) for k in range(5))]
    return [ground, body("wedge", "hull", [0, 0, 0.12, 0.1, 0, -0.05, -0.05, 0.09, -0.05, -0.05, -0.09, -0.05])]


def pose(kind, number, t):
    """Of a body [x, y, z, w, qx, qy, qz]."""
    def about(axis, angle):
        return [math.cos(angle / 2), *(math.sin(angle / 2) * part for part in axis)]
    if number == 0:
        return [0, 0, 0.3, 1, 0, 0, 0] if kind == "cradle" else [0, 0, 0, 1, 0, 0, 0]
    if kind == "slide":
        s = min(t, 0.4)
        return [2 * s - 2.5 * s * s, 0, 0.05, 1, 0, 0, 0]
    if kind == "incline":
        s = 0.15 * t * t
        return [s * math.cos(0.3) + 0.05 * math.sin(0.3), 0, -s * math.sin(0.3) + 0.05 * math.cos(0.3),
                *about((0, 1, 0), 0.3)]
    if kind == "roll":
        return [0.3 * t, 0.2 * (2 * number - 3), (0.1, 0.02)[number - 1],
                *about((0, 1, 0) if number == 1 else (0, 0, 1), 3 * t)]
    if kind == "stack":
        if number == 1:
            return [0, 0, 0.02, 1, 0, 0, 0]
        return [0.004 * t * (number - 2) ** 1.5 / 9, 0, 0.1 * number - 0.11, *about((0, 0, 1), 0.05 * t * number)]
    if kind == "arch":
        return [0, 0, 0.02 - 0.01 * t, *about((0, 1, 0), math.pi * (number - 13) / 25)]
    if kind == "cradle":
        swing = -0.6 * math.cos(6 * t)
        angle = min(swing, 0) if number == 1 else max(swing, 0) if number == 5 else 0
        x = 0.1 * (number - 3)
        return [x + 0.3 * math.sin(angle), 0, 0.3 - 0.3 * math.cos(angle), *about((0, 1, 0), -angle)]
    return [0.1 * t, 0, 0.06 + abs(0.5 * math.cos(4 * t)) * math.exp(-t), *about((0.6, 0, 0.8), 4 * t)]


def film_of(kind, broken):
    times = [0.02 * k for k in range(76)]
    bodies = parts_of(kind)
    poses = [[pose(kind, number, t) for number in range(len(bodies))] for t in times]
    if broken:
        poses[-1][-1] = [None] * 7
    return {"bodies": bodies, "times": times, "poses": poses}


def cell_of(phenomenon, number, case, exact, engine, place, variant, step, numbers):
    """An engine is better the later its place, a variant too; some outcomes are fixed."""
    id, _, _, _, _, unit, scale, _, _, kind = phenomenon
    cell = Cell(id, case, engine, variant, step, "measured", exact=exact, allowed=0.002 * scale, scale=scale,
                seconds=0.2, upper_bound=id in ("lift", "cone", "creep"))
    quality = {"CONEBENCH": 9, "DRAKE": 5, "MUJOCO": 4, "NEWTON-KAMINO": 5, "PINOCCHIO": 6,
               "DART": 4}.get(engine, 2) + (place > 0) + 2 * (variant == "best")
    size = 10 ** (numbers.normal(-quality / 2.2, 0.9) + 0.4)
    if engine == "CONEBENCH" and variant != "PGS-CCP":
        size = 1e-4
    if id == "hostile":
        size = 0.3
    if id == "creep" and engine == "MUJOCO":
        size = {"default": 1.3, "best": 0.004}.get(variant, 0.09)
    failed = {("BULLET", "painleve"): "crashed", ("ODE", "arch"): "time limit", ("NEWTON-XPBD", "stack"): "not finite",
              ("DART", "cards"): "failed"}
    cell.outcome = failed.get((engine, id), "measured")
    if id == "stack" and case != "ratio 10⁴" or id == "arch" and place > 0:
        cell.outcome = "measured"
    if (engine, id) in (("MUJOCO", "bounce"), ("DRAKE", "bounce"), ("BULLET", "drive"), ("ODE", "disc"),
                        ("PINOCCHIO", "joint-held"), ("DART", "ball")):
        cell.outcome, cell.element = "cannot", {"bounce": "restitution", "drive": "effort limit",
                                                "joint-held": "joint friction"}.get(id, "torsional friction")
        cell.message = "contacts are springs and dampers, which take no coefficient of restitution"
    if cell.outcome != "measured":
        cell.exact = cell.allowed = cell.scale = None
        cell.message = cell.message or {"crashed": "signal 11 (SIGSEGV)", "time limit": "killed after 60 s",
                                        "not finite": "not finite after 0.135 s",
                                        "failed": "LCP: RuntimeError: no solution in 10,000 iterations"}[cell.outcome]
    else:
        sign = 1 if cell.upper_bound or exact == 0 else numbers.choice([-1, 1])
        cell.value = exact + sign * size * scale
        cell.error = max(0.0, cell.value - exact) if cell.upper_bound else abs(cell.value - exact)
        cell.right = cell.error <= cell.allowed
        if (engine, id, variant) == ("ODE", "half-step", "default"):
            cell.value, cell.error, cell.right = None, None, False
        time = np.linspace(0, 1.5, 301)
        cell.curves = {"measured": [time.tolist(), ((cell.value or 0.0) * (1 - np.exp(-4 * time))).tolist()]}
        if number % 3 == 0:
            cell.curves["exact"] = [time.tolist(), (exact * np.minimum(1, 2 * time)).tolist()]
        cell.facts = {"steps": 300, "largest gap [mm]": 0.0123456, "settled": True, "rests at [m]": [0.1, 0.2, 0.05]}
    if cell.outcome in ("measured", "not finite"):
        cell.verdicts = {"equation of motion": {"max": 1.3e-9 * quality, "median": 2e-12, "unit": "m/s",
                                                "impulses": "engine"},
                         "natural map": {"max": 0.02 * size, "median": 1e-3 * size, "unit": "m/s", "impulses": "best"},
                         "penetration": {"max": 4e-5, "median": 1e-6, "unit": "m"}}
        if place == 0 or variant in ("best", "elliptic", "NSGS"):
            cell.film = film_of(kind, cell.outcome == "not finite")
    return cell


def made_up(steps=(0.005,), quick=False):
    """(cells, run) of some 1,400 cells a time step."""
    numbers = np.random.default_rng(7)
    cells = [cell_of(one, number, case, exact, engine, place, variant, step, numbers)
             for engine, (_, _, _, variants) in ENGINES.items()
             for place, variant in enumerate(variants) for step in steps
             for number, one in enumerate(PHENOMENA) for case, exact in one[7].items()]
    engines = {}
    for engine, (package, version, released, variants) in ENGINES.items():
        about = {"version": version, **({"released": released} if released else {}),
                 **({"precision": "float32"} if engine.startswith("NEWTON") else {})}
        engines[engine] = {"package": package, "about": about, "missing": "",
                           "variants": {name: OPTIONS.get(name, {}) for name in variants}}
    engines["RAPIER"] = {"package": "rapier", "about": {}, "variants": {"default": {}},
                         "missing": "No module named 'rapier'"}
    cells.append(Cell("push-threshold", "mu = 0.2", "RAPIER", "default", steps[0], "missing"))
    run = {"conebench": "0.4.0", "date": "2026-12-01", "machine": {"cpu": "AMD EPYC 7B13", "system": "Linux 6.1"},
           "quick": quick, "time_steps": list(steps), "engines": engines, "phenomena": []}
    for id, group, title, law, quantity, unit, _, cases, axes, _ in PHENOMENA:
        parameters = {case: {"mu": 0.5, "exact": exact} for case, exact in cases.items()}
        run["phenomena"].append({"id": id, "group": group, "title": title, "law": law, "quantity": quantity,
                                 "unit": unit, "axes": axes, "cases": parameters})
    return cells, run


def write_run(folder, cells, run):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    (folder / "results.jsonl").write_text("".join(cell.line() + "\n" for cell in cells), encoding="utf-8")
    return folder


# --- tables

def check_tables(cells, run):
    grid = grades.Grid(cells, run)
    labels = [grid.label(row) for row in grid.rows]
    check("MUJOCO default" in labels and "MUJOCO best" in labels and "MUJOCO CG" not in labels
          and not any(label.startswith("RAPIER") for label in labels), "of each engine its default and its best",
          labels)
    check(grid.exact("push-threshold") is None and grid.exact("creep") == 0.0, "one exact value, or several")
    check([grades.short(value) for value in (0.0, 9.999, 0.00123, 1234.4, 123456.0, -0.4077, 2e-5, None, math.inf)] ==
          ["0", "10.0", "1.2e-3", "1234", "1.2e5", "-0.408", "2.0e-5", "–", "–"], "numbers in short")
    found = [grades.grade(Cell("p", "c", "E", "v", 0.005, "measured", error=error, scale=2.0, right=error == 0.0))
             for error in (0.0, 0.01, 0.1, 1.0, 2.0, math.inf)]
    check(found == [0, 1, 2, 3, 4, 4], "grades by error over scale", found)
    for width, every in ((100, False), (100, True), (60, False)):
        text = tables.summary_text(cells, run, every, width)
        check(max(map(len, text.splitlines())) <= width, f"the summary fits {width} columns", text)
    text = tables.summary_text(cells, run)
    creep = next(cell for cell in cells if (cell.phenomenon, cell.case, cell.engine,
                                            cell.variant) == ("creep", "pushed", "MUJOCO", "default"))
    said = tables.sentence(creep, run["phenomena"][2])
    check(said == "Creep under 90 % of the threshold (pushed): 1300 µm/s where at most 0 µm/s is right, within 2.00",
          "a cell as a sentence", said)
    for words in ("ODE default: Half the time step (stopping): no value where", "more that are wrong",
                  "BULLET default: Painlevé's rod (mu = 1.8): crashed, signal 11",
                  "RAPIER: No module named 'rapier'"):
        check(words in re.sub(r"\s+", " ", text), f"the summary says: {words}", text)
    lines = tables.markdown(cells, run).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    widths = {re.sub(r"\\\|", "", row).count("|") for row in rows[:len(grid.rows) + 2]}
    check(len(widths) == 1 and "\\<b>A & B\\</b>" in "\n".join(lines) and "✓" in "\n".join(lines),
          "Markdown's columns agree, and names are escaped", "\n".join(lines[:30]))
    read = list(csv.DictReader(io.StringIO(tables.csv_text(cells))))
    creep = next(row for row in read if (row["phenomenon"], row["case"], row["engine"],
                                         row["variant"]) == ("creep", "pushed", "MUJOCO", "default"))
    check(len(read) == len(cells) and float(creep["value"]) == 1300.0 and creep["right"] == "false"
          and creep["penetration_unit"] == "m" and json.loads(creep["facts"])["steps"] == 300,
          "CSV holds every cell", creep)
    empty = {"engines": {}, "phenomena": []}
    check(tables.summary_text([], empty) and tables.markdown([], empty) and tables.latex([], empty)
          and tables.csv_text([]), "a run without cells has tables")


def check_latex(cells, run, folder):
    if not shutil.which("pdflatex"):
        print("pdflatex is not installed: LaTeX is not compiled")
        return
    (folder / "tables.tex").write_text(tables.latex(cells, run), encoding="utf-8")
    (folder / "every.tex").write_text(tables.latex(cells, run, every_variant=True), encoding="utf-8")
    for name in ("tables", "every"):
        # The columns of IEEE's style.
        (folder / "paper.tex").write_text(
            "\\documentclass[10pt,twocolumn]{article}\\usepackage[textwidth=516pt,textheight=680pt]{geometry}"
            "\\setlength{\\columnsep}{12pt}\\usepackage{booktabs,graphicx}\\begin{document}Text.\\input{" + name
            + "}\\end{document}", encoding="utf-8")
        run_of = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"], cwd=folder,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        log = run_of.stdout.decode(errors="replace")
        check(run_of.returncode == 0 and "Overfull" not in log and "undefined" not in log,
              f"pdflatex sets {name}.tex within its columns", log[-3000:])


def check_compare():
    def cell(case, outcome="measured", error=0.0, right=True):
        return Cell("p", case, "E", "default", 0.005, outcome, error, 0.0, 0.01, 1.0, False, error,
                    right if outcome == "measured" else None)
    before = [cell("same"), cell("to wrong"), cell("grew", error=0.1, right=False),
              cell("grew little", error=0.1, right=False), cell("shrank", error=0.5, right=False),
              cell("to crash"), cell("to cannot", error=0.5, right=False), cell("healed", "crashed"), cell("gone"),
              cell("uninstalled"), cell("still right", error=0.001)]
    after = [cell("same"), cell("to wrong", error=0.02, right=False), cell("grew", error=0.12, right=False),
             cell("grew little", error=0.105, right=False), cell("shrank", error=0.2, right=False),
             cell("to crash", "crashed"), cell("to cannot", "cannot"), cell("healed"), cell("new"),
             cell("uninstalled", "missing"), cell("still right", error=0.009)]
    changes = compare.compare(before, after)
    kinds = {kind: sorted(one.key[1] for one in changes if one.kind == kind)
             for kind in ("worse", "better", "new", "gone")}
    check(kinds == {"worse": ["grew", "to cannot", "to crash", "to wrong"], "better": ["healed", "shrank"],
                    "new": ["new"], "gone": ["gone", "uninstalled"]}, "two runs compared", kinds)
    text = compare.comparison_text(changes)
    check(text.startswith("4 worse, 2 gone, 2 better, 1 new\n")
          and "E default, p, grew, 5 ms: 0.100 (wrong, error 0.100, allowed 0.0100) → 0.120" in text, "and in words",
          text)
    check(compare.comparison_text([]) == "No cell changed.\n", "nothing changed")


# --- page

def check_files(cells, folder, out):
    index = page.write_page(folder, out)
    text = index.read_text(encoding="utf-8")
    check(index.stat().st_size < 1_000_000,
          f"{len(cells):,} cells in {index.stat().st_size / 1e3:.0f} kB of index.html")
    check(not re.search(r"""(src|href)=["']?(https?:)?//|url\(|@import""", text),
          "the page asks for nothing from elsewhere")
    files = list((out / "cells").iterdir())
    check(len(files) == len(cells) and max(file.stat().st_size for file in files) < 250_000, "a small file a cell",
          [max(file.stat().st_size for file in files)])
    small, place = write_run(folder.parent / "few", cells[:3], {}), folder.parent / "few-page"
    page.write_page(small, place)
    for name in ("0123456789ab", "notes"):
        (place / f"cells/{name}.js").write_text("old")
    page.write_page(small, place)
    check(sorted(file.stem for file in (place / "cells").iterdir()) == sorted(["notes", *map(page._name, cells[:3])]),
          "files of cells that are gone are removed, others stay")
    x = np.linspace(0, 1, 5000)
    y = np.where(np.arange(5000) == 2345, 7.0, 0.0)
    thin = page.thinned(x.tolist(), [None] * 100 + y.tolist()[100:])
    check(len(thin[0]) <= page.most_points + 2 and max(value for value in thin[1] if value is not None) == 7.0,
          "a long curve keeps its peak")
    cube = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
                    + [[0.5, 0.5, 0.5], [1, 0.5, 0.3], [0, 0.5, 1]], float)
    faces = page.hull_faces(tuple(map(tuple, cube.tolist())))
    check(sorted(map(len, faces)) == [4] * 6 and page.hull_faces(tuple(map(tuple, cube[:4].tolist()))) == [],
          "a hull's faces are polygons of its corners; a flat one has none")
    for face in faces:
        a, b, c = cube[face[:3]]
        assert np.cross(b - a, c - a) @ (a - cube[8]) > 0


CELLS = """return [...document.querySelectorAll('#matrix tbody tr')]
    .map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"""
HEADS = "return [...document.querySelectorAll('#matrix thead .upright .words')].map((one) => one.textContent)"
GRADES = """return [...document.querySelectorAll('#matrix tbody tr')]
    .map((row) => Number(row.cells[arguments[0]].firstChild.className.match(/g([0-9])/)[1]))"""
SCORES = "return [...document.querySelectorAll('#matrix tbody .score b')].map((one) => Number(one.textContent))"
MARKED = """return [...document.querySelectorAll('#matrix tbody .cell')].every((one) =>
    one.classList.contains('g0') === one.textContent.includes('✓') && one.getAttribute('aria-label'))"""
SCOPED = """return document.querySelector('#matrix caption').textContent && [...document.querySelectorAll('#matrix th')]
    .every((one) => ['row', 'col', 'rowgroup', 'colgroup'].includes(one.scope))"""
FITTING = """const fits = (one, box) => one.scrollWidth <= box.clientWidth + 1;
return [...document.querySelectorAll('#matrix tbody th')].every((one) => fits(one, one))
    && [...document.querySelectorAll('#matrix .cell > span')].every((one) => fits(one, one.parentElement))"""
# Texts whose contrast is below 4.5.
CONTRAST = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const bytes = (colour) => {
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const weights = [0.2126, 0.7152, 0.0722];
const known = new Map();
const light = (colour) => {
  if (!known.has(colour)) known.set(colour, bytes(colour).reduce((sum, v, i) => sum + weights[i] * linear(v / 255), 0));
  return known.get(colour);
};
const ground = (node) => {
  for (; node; node = node.parentElement) {
    const colour = getComputedStyle(node).backgroundColor;
    if (colour !== 'transparent' && colour !== 'rgba(0, 0, 0, 0)') return colour;
  }
  return 'white';
};
const found = new Map();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !node.checkVisibility()
      || node.closest('script, style, .skip, .hidden, :disabled, svg, noscript')) continue;
  const [a, b] = [light(getComputedStyle(node).color), light(ground(node))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) found.set(node.className + ' ' + node.tagName, [ratio, walker.currentNode.textContent]);
}
return [...found];
"""
LIGHTS = """return [1, 2, 3, 4].map((grade) => document.querySelector(`.legend .g${grade}`))
    .map((one) => getComputedStyle(one).backgroundColor)
    .map((colour) => colour.match(/[0-9.]+/g).map(Number)).map(([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b)"""
# Of the film: how many colours fill an area, and a number that a change of the picture changes.
INK = """
const film = document.querySelector('.film canvas');
const [width, height] = [film.width, film.height];
const canvas = Object.assign(document.createElement('canvas'), {width, height});
const copy = canvas.getContext('2d', {willReadFrequently: true});
copy.drawImage(film, 0, 0);
const {data} = copy.getImageData(0, 0, width, height);
const seen = new Map();
let hash = 0;
for (let i = 0; i < data.length; i += 4) {
  const colour = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
  seen.set(colour, (seen.get(colour) ?? 0) + 1);
  hash = (Math.imul(hash, 31) + colour) | 0;
}
return [[...seen.values()].filter((count) => count > 60).length, hash];
"""


class Page:
    """A page that write_page() wrote, in a browser."""

    def __init__(self, window, shots):
        self.window, self.shots = window, shots
        self.run, self.wait = window.run, window.wait

    def open(self, out, fragment=""):
        self.window.open(out / "index.html", fragment)
        self.wait("return document.documentElement.dataset.ready")

    def look(self, dark, still):
        scheme, motion = "dark" if dark else "light", "reduce" if still else "no-preference"
        self.window._devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion}])

    def quiet(self, what):
        complaints = [entry for entry in self.window.log() if entry["level"] in ("SEVERE", "WARNING")]
        check(not complaints and self.run("return document.documentElement.scrollWidth <= innerWidth"),
              f"{what}: no complaint, nothing scrolls sideways", complaints)

    def contrast(self, what):
        found = self.run(CONTRAST)
        check(not found, f"{what}: contrast", found)

    def press(self, *keys):
        """Keys of the focused element, as a keyboard sends them."""
        codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Escape": 27}
        for key in keys:
            for kind, text in (("keyDown", {"text": "\r"} if key == "Enter" else {}), ("keyUp", {})):
                self.window._devtools("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                                      windowsVirtualKeyCode=codes[key], **text)

    def click(self, text, within="#matrix"):
        self.run("""[...document.querySelectorAll(`${arguments[1]} button`)]
            .find((one) => one.textContent.trim().startsWith(arguments[0])).click()""", text, within)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def show(self, cell):
        """Opens a cell's panel; returns its text."""
        self.run("conebench.update({open: arguments[0]})", page._name(cell))
        self.wait("return document.getElementById('details').dataset.ready === conebench.state.open")
        return self.text("#details")

    def at(self, time):
        """Of the film."""
        self.run("""const slider = document.querySelector('.player input');
            if (slider) { slider.value = arguments[0]; slider.dispatchEvent(new Event('input')); }""", time)

    def picture(self, name):
        if self.shots:
            self.window.screenshot(self.shots / f"{name}.png")


def check_numbers(view, cells, run, out):
    view.open(out)
    rows, grid = view.run(CELLS), grades.Grid(cells, run)
    check(len(rows) == len(grid.rows) and all(len(row) == 2 + len(PHENOMENA) for row in rows),
          "default and best variants by all phenomena", [row[0] for row in rows])
    check(view.run(HEADS) == [one["title"] for one in grid.phenomena], "a column a phenomenon")
    shown = {name: row for name, row in zip(view.run("return [...document.querySelectorAll('#matrix tbody th')]"
                                                     ".map((one) => one.title)"), rows)}
    for row in grid.rows:
        label = grid.label(row)
        assert shown[label][1] == tables._counts(grid.cells(row)), (label, shown[label][1])
        for one, text in zip(grid.phenomena, shown[label][2:]):
            wanted = tables._markdown_entry(grid.worst(row, one["id"]), grid.exact(one["id"]) is None)
            assert text == wanted.replace(" ", "", wanted.startswith("✓")), (label, one["id"], text, wanted)
    check(True, "numbers are those of the tables: the worst case's, errors where exact values differ")
    values = [0.0, 9.999, 0.00123, 1234.4, 123456.0, -0.4077, 2e-5, 99999.0, 0.0999999, 12.345,
              *np.random.default_rng(1).normal(0, 1, 300).tolist()]
    check(view.run("return arguments[0].map(conebench.short)", values) == [grades.short(value) for value in values],
          "both languages write a number the same")


def check_looks(view, out):
    title = view.run("return document.querySelector('#matrix tbody .cell.g6').title")
    check("cannot: no " in title and "springs and dampers" in title, "what an engine cannot is in the tooltip", title)
    words = set(view.run("return [...document.querySelectorAll('tbody .g5')].map((one) => one.textContent.trim())"))
    words.discard("")  # parts of the scores' bars
    check(words == {"crashed", "time limit", "NaN", "error"}, "crashed, time limit, not finite, error", words)
    check("Not installed: RAPIER (No module named 'rapier')" in view.text("#matrix"), "what is not installed")
    check(view.run(MARKED), "colour is never alone: a tick or a bar, and a label")
    check(view.run(SCOPED), "headings have scopes, the table a caption")
    for dark in (False, True):
        view.look(dark, still=True)
        view.contrast("dark" if dark else "light")
        lights = view.run(LIGHTS)
        check(lights == sorted(lights, reverse=not dark), "grades of wrong differ in lightness as in colour", lights)
    view.look(dark=False, still=True)
    view.quiet("matrix")


def check_choices(view, out):
    view.click("Right")
    scores = view.run(SCORES)
    check(scores == sorted(scores, reverse=True)
          and view.run("return document.querySelector('th.score').getAttribute('aria-sort')") == "descending",
          "sorted by right cells")
    view.click("Right")
    check(view.run(SCORES) == sorted(scores) and view.run("return location.hash") == "#sort=right", "and the other way")
    view.click("Height of a bounce")
    graded = view.run(GRADES, 2 + 10)
    check(graded[-4:] == [6] * 4 and graded[:-4] == sorted(graded[:-4]),
          "sorted by a column; what cannot comes last", graded)
    view.click("3 ▸")
    check({"mu = 0.2", "mu = 0.5", "mu = 1.0"} <= set(view.run(HEADS)), "a column opens its cases", view.run(HEADS))
    check("1.96" in view.text("#matrix tr.exact"), "with their exact values")
    view.click("Groups")
    view.click("sliding", "#matrix .folded")
    view.click("Engines")
    for name in ("DRAKE", "MUJOCO"):
        view.click(name, "#matrix .folded:last-of-type")
    view.click("All variants")
    view.click("Errors")
    address, shown = view.run("return location.hash"), view.run(CELLS)
    check(len(shown) == 10 and {len(row) for row in shown} == {2 + 5}
          and {row[0].split()[0] for row in shown} == {"DRAKE", "MUJOCO"}, "filtered by group and engine", shown)
    view.open(out, address)
    check(view.run(CELLS) == shown and "engines=DRAKE" in address, "the address keeps it all", address)
    view.open(out, "#show=nonsense&engines=NOBODY|MUJOCO&step=7&open=zzz&wide=gone&sort=none")
    check(len(view.run(CELLS)) == 2, "what an address says wrongly is passed over")
    view.quiet("choices")


def check_panel(view, cells, out):
    view.open(out, "#variants=all")
    view.run("document.querySelector('#matrix tbody .cell').focus()")
    view.press("ArrowRight", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Enter")
    opened = view.run("return document.getElementById('details').open && conebench.state.open")
    check(opened, "arrows and Enter open a cell")
    view.press("ArrowRight")
    check(view.run("return conebench.state.open") not in ("", opened), "arrows go on in the panel")
    view.press("Escape")
    check(view.wait("return conebench.state.open === '' && document.activeElement.classList.contains('cell')"),
          "Escape goes back to the cell")
    text = view.show(next(one for one in cells if (one.engine, one.variant, one.phenomenon, one.case)
                          == ("MUJOCO", "elliptic", "stopping", "mu = 0.5, 2 m/s")))
    for words in ("Stopping distance", "MUJOCO elliptic", "v² / (2 μ g)", "0.408 m is right", "cone elliptic",
                  "Defect of the equation of motion", "the best admissible", "largest gap [mm]", "Took",
                  "conebench phenomena --engine MUJOCO --variant elliptic --phenomenon stopping "
                  "--case 'mu = 0.5, 2 m/s' --time-step 0.005 --out"):
        check(words in text, f"the panel says: {words}", text)
    axes = view.run("return [...document.querySelectorAll('.curve text.axis')].map((one) => one.textContent)")
    check(axes == ["time [s]", "way of the block [m]"]
          and view.run("return document.querySelectorAll('.curve path.line, .curve line.exact').length") >= 2,
          "the curve has units and the exact value", axes)
    pictures = []
    for time in (1, 0.1):
        view.at(time)
        pictures.append(view.run(INK))
    check(pictures[0][0] > 4 and pictures[0][1] != pictures[1][1], "the film shows its scene at a time", pictures)
    view.quiet("panel")
    view.look(dark=False, still=False)
    view.click("Play", "#details")
    check(view.wait("return Number(document.querySelector('.player input').value) > 0.3"), "the film plays")
    view.look(dark=False, still=True)
    view.open(out, "#open=" + view.run("return conebench.state.open"))
    view.wait("return document.querySelector('.film canvas')")
    check(view.text(".player .play") == "Play" and view.run(INK)[0] > 3, "a still picture where motion is not wanted")
    view.press("Escape")


def check_other_panels(view, cells, out):
    view.open(out)
    for kind in ("crashed", "cannot", "not finite"):
        cell = next(one for one in cells if one.outcome == kind)
        text = view.show(cell)
        check((cell.element or kind) in text and cell.message in text, f"a panel without a value says why: {kind}",
              text)
    view.show(next(one for one in cells if one.phenomenon == "hostile" and one.outcome == "measured"))
    text = view.text("#details code")
    check("--case 'it'\\''s; rm -rf <x>'" in text, "names are quoted for a shell", text)
    check(view.run("return document.querySelectorAll('#details h2 b, #matrix thead b').length") == 0, "and no markup")
    view.quiet("panels")
    gone = next(one for one in cells if (one.phenomenon, one.engine) == ("creep", "ODE"))
    (out / f"cells/{page._name(gone)}.js").unlink()
    check("could not be read" in view.show(gone), "a file that is gone is said")
    view.window.log()


def check_widths(view, cells, out):
    films = {"slide": ("MUJOCO", "default", "stopping"), "crash": ("BULLET", "default", "painleve"),
             "roll": ("MUJOCO", "default", "ball"), "arch": ("MUJOCO", "best", "arch"),
             "stack": ("NEWTON-XPBD", "default", "stack"), "cradle": ("DRAKE", "best", "cradle"),
             "incline": ("MUJOCO", "default", "creep"), "wedge": ("DART", "default", "slide-energy")}
    for width, height in ((420, 860), (800, 900), (1400, 900)):
        view.window.set_size(width, height)
        for dark in (False, True):
            view.look(dark, still=True)
            name = f"{width} {'dark' if dark else 'light'}"
            view.open(out)
            view.picture(name)
            view.quiet(name)
            for kind in list(films)[:3 if dark else 2 if width != 800 else None]:
                cell = [one for one in cells if (one.engine, one.variant, one.phenomenon) == films[kind]][-1]
                view.show(cell)
                check(view.run("const box = document.querySelector('dialog'); return box.scrollWidth <= box.clientWidth"),
                      f"{name}, {kind}: the panel does not scroll sideways")
                view.contrast(f"{name}, {kind}")
                view.at(0.5)
                view.picture(f"{name} {kind}")
                view.run("document.getElementById('details').scrollTop = 1e4")
                view.picture(f"{name} {kind} end")
                view.quiet(f"{name}, {kind}")
            view.open(out, "#variants=all&wide=push-threshold|stack&sort=-creep")
            view.picture(f"{name} wide")
            check(view.run(FITTING), f"{name}: no word leaves its cell")
            for section in ("phenomena", "engines"):
                view.run("""for (const one of document.querySelectorAll('details')) one.open = true;
                    document.getElementById(arguments[0]).scrollIntoView()""", section)
                view.picture(f"{name} {section}")
            view.contrast(f"{name}, all")
            view.quiet(f"{name}, all")
    view.window.set_size(1366, 768)
    view.look(dark=False, still=True)


def check_small(view, folder):
    """Two time steps; a cell of which run.json says nothing; none."""
    cells, run = made_up((0.005, 0.0025), quick=True)
    some = [cell for cell in cells if cell.engine in ("MUJOCO", "CONEBENCH")
            and cell.phenomenon in ("creep", "stopping")]
    page.write_page(write_run(folder / "steps-run", some, run), folder / "steps")
    view.open(folder / "steps")
    count = len(view.run(CELLS))
    view.click("All steps")
    rows = view.run(CELLS)
    check(len(rows) == 2 * count and any("2.5 ms" in row[0] for row in rows) and "quick" in view.text("#about"),
          "two time steps", rows)
    view.quiet("time steps")
    one = dataclasses.replace(some[0], curves={}, facts={}, verdicts={}, film=None, phenomenon="unknown",
                              engine="OTHER", variant="mine")
    page.write_page(write_run(folder / "one-run", [one], {}), folder / "one")
    view.open(folder / "one")
    check("unknown" in view.show(one), "a cell of which run.json says nothing")
    view.quiet("one cell")
    page.write_page(write_run(folder / "none-run", [], {}), folder / "none")
    view.open(folder / "none")
    check("No engine to show" in view.text("#matrix"), "no cell")
    view.quiet("no cell")


def main():
    shots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    cells, run = made_up()
    with tempfile.TemporaryDirectory(prefix="conebench_phenomena_") as name:
        folder = pathlib.Path(name)
        out = (shots or folder) / "page"
        shutil.rmtree(out, ignore_errors=True)
        check_tables(cells, run)
        check_compare()
        check_latex(cells, run, folder)
        check_files(cells, write_run(folder / "run", cells, run), out)
        reason = browser.missing()
        if reason:
            print(f"skipped: {reason}")
            sys.exit(77)
        with browser.Browser(1366, 768) as window:
            view = Page(window, shots)
            view.look(dark=False, still=True)
            check_numbers(view, cells, run, out)
            check_looks(view, out)
            check_choices(view, out)
            check_widths(view, cells, out)
            check_panel(view, cells, out)
            check_other_panels(view, cells, out)
            check_small(view, folder)


if __name__ == "__main__":
    main()
