#!/usr/bin/env python3
"""DART's solvers answer problems that are given as arrays, and their claims are reported as they are.
usage: dart_test.py PACKAGE_FOLDER      77: a module is not installed"""
import importlib.metadata, importlib.util, os, sys

for module in ("numpy", "scipy", "dartpy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
sys.path.insert(0, os.path.abspath(sys.argv[1]))
import numpy as np
import conebench
from conebench.peers import dart

boxed, exact = (dart.Dantzig, dart.Pgs), (dart.Nsgs, dart.Fbf)
own_law = {"LCP": "natural_map_box_scaled", "NCP": "natural_map_scaled"}


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def residual(answer, kind):
    value = answer.residuals[own_law[kind.conebench["formulation"]]]
    return np.inf if value is None else value


def random_problem(rng, contacts, rows=3, mu=None):
    """Bilateral rows, limits, intervals and contacts in units from 1e-9 to 1e3."""
    joints, limits, intervals = rng.integers(0, 4, 3)
    size = joints + limits + intervals + rows * contacts
    factor = rng.normal(size=(size, size + 2))
    mobility, speed = 10 ** rng.uniform(-9, 3), 10 ** rng.uniform(-6, 3)
    bounds = np.sort(rng.normal(size=(intervals, 2)), axis=1) * speed / mobility
    blocks = [*(conebench.bilateral(1) for _ in range(joints)), *(conebench.unilateral(1) for _ in range(limits)),
              *(conebench.interval(*pair) for pair in bounds),
              *(conebench.friction([rng.uniform(0.2, 1) if mu is None else mu] * (rows - 1)) for _ in range(contacts))]
    return size and conebench.problem(G=factor @ factor.T / size * mobility, g=rng.normal(size=size) * speed,
                                      blocks=[blocks[k] for k in rng.permutation(len(blocks))]
                                      if len({block.rows for block in blocks}) == 1 else blocks, normal="first")


def mixed_rows():
    for kinds, contacts, rows in (((dart.Pgs, *exact), 2, 3), ((dart.Pgs, *exact), 2, 2), ((*boxed, *exact), 0, 3)):
        for kind in kinds:
            rng, worst, claims = np.random.default_rng(7), 0.0, True
            for _ in range(15):
                problem = random_problem(rng, contacts, rows)
                if problem:
                    answer = conebench.solve(problem, kind, tolerance=1e-10, max_iterations=100000)
                    worst, claims = max(worst, residual(answer, kind)), claims and answer.status == "converged"
            check(claims and worst < 1e-7, f"{kind.conebench['id']}: joints, limits, intervals and {contacts} contacts "
                                           f"of {rows} rows in any units, {worst:.1e}")


def hard():
    """A block on four points, pushed: redundant and sliding."""
    J = np.zeros((12, 6))
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        arm = np.array([0.5 * x, 0.5 * y, -0.5])
        J[3 * k:3 * k + 3, :3] = np.eye(3)[[2, 0, 1]]
        J[3 * k:3 * k + 3, 3:] = np.array([np.cross(arm, axis) for axis in np.eye(3)[[2, 0, 1]]])
    M = np.diag([2.0, 2, 2, 0.3, 0.3, 0.3])
    return conebench.problem(M=M, J=J, v_free=[0.05, 0.02, -0.1, 0, 0, 0.1], normal="first",
                             blocks=[conebench.friction([0.5, 0.5]) for _ in range(4)])


def claims():
    problem = hard()
    for kind in exact:
        answer = conebench.solve(problem, kind, tolerance=1e-9, max_iterations=20000)
        check(answer.status == "converged" and residual(answer, kind) < 1e-8,
              f"{kind.conebench['id']}: {residual(answer, kind):.1e} in {answer.iterations} iterations")
        short = conebench.solve(problem, kind, tolerance=1e-14, max_iterations=1)
        check(short.status == "max_iterations" and not short.claimed and "DART returned True" in short.reason
              and short.iterations == 1 and short.own_residual > 1e-14,
              f"and after one iteration: {short.status}, {short.reason}")
        again = conebench.solve(problem, kind, tolerance=1e-8, start=answer.r)
        check(again.iterations == 0 and np.allclose(again.r, answer.r, rtol=1e-12), "and starts where it is told")
    answer = conebench.solve(problem, dart.Pgs, tolerance=1e-10, max_iterations=20000)
    check(answer.claimed and residual(answer, dart.Pgs) < 1e-8,
          f"DART-PGS: {residual(answer, dart.Pgs):.1e} in its boxes")
    check(answer.residuals["natural_map_scaled"] > 1e-4, "which are not Coulomb's law")
    short = conebench.solve(problem, dart.Pgs, tolerance=1e-14, max_iterations=1)
    check(not short.claimed and short.reason == "DART returned False", f"and after one iteration: {short.reason}")
    answer = conebench.solve(problem, dart.Dantzig)
    check(answer.claimed and np.isfinite(residual(answer, dart.Dantzig)),
          f"DART-DANTZIG claims {residual(answer, dart.Dantzig):.1e}")


def limits_of_use():
    try:
        conebench.solve(conebench.problem(G=np.eye(4), g=-np.ones(4), normal="first",
                                          blocks=[conebench.friction([0.5, 0.5, 0.01])]), dart.Nsgs)
    except conebench.Error as error:
        check("DART-NSGS" in str(error) and "\n" not in str(error), f"one line: {error}")
    else:
        raise SystemExit("FAILED: DART took a contact of four rows")
    empty = conebench.problem(G=np.zeros((1, 1)), g=[0.0], blocks=[conebench.unilateral(1)])
    for kind in (*boxed, *exact):
        check(np.array_equal(conebench.solve(empty, kind).r, [0.0]), f"{kind.conebench['id']}: nothing moves")
        version = kind.conebench["peer"]["version"]
        check(version == importlib.metadata.version("dartpy"), f"of DART {version}")


mixed_rows()
claims()
limits_of_use()
