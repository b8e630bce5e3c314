#!/usr/bin/env python3
"""Peers in Python: their table, how they are served to the executable, and Clarabel, SCS and ProxQP on problems with known
answers. By a Python that has them for all of it; without them the table and refusals are tested.
usage: peers_test.py CONEBENCH PACKAGE_FOLDER      77: a module is not installed"""
import importlib.util, json, os, pathlib, subprocess, sys, tempfile, time

for module in ("numpy", "scipy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
executable, package = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, package)
import numpy as np
import conebench
from conebench import bilateral, friction, interval, peers, unilateral

os.environ["PYTHONPATH"] = package
os.environ["CONEBENCH_PYTHON"] = sys.executable
ccp = {"verdict": "natural_map_ccp_scaled"}
here = {name for name in ("clarabel", "scs", "proxsuite") if importlib.util.find_spec(name)}


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def run(*words, code=0):
    done = subprocess.run([*map(str, words)], text=True, capture_output=True)
    if done.returncode != code:
        raise SystemExit(f"FAILED: {words}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done


def table():
    listed = json.loads(run(sys.executable, "-m", "conebench.peers", "--list").stdout)
    check(list(listed) == list(peers.PEERS), "--list has all peers")
    shown = json.loads(run(executable, "list", "solvers", "--json").stdout)["peers"]
    check([row["id"] for row in shown] == list(peers.PEERS), "and so does the executable")
    run(sys.executable, "-m", "conebench.peers", code=1)
    for id, row in listed.items():
        if row["installed"]:
            continue
        says = f"{id}: needs {', '.join(peers.missing(id))}: pip install 'conebench[{row['extra']}]'"
        refused = run(executable, "solve", "box-stack boxes=2", "--solver", id, code=4).stderr
        check(refused == f"conebench: --solver: {says}\n", says)
        try:
            conebench.solve("box-stack boxes=2", id)
        except conebench.Error as error:
            check(str(error) == says, "from Python, too")


def command_line():
    version = run(sys.executable, "-m", "conebench", "--version").stdout
    check(version == run(executable, "--version").stdout, "python -m conebench is the executable")
    check(version.split()[1] == conebench.__version__, "__version__ is its version")
    check(run(sys.executable, "-m", "conebench", "solve", "x", "--solver", "NONE", code=2).stderr, "with its exit codes")


def all_kinds(rng):
    """One block of every kind, coupled, with an answer: g is G times something."""
    listed = [bilateral(2), unilateral(), interval(-0.3, 0.2), interval(0.1, 0.1), friction(0.5), friction([0.8, 0.3]),
              friction([0.5, 0.5, 0.05]), friction([0.5, 0.5, 0.05], groups=[2, 1]), friction([0.0, 0.0]),
              friction([0.6, 0.6], shape="pyramid"), friction([0.5, 0.5, 0.02, 0.02, 0.02]), friction([0.4])]
    rows = sum(block.rows for block in listed)
    factor = rng.normal(size=(rows, rows)) / np.sqrt(rows)
    return conebench.problem(G=factor @ factor.T, g=factor @ rng.normal(size=rows), R=np.full(rows, 1e-3), blocks=listed,
                             normal="first")


def answers():
    rng = np.random.default_rng(4)
    problem = all_kinds(rng)
    for id, library, how in (("SCS", "scs", ccp), ("CLARABEL", "clarabel", ccp), ("CLARABEL-NCP", "clarabel", {})):
        if library not in here:
            continue
        answer = conebench.solve(problem, id, tolerance=1e-9, **how)
        check(answer.verdict_value <= 1e-6, f"{id}: every kind of block, {answer.verdict_value:.1e}")
        check(answer.claimed and answer.iterations > 0 and answer.own_residual <= 1e-8,
              f"{id}: its own residual, {answer.own_residual:.1e}")
        few = conebench.solve(problem, id, tolerance=1e-9, max_iterations=3)
        check(few.status == "max_iterations" and not few.claimed, f"{id}: says when its iterations are spent")
        none = conebench.solve(conebench.problem(G=np.zeros((0, 0)), g=[], blocks=[]), id)
        check(none.status == "converged" and none.r.size == 0, f"{id}: no rows")
        units = conebench.problem(G=problem.G * 1e9, g=problem.g * 1e-6, R=problem.R * 1e9,
                                  blocks=[bilateral(problem.rows)])
        check(conebench.solve(units, id, tolerance=1e-9).verdict_value <= 1e-6, f"{id}: no units")
    if "proxsuite" in here:
        flat = [bilateral(), unilateral(2), interval(-0.1, 0.3), friction([0.0, 0.0]), friction([0.4])]
        rows = sum(block.rows for block in flat)
        made = conebench.problem(G=problem.G.toarray()[:rows, :rows] + np.eye(rows), g=rng.normal(size=rows), blocks=flat,
                                 normal="first")
        reference = conebench.solve(made, "SCS", tolerance=1e-11, **ccp).r if "scs" in here else None
        for backend in ("sparse", "dense"):
            answer = conebench.solve(made, "PROXQP", tolerance=1e-10, backend=backend, **ccp)
            check(answer.verdict_value <= 1e-8, f"PROXQP: {backend}, in the plane and without friction")
            check(reference is None or np.abs(answer.r - reference).max() <= 1e-7, "and SCS has the same answer")
        slide = conebench.problem(G=np.eye(3), g=[-1.0, 2.0, 1.0], blocks=[friction(0.5)], normal="first")
        errors = [conebench.solve(slide, "PROXQP", tolerance=1e-9, facets=facets, **ccp).verdict_value
                  for facets in (4, 16, 64, 256)]
        check(all(np.diff(errors) < 0) and errors[-1] <= 1e-3, f"PROXQP: more facets are nearer to the disc: {errors}")


def sweep(folder):
    if "clarabel" not in here:
        return
    shown = json.loads(run(executable, "list", "solvers", "CLARABEL", "--json").stdout)
    check(shown["origin"] == "peer" and shown["peer_version"] == peers.installed("CLARABEL")["clarabel"],
          "a peer has its library's version")
    (folder / "suite.json").write_text(json.dumps({
        "name": "peers", "problems": [{"scene": "box-stack", "options": {"boxes": 2}}], "solvers": ["CLARABEL", "NSGS"],
        "repeats": {"min": 1, "max": 1}}))
    words = executable, "run", folder / "suite.json", "--db", folder / "peers.sqlite", "--json"
    ran, again = (json.loads(run(*words).stdout)["cells_run_now"] for _ in range(2))
    check((ran, again) == (2, 0), "a sweep takes it by its id and resumes")
    run(executable, "report", folder / "peers.sqlite", "--out", folder / "report")
    check(shown["peer_version"] in (folder / "report/report.md").read_text(), "the report has its version")


table()
command_line()
answers()
with tempfile.TemporaryDirectory() as name:
    sweep(pathlib.Path(name))
if not here:
    print("skipped: the solvers need clarabel, scs and proxsuite")
    sys.exit(77)
