#!/usr/bin/env python3
"""Friction at its thresholds (tests/simulation/models/README.md): a solver written here in the loop, and CASCADE, NSGS and
it on the samples as files.
usage: friction_thresholds_test.py CONEBENCH PACKAGE_FOLDER      77: a module is not installed, or there is no MuJoCo"""
import importlib.util, os, pathlib, subprocess, sys, tempfile

for module in ("numpy", "scipy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
executable, package = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, package)
import numpy as np
import conebench

models = pathlib.Path(__file__).resolve().parents[1] / "simulation" / "models"
dt, g = 0.01, 9.81


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def to_cone(x, normal):
    """Onto |x_t| <= x_n."""
    tangents = np.delete(np.arange(len(x)), normal)
    length, height = np.linalg.norm(x[tangents]), x[normal]
    if length <= height:
        return x
    if length <= -height:
        return np.zeros_like(x)
    projected, mean = np.empty_like(x), 0.5 * (length + height)
    projected[normal] = mean
    projected[tangents] = x[tangents] * (mean / length)
    return projected


@conebench.solver("FIXED-POINT", intervals=True, friction_cones=True)
class FixedPoint:
    """r = P(r - rho (sigma + Gamma)) block by block, in rows in which an ellipsoid is a ball of radius 1."""

    def solve(self, problem, tolerance, max_iterations, start):
        blocks = problem.blocks
        n = len(blocks.mu)
        scale = np.where(np.asarray(blocks.mu) > 0.0, blocks.mu, 1.0)
        matrix = np.asarray(problem.G.todense() if hasattr(problem.G, "todense") else problem.G) + np.diag(problem.R)
        matrix, free = matrix * np.outer(scale, scale), problem.g * scale
        r = start / scale
        for sweep in range(20000):
            before = r.copy()
            for first, end, cone, normal in zip(blocks.block_rows[:-1], blocks.block_rows[1:], blocks.cone,
                                                blocks.normal_row):
                rows = slice(first, end)
                own = matrix[rows, rows]
                rho = 1.0 / max(np.linalg.norm(own, 2), 1e-12)
                sigma = matrix[rows] @ r + free[rows]
                if cone == 0:
                    r[rows] = np.clip(r[rows] - rho * sigma, blocks.lower[rows], blocks.upper[rows])
                    continue
                if not np.any(np.asarray(blocks.mu)[rows] > 0.0):  # no friction
                    r[normal] = max(0.0, r[normal] - sigma[normal - first] / own[normal - first, normal - first])
                    continue
                sigma[normal - first] += np.linalg.norm(np.delete(sigma, normal - first))
                r[rows] = to_cone(r[rows] - rho * sigma, normal - first)
            if np.linalg.norm(r - before) <= 1e-16 + 1e-14 * np.linalg.norm(r):
                break
        return r * scale, {"status": "converged", "iterations": sweep + 1}


def first_step(name, **options):
    return next(conebench.simulate(str(models / f"{name}.xml"), FixedPoint, tolerance=1e-11, **options))


def from_file(step, name):
    """All solvers on the step's problem, written and read again."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / f"{name}.hdf5")
        conebench.save(step.problem, file)
        problem = conebench.load(file)
        # Four contacts share a box's weight in any way, which a fixed point is slow to choose.
        for solver, tolerance in (("CASCADE", 1e-11), ("NSGS", 1e-11), (FixedPoint, 1e-5)):
            answer = conebench.solve(problem, solver, tolerance=tolerance, time_limit=200.0)
            check(answer.solved, f"{name}: {getattr(solver, '__name__', solver)} solves the file")


try:
    pendulums = first_step("held_pendulums")
except conebench.Error as error:
    if error.code == "unsupported":
        print("skipped: built without MuJoCo")
        sys.exit(77)
    raise
falls = (0.5 * g - 4.9) * dt / 0.26
check(np.allclose(pendulums.velocity, [0.0, falls, -falls], atol=1e-10), "a pendulum stands up to its joint's friction")
from_file(pendulums, "held_pendulums")

boxes = first_step("pushed_boxes")
check(abs(boxes.velocity[0]) < 1e-7 and abs(boxes.velocity[6] - (4.91 - 0.5 * g) * dt) < 1e-7,
      "a box holds 4.9 N and slips at 4.91 N")
from_file(boxes, "pushed_boxes")

disc = first_step("spinning_disc")
check(abs(disc.velocity[5] - (10.0 - 20.0 * dt)) < 1e-9, "torsion slows a disc by mu_t m g / I")
from_file(disc, "spinning_disc")

servos = first_step("limited_servos", drives="implicit")
check(np.allclose(servos.velocity[:2], [dt * 40.0 * 0.1 / (0.02 + dt * 1.5 + dt * dt * 40.0), dt * 2.0 / 0.02], atol=1e-9),
      "a servo is implicit below its limit and a constant torque at it")
from_file(servos, "limited_servos")

cube = first_step("sliding_cube")
check(abs(cube.velocity[2]) * dt < 1e-9, "a sliding cube does not lift")
from_file(cube, "sliding_cube")
