#!/usr/bin/env python3
"""Simulations with solvers of one's own in their loop.
usage: simulate_test.py CONEBENCH PACKAGE_FOLDER      77: a module is not installed, or the build has no MuJoCo"""
import csv, importlib.util, json, os, pathlib, subprocess, sys, tempfile

for module in ("numpy", "scipy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
executable, package = map(os.path.abspath, sys.argv[1:3])
os.environ["PYTHONPATH"] = package
sys.path.insert(0, package)
import numpy as np
import conebench


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def refused(call):
    try:
        call()
    except conebench.Error as error:
        return error
    raise SystemExit("FAILED: no conebench.Error")


def trajectory(folder, *words):
    done = subprocess.run([executable, "generate", *map(str, words), "--out", folder, "--state"], text=True,
                          capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"FAILED: {words}: {done.stderr}")
    with open(folder / "trajectory.csv", newline="") as opened:
        return list(csv.DictReader(opened))


try:
    conebench.simulate("box-on-plane")
except conebench.Error as error:
    if error.code != "unsupported":
        raise
    print("skipped: built without MuJoCo")
    sys.exit(77)


def nsgs(problem, tolerance, max_iterations, start):
    answer = conebench.solve(problem, "NSGS", tolerance=tolerance, max_iterations=max_iterations, start=start)
    return answer.r, {"iterations": answer.iterations}


@conebench.solver("MARKED")
class Marked:
    """Right; its option tells of how many steps it takes."""

    allowed = conebench.option(1000, 1, 1000, "steps that are solved")

    def solve(self, problem, tolerance, max_iterations, start):
        self.count = getattr(self, "count", 0) + 1
        if self.count > self.allowed:
            return start, {"status": "stalled", "message": "enough"}
        return nsgs(problem, tolerance, max_iterations, start)


class Zeros:
    """Wrong, and sure of itself."""

    def solve(self, problem, tolerance, max_iterations, start):
        return 0 * start, {"status": "converged"}


def same_as_the_executable(folder):
    written = trajectory(folder / "box", "box-on-plane", "--set", "speed=2", "--steps", 20)
    steps = list(conebench.simulate("box-on-plane", options={"speed": 2}, steps=20))
    check(len(steps) == 20 and [step.step for step in steps] == list(range(1, 21)), "a scene's steps")
    for row, step, after in zip(written, steps, written[1:]):
        check(int(row["iterations"]) == step.iterations and row["status"] == step.status
              and float(row["time_s"]) == round(step.time, 9)
              and np.array_equal(step.position, [float(after[f"q{k}"]) for k in range(1, 8)])
              and np.array_equal(step.velocity, [float(after[f"v{k}"]) for k in range(1, 7)]),
              f"step {step.step} has the bits of the executable's")
    simulation = conebench.simulate("box-on-plane", steps=1, time_step=0.005)
    check(simulation.time_step == 0.005 and next(simulation).time == 0.005, "a time step of one's own")
    check(next(simulation, None) is None and simulation.notes == [], "and an end")
    check(len(trajectory(folder / "whole", "box-on-plane")) == sum(1 for _ in conebench.simulate("box-on-plane")),
          "the scene has a number of steps")


def own_solvers():
    expected = list(conebench.simulate("cube-sliding", "NSGS", steps=30))
    for kind in (nsgs, Marked, Marked(allowed=30)):
        steps = list(conebench.simulate("cube-sliding", kind, steps=30))
        check(all(step.solved and step.status == "converged" and step.residual <= step.tolerance for step in steps),
              f"{kind} solves every step")
        check(all(np.allclose(ours.velocity, theirs.velocity, atol=1e-6) for ours, theirs in zip(steps, expected)),
              "and moves the cube as NSGS does")
        check(all(step.iterations <= 3 for step in steps[2:]), "from the last impulses of the same contacts")
    for step in steps:
        after = step.problem.v_free + np.linalg.solve(step.problem.M.toarray(), step.problem.J.T @ step.impulse)
        check(np.allclose(step.velocity, after, atol=1e-14), "v = v_free + M^-1 J' r")
    check(np.allclose(steps[5].problem.guess, steps[4].impulse, rtol=1e-6), "the guess is the last step's answer")
    judged = steps[5].answer
    check(judged.solved and judged.slip == 4 and np.isclose(judged.verdict_value, steps[5].residual, rtol=1e-4),
          "with the judge's say")

    steps = list(conebench.simulate("cube-sliding", Marked(allowed=2), steps=4))
    check([step.solved for step in steps] == [True, True, False, False] and steps[3].message == "enough",
          "an object lives as long as its loop")
    steps = list(conebench.simulate("cube-sliding", Zeros, steps=20))
    check(all(not step.solved and step.status == "stalled" and step.residual > 1e-3 for step in steps),
          "zeros solve no step, whatever they say")
    check(not steps[0].answer.solved and steps[-1].position[2] < 0.1 - 1e-3, "and the cube falls through the ground")
    believed = next(conebench.simulate("cube-sliding", Zeros, stop_by="solver"))
    check(believed.solved and not believed.answer.solved, "unless the solver's word is to count")
    fallen = next(conebench.simulate("cube-sliding", Marked(allowed=1), fallback="frictionless"))
    check(fallen.solved and fallen.fallback == "unused", "a fallback that is not needed")
    failed = next(conebench.simulate("cube-sliding", Zeros, fallback="frictionless"))
    check(failed.fallback in ("frictionless", "failed") and not failed.solved, "and one that is")
    stopping = conebench.simulate("cube-sliding", Zeros, fallback="stop")
    check(not next(stopping).solved, "the step that ends a run is given")
    error = refused(lambda: next(stopping))
    check(error.code == "bad_input" and "step 1" in str(error) and "not solved by Zeros" in str(error), f"then {error}")


@conebench.solver("LOOSE", joints=False, limits=False)
class Loose:
    """Stops by a test that is far from the judge's."""

    def solve(self, problem, tolerance, max_iterations, start):
        answer = conebench.solve(problem, "NSGS", tolerance=1e3 * tolerance, start=start)
        self.asked = getattr(self, "asked", 0) + 1
        return answer.r, {"iterations": self.asked}


def tightened():
    steps = list(conebench.simulate("cube-sliding", Loose, steps=5))
    check(all(step.solved for step in steps) and steps[0].iterations == 4, "asked for ever more until the judge accepts")
    own = list(conebench.simulate("cube-sliding", Loose, steps=5, stop_by="solver"))
    check([step.iterations for step in own] == [1, 2, 3, 4, 5] and not own[0].answer.solved, "or asked once")


def other_models(folder):
    for name, loop in (("boxes", {"coordinates": "maximal"}), ("box-anisotropic", {})):
        scene = {"boxes": "box-on-plane"}.get(name, name)
        steps = list(conebench.simulate(scene, Marked, steps=3, **loop))
        check(all(step.solved for step in steps), f"{name} {loop}")
    model = folder / "ball.xml"
    model.write_text('<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="5 5 1"/>'
                     '<body pos="0 0 0.1"><freejoint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>')
    steps = list(conebench.simulate(model, nsgs, steps=50))
    check(steps[-1].solved and abs(steps[-1].time - 0.2) < 1e-9 and abs(steps[-1].position[2] - 0.1) < 1e-3, "a model's file")
    apart = [step.solved for step in conebench.simulate("cube-sliding", "SICONOS-NSGS", steps=3)] \
        if "SICONOS-NSGS" in subprocess.run([executable, "list", "solvers"], text=True, capture_output=True).stdout \
        else [True]
    check(all(apart), "a library in a process of its own")


def mistakes():
    for code, words, call in (
            ("wrong_usage", "unknown simulated scene 'box-stack'", lambda: conebench.simulate("box-stack")),
            ("wrong_usage", "nor is it a file", lambda: conebench.simulate("none.xml")),
            ("wrong_usage", "unknown solver 'NSGX'", lambda: conebench.simulate("cube-sliding", "NSGX")),
            ("wrong_usage", "did you mean 'speed'", lambda: conebench.simulate("cube-sliding", sped=2)),
            ("wrong_usage", "tolerance", lambda: conebench.simulate("cube-sliding", tolerance=-1.0)),
            ("wrong_usage", "neither an id nor a class", lambda: conebench.simulate("cube-sliding", 3)),
            ("wrong_usage", "must return (r, ", lambda: next(conebench.simulate("cube-sliding", lambda *of: of[3]))),
            ("wrong_usage", "r of shape (2,), not (12,)",
             lambda: next(conebench.simulate("cube-sliding", lambda *of: (np.zeros(2), {}))))):
        error = refused(call)
        check(error.code == code and words in str(error) and "\n" not in str(error), f"{code}: {str(error)[:90]}")

    step = next(conebench.simulate("cube-sliding", lambda *of: (of[3] + np.nan, {})))
    check(not step.solved and step.status == "diverged", "impulses that are not finite are an unsolved step")

    def broken(problem, tolerance, max_iterations, start):
        raise ZeroDivisionError("its own")

    try:
        next(conebench.simulate("cube-sliding", broken))
        raise SystemExit("FAILED: no exception")
    except ZeroDivisionError as raised:
        check(str(raised) == "its own", "what a solver raises comes out")


def pushed():
    """A push accelerates by F/m until it is taken back; a torque turns; contacts carry the weight."""
    simulation = conebench.simulate("box-on-plane", steps=40, options={"speed": 0.0})
    first = next(simulation)
    h, mass = simulation.time_step, first.problem.M[0, 0]
    name = simulation.contacts[0]["bodies"][1]
    simulation.push(name, (0.0, 0.0, 3.0 * mass * 9.81))
    next(simulation)
    up = next(simulation).velocity
    check(abs(up[2] - 2 * h * 2.0 * 9.81) < 1e-9, f"a push of three weights lifts: {up[2]}")
    simulation.push(name, (0.0, 0.0, 0.0), (0.0, 0.0, 1e-3))
    after = next(simulation).velocity
    check(abs(after[2] - up[2] + h * 9.81) < 1e-9 and after[5] > 0.0, "it is taken back, and a torque turns")
    resting = conebench.simulate("box-on-plane", steps=40, options={"speed": 0.0})
    step = [next(resting) for _ in range(40)][-1]
    total = sum(step.impulse[one["row"] + one["rows"] - 1] * one["frame"][2][2] for one in resting.contacts)
    check(abs(total - mass * 9.81 * h) < 1e-6 * mass, "contacts carry the weight along their normals")
    for words, said in ((("nobody", (0, 0, 1)), "nobody"), ((name, (0, 0)), "three finite numbers")):
        try:
            simulation.push(*words)
            raise SystemExit("FAILED: no error")
        except conebench.Error as error:
            check(said in str(error), f"an error that says what is wrong: {error}")


def as_a_program(folder):
    """Started once for all steps, which it counts."""
    file = folder / "counting.py"
    file.write_text("import conebench\n"
                    "count = 0\n"
                    "@conebench.solver('COUNTING')\n"
                    "class Counting:\n"
                    "    def solve(self, problem, tolerance, max_iterations, start):\n"
                    "        global count\n"
                    "        count += 1\n"
                    "        r = conebench.solve(problem, 'NSGS', tolerance=tolerance, start=start).r\n"
                    "        return r, {'iterations': count}\n")
    rows = trajectory(folder / "program", "cube-sliding", "--steps", 8, "--set", "solver=COUNTING", "--program",
                      f"{sys.executable} -m conebench {file}")
    check([row["failed"] for row in rows] == ["0"] * 8, "a class solves every step of `generate`")
    counts = [int(row["iterations"]) for row in rows]
    check(counts == sorted(counts) and counts[-1] >= 8, f"in one process: {counts}")
    with open(folder / "program" / "samples.json") as opened:
        listed = json.load(opened)
    check(listed["solver"] == "COUNTING" and listed["unsolved_files"] == [], "and the list names it")


with tempfile.TemporaryDirectory(prefix="conebench-simulate-") as name:
    folder = pathlib.Path(name)
    same_as_the_executable(folder)
    own_solvers()
    tightened()
    other_models(folder)
    mistakes()
    pushed()
    as_a_program(folder)
