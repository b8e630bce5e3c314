#!/usr/bin/env python3
"""The Python package against the executable and against numpy's own arithmetic.
usage: python_test.py CONEBENCH PACKAGE_FOLDER TUTORIAL      77: a module is not installed"""
import ast, csv, doctest, importlib.util, json, os, pathlib, runpy, sqlite3, subprocess, sys, tempfile, time

for module in ("numpy", "scipy", "pandas", "h5py"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
executable, package, tutorial = map(os.path.abspath, sys.argv[1:4])
os.environ["PATH"] = os.path.dirname(executable) + ":" + os.environ["PATH"]
os.environ["PYTHONPATH"] = package
sys.path.insert(0, package)
import h5py
import numpy as np
import conebench

here = pathlib.Path(__file__).parent


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def run(*words, code=0):
    done = subprocess.run([executable, *map(str, words)], text=True, capture_output=True)
    if done.returncode != code:
        raise SystemExit(f"FAILED: {words}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done


def refused(call):
    try:
        call()
    except conebench.Error as error:
        return error
    raise SystemExit("FAILED: no conebench.Error")


def scaled_natural_map(problem, r):
    """Contacts in space alone, by its formula in docs/metrics.md."""
    s = (problem.G @ r + problem.R * r + problem.g).reshape(-1, 3)
    v = s.copy()
    v[:, 2] += problem.mu * np.linalg.norm(s[:, :2], axis=1)
    rho = 3 / (problem.G.diagonal() + problem.R).reshape(-1, 3).sum(axis=1)
    x = r.reshape(-1, 3) - rho[:, None] * v
    largest = np.linalg.norm(problem.g.reshape(-1, 3), axis=1).max()
    worst = 0.0
    for x_i, r_i, mu, rho_i in zip(x, r.reshape(-1, 3), problem.mu, rho):
        t, n = np.linalg.norm(x_i[:2]), x_i[2]
        if t <= mu * n:
            onto = x_i
        elif mu * t <= -n:
            onto = np.zeros(3)
        else:
            height = (mu * t + n) / (1 + mu * mu)
            onto = np.array([*(x_i[:2] * mu * height / t), height])
        worst = max(worst, np.linalg.norm(r_i - onto) / (rho_i * largest))
    return worst


def problems(folder):
    scene = "box-stack boxes=3 seed=2"
    problem = conebench.load(scene)
    rng = np.random.default_rng(1)
    for _ in range(5):
        r = rng.normal(size=problem.rows) * 10
        ours, theirs = scaled_natural_map(problem, r), conebench.judge(problem, r).verdict_value
        check(abs(ours - theirs) <= 1e-12 * theirs, f"the judge's residual is numpy's: {theirs}")
    file = folder / "stack.hdf5"
    conebench.save(problem, file)
    again = conebench.load(file)
    check((again.G != problem.G).nnz == 0 and np.array_equal(again.g, problem.g), "a saved problem has the same bits")
    copied = conebench.problem(problem.G, problem.g, problem.mu, normal="last", name="copied")
    check((copied.G != problem.G).nnz == 0 and copied.contacts == problem.contacts, "arrays make the same problem")
    conebench.save(copied, folder / "copied.hdf5")
    with h5py.File(folder / "copied.hdf5") as stored:
        q = stored["fclib_local/vectors/q"][...]
    check(np.array_equal(q, problem.g.reshape(-1, 3)[:, [2, 0, 1]].ravel()), "files have the normal first")
    dense = conebench.problem(problem.G.toarray(), problem.g, problem.mu, normal="last")
    check(np.array_equal(dense.G.toarray(), problem.G.toarray()), "a dense G is taken")
    if problem.M is not None:
        made = problem.J @ np.linalg.inv(problem.M.toarray()) @ problem.J.T
        check(np.allclose(made, problem.G.toarray(), rtol=1e-10), "G = J M^-1 J'")
    return scene, file


def answers(scene, file, folder):
    answer = conebench.solve(str(file), "NSGS", tolerance=1e-8)
    reported = json.loads(run("solve", file, "--solver", "NSGS", "--tolerance", "1e-8", "--json", "--write-solution",
                          folder / "solved.hdf5").stdout)
    check(answer.solved and answer.iterations == reported["iterations"]
          and answer.verdict_value == reported["verdict_value"], "solve is that of the command line")
    check(answer.residuals == reported["residuals"], "and so are the residuals")
    with h5py.File(folder / "solved.hdf5") as stored:
        r = stored["solution/r"][...]
    check(np.array_equal(r.ravel(), conebench.load(file)._core.in_file_order(answer.r)), "and every bit of r")
    options = conebench.solve(scene, "PGS-NCP", relaxation=0.7, max_iterations=3, stop_by="solver")
    check(options.iterations <= 3 and not options.solved, "what does not converge is an answer")
    again = conebench.solve(scene, "NSGS", tolerance=1e-8, start=answer.r)
    check(again.iterations <= 1, "it starts where it is reported")
    for call, words in ((lambda: conebench.solve(scene, "NSGX"), ("solve", scene, "--solver", "NSGX")),
                        (lambda: conebench.load("none.hdf5"), ("inspect", "none.hdf5"))):
        error = refused(call)
        reported = run(*words, code=2 if error.code == "wrong_usage" else 3).stderr
        check("\n" not in str(error) and str(error).split(";")[0] in reported, f"{error.code}: {error}")
    check(refused(lambda: conebench.solve(scene, "PGS-NCP", relaxation=3.0)).code == "wrong_usage", "a bad option")
    check(refused(lambda: conebench.judge(scene, [1.0])).code == "wrong_usage", "a wrong length")
    for rows, mu, code in ((2, 0.5, "wrong_usage"), (3, -0.5, "bad_input")):
        check(refused(lambda: conebench.problem(np.eye(3), np.zeros(rows), [mu], normal="last")).code == code,
              f"{rows} rows, mu = {mu}: {code}")


@conebench.solver("BY-BLOCKS", intervals=True, friction_cones=True)
class ByBlocks:
    """Checks what it gets, and asks another solver."""

    def solve(self, problem, tolerance, max_iterations, start):
        blocks = problem.blocks
        contacts = np.flatnonzero(blocks.cone > 0)
        assert (blocks.groups[blocks.normal_row[contacts]] == 0).all() and problem.intervals == 1
        assert np.isnan(blocks.lower[blocks.block_rows[contacts]]).all()
        return conebench.solve(problem, "NSGS", tolerance=tolerance).r, {"iterations": len(blocks)}


def pendulum(friction, torque):
    """At rest, with dry friction in its joint [N m], for a step of 10 ms."""
    step, inertia = 0.01, 2.0
    return conebench.problem(M=[[inertia]], J=[[1.0]], v_free=[torque * step / inertia], time_step=step,
                             blocks=[conebench.interval(-friction * step, friction * step)]), step, inertia


def blocks(folder):
    for solver in ("CASCADE", "NSGS"):
        for torque in (0.5, 1.5, -3.0):
            problem, step, inertia = pendulum(1.0, torque)
            answer = conebench.solve(problem, solver, tolerance=1e-10)
            expected = -np.clip(torque, -1.0, 1.0) * step
            velocity = problem.G @ answer.r + problem.g
            check(answer.solved and conebench.judge(problem, answer.r, 1e-10).solved
                  and abs(answer.r[0] - expected) <= 1e-9 * step
                  and abs(velocity[0] - np.sign(torque) * max(abs(torque) - 1.0, 0.0) * step / inertia) <= 1e-11,
                  f"{solver}: a pendulum with friction 1 N m in its joint under {torque} N m")
    wrong = conebench.judge(pendulum(1.0, 0.5)[0], [-0.02])
    check(not wrong.solved, "an impulse beyond its bound solves nothing")

    rng = np.random.default_rng(3)
    kinds = [conebench.friction([0.6, 0.2]), conebench.interval(-0.1, 0.1), conebench.friction(0.5),
             conebench.bilateral(2), conebench.friction(0.0), conebench.unilateral()]
    rows = sum(block.rows for block in kinds)
    half = rng.normal(size=(rows, rows))
    G, g = half @ half.T + rows * np.eye(rows), rng.normal(size=rows)
    answers = {}
    for normal in ("first", "last"):
        problem = conebench.problem(G, g, blocks=kinds, normal=normal)
        answer = conebench.solve(problem, "NSGS", tolerance=1e-10)
        check(answer.solved and answer.r.shape == (rows,) and conebench.judge(problem, answer.r, 1e-10).solved,
              f"contacts of several laws, joints, limits and an interval in any order, the normal {normal}")
        check((problem.joints, problem.limits, problem.intervals, problem.contacts) == (2, 1, 1, 3), "its counts")
        answers[normal] = answer.r
        own = conebench.problem(problem.ordered.G, problem.ordered.g, blocks=problem.ordered.blocks)
        check(own.hash == problem.hash, "its own order is another order of the same problem")
        mine = conebench.solve(problem, ByBlocks, tolerance=1e-10)
        check(mine.solved and np.allclose(mine.r, answer.r, atol=1e-8), "a class sees blocks in Conebench's order")
        s = G @ answer.r + g
        for k in (0, 2):
            begin, end = problem.blocks.block_rows[k : k + 2]
            n = problem.blocks.normal_row[k]
            t = [row for row in range(begin, end) if row != n]
            mu = problem.blocks.mu[t]
            bound = np.linalg.norm(answer.r[t] / mu) - answer.r[n]
            along = answer.r[begin:end] @ s[begin:end] + answer.r[n] * np.linalg.norm(mu * s[t])
            check(bound <= 1e-8 and abs(along) <= 1e-8, "maximum dissipation in an elliptic cone")
        table = {name: getattr(problem.blocks, name) for name in ("block_rows", "lower", "upper", "cone", "mu")}
        for given in (table, tuple(table.values())):
            check(conebench.problem(G, g, blocks=given, normal=normal).hash == problem.hash, "arrays say the same")
        single = conebench.problem(G.astype(np.float32), g.astype(np.float32), blocks=kinds, normal=normal)
        check(conebench.solve(single, "NSGS").solved, "float32")
    J, M, v_free = rng.normal(size=(rows, rows + 2)), np.diag(1 + rng.random(rows + 2)), rng.normal(size=rows + 2)
    b = rng.normal(size=rows)
    primal = conebench.problem(M=M, J=J, v_free=v_free, b=b, blocks=kinds, normal="first", R=0.1)
    dual = conebench.problem(J @ np.linalg.inv(M) @ J.T, J @ v_free + b, blocks=kinds, normal="first", R=0.1)
    check(np.allclose(*(conebench.solve(one, "NSGS", tolerance=1e-10).r for one in (primal, dual)), atol=1e-7),
          "M, J and v_free are the same problem")
    sticky = conebench.problem(np.eye(3), [0.3, 0.0, 0.0], blocks=[conebench.friction(0.5, shift=0.2)], normal="first")
    answer = conebench.solve(sticky, "NSGS", tolerance=1e-10)
    check(abs(answer.r[0] + 0.2) <= 1e-9 and conebench.judge(sticky, answer.r, 1e-8).solved, "a contact that adheres")

    file = folder / "blocks.hdf5"
    kinds += [conebench.friction([0.4, 0.4, 0.02], groups=[2, 1], shift=0.3), conebench.friction([0.3, 0.0])]
    rows = sum(block.rows for block in kinds)
    half, g = rng.normal(size=(rows, rows)), rng.normal(size=rows)
    G = half @ half.T + rows * np.eye(rows)
    for normal in ("last", "first"):
        problem = conebench.problem(G, g, blocks=kinds, normal=normal, R=0.1, guess=0.0 * g)
        conebench.save(problem, file)
        with h5py.File(file) as stored:
            check(int(stored["conebench/version"][0]) == 4 and "fclib_local" not in stored, "a file by blocks")
        again, order = conebench.load(file), problem.blocks.order()
        check(again.hash == problem.hash and (again.joints, again.limits, again.intervals, again.contacts)
              == (problem.joints, problem.limits, problem.intervals, problem.contacts), "and back")
        check(np.array_equal(again.G.toarray(), G[np.ix_(order, order)]) and np.array_equal(again.g, g[order])
              and np.array_equal(again.mu, problem.mu), f"its rows have the order of its blocks, the normal {normal}")
        for name in ("block_rows", "cone", "shift", "lower", "upper", "mu", "groups"):
            own = getattr(problem.blocks, name)
            own = own[order] if name in ("lower", "upper", "mu", "groups") else own
            check(np.array_equal(getattr(again.blocks, name), own, equal_nan=True), f"and {name}")
        answer = conebench.solve(again, "NSGS", tolerance=1e-10)
        check(np.array_equal(answer.r, conebench.solve(problem, "NSGS", tolerance=1e-10).r[order]), "and answers")
        check(answer.solved and conebench.judge(again, answer.r).residuals == answer.residuals, "which the judge takes")
        np.save(folder / "r.npy", answer.r)
        judged = json.loads(run("judge", file, "--reaction", folder / "r.npy", "--json").stdout)
        check(judged["residuals"] == answer.residuals, "as that of the command line does")
        own = folder / "ordered.hdf5"
        conebench.save(again.ordered, own)
        check(conebench.load(own).hash == problem.hash, "Conebench's order is one of the same problem")
    plain = conebench.problem(np.eye(4), -np.ones(4), blocks=[conebench.friction(0.5), conebench.bilateral()],
                              normal="first")
    for given, part in ((plain, "conebench/cone"), (plain.ordered, "fclib_local")):
        conebench.save(given, folder / "plain.hdf5")
        with h5py.File(folder / "plain.hdf5") as stored:
            check(part in stored, f"what FCLIB could hold, too: {part}")
    answer = conebench.solve(problem, "PGS-LCP")
    check(answer.status == "unsupported" and not answer.solved and np.array_equal(answer.r, np.zeros(rows)),
          "an unsupported solver's answer is zeros")
    (folder / "by_blocks.py").write_text("import conebench\n"
                                         "@conebench.solver('FILE-BLOCKS', intervals=True, friction_cones=True)\n"
                                         "class ByBlocks:\n"
                                         "    def solve(self, problem, tolerance, max_iterations, start):\n"
                                         "        r = conebench.solve(problem, 'NSGS', tolerance=1e-10).r\n"
                                         "        return r, {'iterations': problem.intervals}\n")
    for solver, words in (("FILE-BLOCKS", f"{sys.executable} -m conebench {folder / 'by_blocks.py'}"),
                          ("JACOBI-PYTHON", f"{sys.executable} {here.parents[1]}/examples/plugins/jacobi/jacobi.py")):
        given = file
        if solver == "JACOBI-PYTHON":
            given = folder / "bounded.hdf5"
            conebench.save(conebench.problem(np.eye(5) + 0.1, -np.ones(5), normal="first",
                                             blocks=[conebench.interval(-1, 0.2), conebench.friction([0.5, 0.3]),
                                                     conebench.unilateral()]), given)
        done = json.loads(run("solve", given, "--solver", solver, "--program", words, "--tolerance", "1e-8",
                              "--json").stdout)
        check(done["solved"], f"a program gets a file by blocks: {solver}")

    identity, zero, contact = np.eye(3), np.zeros(3), [conebench.friction(0.5)]
    for words, call in (
            ("normal: say", lambda: conebench.problem(identity, zero, blocks=contact)),
            ("blocks say these", lambda: conebench.problem(identity, zero, [0.5], blocks=contact, normal="first")),
            ("g: has 3 entries", lambda: conebench.problem(identity, zero, blocks=[*contact, *contact], normal="first")),
            ("2 by 2, expected 3 by 3", lambda: conebench.problem(np.eye(2), zero, blocks=contact, normal="first")),
            ("all three of them", lambda: conebench.problem(M=identity, J=identity, blocks=contact, normal="first")),
            ("R: entry 0 is -1", lambda: conebench.problem(identity, zero, blocks=contact, normal="last", R=[-1, 0, 0])),
            ("lower <= upper", lambda: conebench.interval(1.0, 0.0)),
            ("mu[1] = -0.2", lambda: conebench.friction([0.5, -0.2])),
            ("groups [1] must be", lambda: conebench.friction(0.5, groups=[1])),
            ("'cube' must be one of", lambda: conebench.friction(0.5, shape="cube")),
            ("no force acts", lambda: conebench.judge(conebench.problem(
                identity, zero, blocks=[conebench.friction([0.5, 0.0])], normal="first"), [1.0, 0.0, 0.1])),
            ("no rows with bounds", lambda: conebench.solve(pendulum(1.0, 0.5)[0], Waiting))):
        reported = str(refused(call))
        check(words in reported and "\n" not in reported, reported)


@conebench.solver("WAITING")
class Waiting:
    """Has the answer, and waits for longer than it may."""

    def solve(self, problem, tolerance, max_iterations, start, time_limit):
        time.sleep(1.2 * time_limit)
        return conebench.solve(problem, "NSGS", tolerance=tolerance).r, {"iterations": round(1000 * time_limit)}


@conebench.solver("BACKDATED")
class Backdated:
    """Has the answer too late, and claims that it took next to nothing."""

    def solve(self, problem, tolerance, max_iterations, start):
        time.sleep(0.3)
        r = conebench.solve(problem, "NSGS", tolerance=tolerance).r
        return r, {"status": "converged", "setup_s": 0.0, "solve_s": 1e-6}


@conebench.solver("PREPARING")
class Preparing:
    """Takes time for set-up, and returns the time limit that solve() gets as its iterations, in microseconds."""

    def prepare(self, problem):
        time.sleep(0.2)

    def solve(self, problem, tolerance, max_iterations, start, time_limit):
        r = conebench.solve(problem, "NSGS", tolerance=tolerance).r
        return r, {"iterations": round(1e6 * time_limit)}


def limits():
    late = conebench.solve("box-stack boxes=2", Backdated, time_limit=0.1)
    check(late.status == "time_limit" and not late.solved and not late.claimed and late.setup_s + late.solve_s >= 0.3,
          "the clock decides what is late, not what a solver claims")
    check((late.own_setup_s, late.own_solve_s) == (0.0, 1e-6), "and its own times stand apart")
    check(late.reason.startswith("passes, but came too late; came back after "), "its answer passes")
    late = conebench.solve("box-stack boxes=2", "CASCADE", tolerance=10.0, stop_by="solver", time_limit=1e-9)
    check(not late.solved and late.reason.startswith("passes, but came too late"), "a built-in solver's, too")
    intime = conebench.solve("box-stack boxes=2", Backdated, time_limit=60.0)
    check(intime.solved and intime.solve_s >= 0.3, "its time is the clock's where it is in time, too")
    left = conebench.solve("box-stack boxes=2", Preparing, time_limit=60.0)
    check(left.solved and left.setup_s >= 0.2 and abs(left.iterations * 1e-6 - (60.0 - left.setup_s)) < 2e-6,
          "the time limit of solve is what prepare has left")
    late = conebench.solve("box-stack boxes=2", Preparing, time_limit=0.1)
    check(late.status == "time_limit" and late.iterations == 1000, "never less than a millisecond")
    check(conebench.solve("box-stack boxes=2", "NSGS").own_solve_s is None, "solvers of this process claim no times of their own")


def sweeps(folder):
    suite = folder / "mine.json"
    suite.write_text(json.dumps({
        "name": "mine", "problems": [{"scene": "box-stack", "grid": {"boxes": [1, 2, 3]}}],
        "solvers": ["NSGS", "PGS-NCP", {"program": [sys.executable, "-m", "conebench", str(here / "jacobi.py")],
                                        "grid": {"relaxation": [0.2, 0.3]}}],
        "tolerances": [1e-4], "stop_by": "solver", "repeats": {"min": 1, "min_ms": 0, "max": 1}}))
    store = folder / "mine.sqlite"
    run("run", suite, "--allow-code", "--db", store)
    run("report", store, "--out", folder / "report", "--format", "csv,json")

    frame = conebench.read_store(store)
    with sqlite3.connect(store) as database:
        count, = database.execute("SELECT count(*) FROM cells").fetchone()
        stored = dict(database.execute("SELECT key, verdict_value FROM cells"))
    check(len(frame) == count == 12, "one row a cell")
    check(dict(zip(frame.key, frame.verdict_value)) == stored, "verdicts have the store's bits")

    for table, ours in (("ranking.csv", conebench.ranking(store)),
                        ("performance_profiles.csv", conebench.profile(store)),
                        ("data_profiles.csv", conebench.profile(store, kind="data"))):
        with open(folder / "report" / table, newline="") as opened:
            rows = list(csv.DictReader(opened))
        same = len(rows) == len(ours) > 0
        for row, (_, our) in zip(rows, ours.iterrows()):
            for name, text in row.items():
                value = our[name]
                same &= (value == text if isinstance(value, str) else
                         np.isnan(value) if text == "" else float(text) == float(value))
        check(same, f"{table} to the last digit")

    sys.path.insert(0, str(here))
    from jacobi import Jacobi
    here_alone = conebench.solve("box-stack boxes=2", Jacobi, tolerance=1e-4, relaxation=0.3)
    cell = frame[(frame.label.str.contains("relaxation=0.3")) & (frame.problem.str.contains("boxes=2"))].iloc[0]
    check(cell.iterations == here_alone.iterations and cell.verdict_value == here_alone.verdict_value,
          f"the marked class is the same solver in a sweep ({cell.iterations} iterations)")
    check(0.0 < cell.own_setup_s + cell.own_solve_s < cell.wall_s <= cell.total_median_s,
          "its own times are kept beside the clock's")
    late = conebench.solve("box-stack boxes=2", Waiting, time_limit=0.05)
    check(late.status == "time_limit" and not late.solved and 1 <= late.iterations <= 50, "a solver gets its time limit")
    check(refused(lambda: Jacobi(relaxation=3.0)).code == "wrong_usage" and refused(lambda: Jacobi(omega=1.0)),
          "its options have names and ranges")
    reported = run("check-solver", "--program", f"{sys.executable} -m conebench {here / 'jacobi.py'}")
    check("JACOBI-NUMPY" in reported.stdout and "failed " not in reported.stdout, "check-solver passes it")
    broken = folder / "broken.py"
    program = f"{sys.executable} -m conebench {broken}"
    broken.write_text("import conebench, numpy\n@conebench.solver('BROKEN')\nclass Broken:\n"
                      "    def solve(self, problem, tolerance, max_iterations, start):\n"
                      "        return numpy.linalg.inv(numpy.zeros((2, 2))), {}\n")
    reported = run("solve", "sliding-box", "--solver", "BROKEN", "--program", program, code=4)
    check(f"({broken}:5)" in reported.stderr, "an exception is shown with the solver's own line")
    broken.write_text("import conebench\ndef solve(:\n")
    reported = run("solve", "sliding-box", "--solver", "BROKEN", "--program", program, code=3)
    check(f"SyntaxError: invalid syntax ({broken}:2)" in reported.stderr, "and so is a slip of syntax")


def slips(folder):
    """What a class does wrong, reported of it in this process and in a program."""
    for line, reported in (("return zero", 'must return (r, {"status": …}), not ndarray'),
                       ("return zero, {'status': 'done'}", "'done' must be one of converged, max_iterations, "),
                       ("return zero[1:], {}", "of shape (35,), not (36,)"),
                       ("zero[4] = float('nan'); return zero, {}", "r[4] is nan")):
        slip = folder / "slip.py"
        slip.write_text("import conebench, numpy\n@conebench.solver('SLIP')\nclass Slip:\n"
                        "    def solve(self, problem, tolerance, max_iterations, start):\n"
                        f"        zero = numpy.zeros(problem.rows); {line}\n")
        finite = "nan" not in reported
        kind = runpy.run_path(str(slip))["Slip"]
        here_alone = refused(lambda: conebench.solve("box-stack boxes=3", kind)) if finite else \
            conebench.solve("box-stack boxes=3", kind).reason
        check(reported in str(here_alone), f"{here_alone}")
        words = ["solve", "box-stack boxes=3", "--solver", "SLIP", "--program"]
        done = run(*words, f"{sys.executable} -m conebench {slip}", code=4 if finite else 0)
        check(reported in done.stdout + done.stderr, "and so is its cell")
    done = run(*words, str(slip), code=3)
    check("name its interpreter" in done.stderr, "a file without an interpreter")
    del os.environ["PYTHONPATH"]
    done = run(*words, f"{sys.executable} -m conebench {slip}", code=3)
    os.environ["PYTHONPATH"] = package
    check("set PYTHONPATH" in done.stderr, "and an interpreter without the package")


def talkative(folder):
    """Whatever a kept class or its libraries print is no reply, and its input has no requests."""
    file = folder / "talkative.py"
    file.write_text("import conebench, os, sys\nprint('loaded')\n@conebench.solver('TALKATIVE')\nclass Talkative:\n"
                    "    def solve(self, problem, tolerance, max_iterations, start):\n"
                    "        print('.', end='', flush=True); os.write(1, b'{}\\n'); os.system('echo library')\n"
                    "        sys.stdout.write(sys.stdin.read() + 'progress')\n"
                    "        diverged = float('-inf') if max_iterations == 7 else float('nan')\n"
                    "        return start, {'status': 'diverged', 'own_residual': diverged}\n")
    for limit, residual in ((7, -np.inf), (8, np.nan)):
        done = run("solve", "sliding-box", "--solver", "TALKATIVE", "--max-iterations", limit, "--json", "--program",
                   f"{sys.executable} -m conebench {file}")
        reported = json.loads(done.stdout)
        check(reported["status"] == "diverged" and reported["reason"] == f"its own residual is {residual}",
              f"what is printed goes to standard error, and {residual} is a residual")


def stubs():
    tree = ast.parse((pathlib.Path(package) / "conebench" / "_core.pyi").read_text())
    public = lambda names: {name for name in names if not name.startswith("_")}
    reported = public([node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
                      + [node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)])
    check(reported == public(dir(conebench._core)), "the stub has the module's names")
    core, = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Core")
    check(public(node.name for node in core.body) == public(dir(conebench._core.Core)), "and its class's")
    check((pathlib.Path(package) / "conebench" / "py.typed").exists(), "py.typed is there")


with tempfile.TemporaryDirectory(prefix="conebench-python-") as name:
    folder = pathlib.Path(name)
    scene, file = problems(folder)
    answers(scene, file, folder)
    blocks(folder)
    limits()
    sweeps(folder)
    talkative(folder)
    slips(folder)
    stubs()
    (folder / "tutorial").mkdir()
    os.chdir(folder / "tutorial")
    sys.modules.pop("jacobi")
    sys.path[sys.path.index(str(here))] = "."
    failures, blocks = doctest.testfile(tutorial, module_relative=False,
                                        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    os.chdir(here)
    check(blocks > 10 and failures == 0, f"the tutorial's {blocks} lines do what they say")
    reported = run("check-solver", "--program", f"{sys.executable} -m conebench {folder / 'tutorial' / 'jacobi.py'}")
    check("MY-JACOBI" in reported.stdout, "check-solver passes its solver")
