#!/usr/bin/env python3
"""Chrono's text files of a step, written by hand: one problem from each set of files, its answer, and what is refused.
usage: chrono_test.py PACKAGE_FOLDER      77: a module is not installed"""
import importlib.util, os, pathlib, sys, tempfile

for module in ("numpy", "scipy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
sys.path.insert(0, os.path.abspath(sys.argv[1]))
import numpy as np
import conebench
from conebench._chrono import chrono


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


# A point of 2 kg slides along x at 1 m/s, 0.5 mm above ground, Δt = 10 ms; a joint holds its y. A slider of
# 4 kg runs into a stop at 0.2 m/s with 1 mm left. Rows: joint, stop, contact n, u, v.
DT = 0.01
M = np.diag([2.0, 2.0, 2.0, 4.0])
V = np.array([1.0, 0.3, 0.0, 0.2])
F = M @ V + DT * np.array([0.0, 0.0, -20.0, 0.0])
CQ = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, -1.0], [0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0],
               [0.0, 1.0, 0.0, 0.0]])
B = np.array([0.0, 0.001 / DT, 0.0005 / DT, 0.0, 0.0])
MU = 0.5
# v_n = -0.05 m/s takes 2 * 0.05 N s, which slows the sliding by 0.5 * 0.05 m/s; the stop takes 4 * 0.1, the joint 0.6.
ANSWER = np.array([-0.6, 0.4, 0.1, -0.05, 0.0])
NEW = np.array([0.975, 0.0, -0.05, 0.1])


def coo(matrix, base):
    """As StreamOut writes: no zeros, and a last line where the last row or column would not be seen."""
    lines = [f"{i + base} {j + base} {matrix[i, j]:.12e}\n" for i, j in zip(*np.nonzero(matrix))]
    if not matrix[-1].any() or not matrix[:, -1].any():
        lines.append(f"{matrix.shape[0] - 1 + base} {matrix.shape[1] - 1 + base} {0.0:.12e}\n")
    return "".join(lines)


def dense(vector):
    return "".join(f"{value:.12e}\n" for value in vector)


def write(prefix, texts):
    for old in prefix.parent.glob(prefix.name + "_*.dat"):
        old.unlink()
    for name, text in texts.items():
        pathlib.Path(f"{prefix}_{name}.dat").write_text(text)


def blocks(base=1, mass="H", E=None):
    # E is set without an entry where it is 0: an empty file.
    return {mass: coo(M, base), "Cq": coo(CQ, base), "E": "" if E is None else coo(E, base), "f": dense(F),
            "b": dense(B)}


def whole(base=1, E=None):
    """What iterative solvers leave of EnableSolverMatrixWrite."""
    lower = np.zeros((5, 5)) if E is None else E
    return {"Z": coo(np.block([[M, CQ.T], [CQ, lower]]), base), "rhs": dense(np.concatenate([F, -B])),
            "v_pre": dense(V), "x_pre": dense(np.zeros(5)), "Dv": dense(NEW), "Dl": dense(ANSWER)}


def is_the_step(problem, what):
    check(np.array_equal(problem.M.toarray(), M) and np.array_equal(problem.J.toarray(), CQ)
          and np.allclose(problem.v_free, F / np.diag(M), rtol=1e-12) and np.allclose(problem.b, B, rtol=1e-12)
          and problem.law == "ccp", f"{what}: M, J, v_free and b are Chrono's")
    check((problem.joints, problem.limits, problem.contacts) == (1, 1, 1) and problem.mu.tolist() == [MU],
          f"{what}: a joint, a stop and a contact")
    answer = conebench.solve(problem, "NSGS", tolerance=1e-10)
    check(np.allclose(answer.r, ANSWER, atol=1e-8), f"{what}: solved by hand")
    check(np.allclose(problem.v_free + np.linalg.solve(M, CQ.T @ answer.r), NEW, atol=1e-8), f"{what}: new velocity")


def reads(folder):
    prefix = folder / "solve_3_0"
    for base in (0, 1):
        for mass in ("H", "M"):
            write(prefix, blocks(base, mass))
            is_the_step(chrono(prefix, mu=[MU], unilateral=[1]), f"{mass} counted from {base}")
        write(prefix, whole(base))
        problem = chrono(str(prefix), mu=MU, contacts=1, unilateral=[1], time_step=DT)
        is_the_step(problem, f"Z counted from {base}")
    check(problem.velocity.tolist() == V.tolist() and problem.time_step == DT and problem.name == "solve_3_0",
          "velocity, time step and name")
    check(list(problem.answers) == ["Chrono"] and np.allclose(problem.answers["Chrono"].r, ANSWER),
          "Dl is Chrono's answer, in impulses")
    check(conebench.judge(problem, problem.answers["Chrono"].r, tolerance=1e-8).solved, "and is judged")

    write(prefix, {**blocks(), "fric": dense([-2.0, -2.0, MU, -1.0, -1.0])})
    is_the_step(chrono(prefix, unilateral=[1]), "fric of Chrono 8")
    write(prefix, {**blocks(), "fric": dense([-2.0, -3.0, MU, -1.0, -1.0])})
    is_the_step(chrono(prefix), "fric with unilateral rows")
    table = [conebench.bilateral(), conebench.unilateral(), conebench.friction(MU)]
    is_the_step(chrono(prefix, table), "blocks")

    # (1/2 + 1/2) r_n = 0.05 m/s.
    compliance = np.diag([0.0, 0.0, 0.5, 0.0, 0.0])
    for files in (blocks, whole):
        for sign in (1.0, -1.0):
            write(prefix, files(E=sign * compliance))
            problem = chrono(prefix, mu=[MU], unilateral=[1])
            check(problem.R.tolist() == [0.0, 0.0, 0.5, 0.0, 0.0]
                  and abs(conebench.solve(problem, "NSGS", tolerance=1e-10).r[2] - 0.05) < 1e-8,
                  f"{files.__name__}: compliance of {'older versions' if sign > 0 else 'Chrono 10'}")


def refuses(folder):
    prefix = folder / "bad"

    def refused(texts, expected, code="bad_input", table=None, **options):
        write(prefix, texts)
        try:
            chrono(prefix, table, **options)
        except conebench.Error as error:
            check(expected in str(error) and "\n" not in str(error) and error.code == code, str(error))
            return
        raise SystemExit(f"FAILED: {expected}: was taken")

    good, mu = blocks(), {"mu": [MU]}
    refused({}, "needs H (or M), Cq, E, f and b", **mu)
    refused({k: v for k, v in good.items() if k != "b"}, "needs H (or M)", **mu)
    refused({**good, "f": dense(F) + "1 2\n"}, "bad_f.dat, line 5: expected 1 number", **mu)
    refused({**good, "Cq": good["Cq"] + "2 x 1\n"}, "bad_Cq.dat, line 6: expected 3 numbers", **mu)
    refused({**good, "b": dense([0, np.nan, 0, 0, 0])}, "bad_b.dat, line 2: has a number that is not finite", **mu)
    refused({**good, "Cq": good["Cq"] + "6 1 1\n"}, "entry 5, 0 (from 0) is outside of 5 by 4", **mu)
    refused({**good, "Cq": "1.5 1 1\n"}, "indices that are not whole", **mu)
    refused({**good, "E": "1 2 0.1\n"}, "is not diagonal", **mu)
    refused({**good, "E": "1 1 0.1\n2 2 -0.1\n"}, "compliance of both signs", **mu)
    refused({**good, "H": coo(np.diag([2.0, 2.0, 2.0, 0.0]), 1)}, "M: is singular", **mu)
    refused({**whole(), "v_pre": dense(np.zeros(20))}, "has 20 velocities", **mu)
    refused({**good, "fric": dense([-2, MU, -1, -2, -2])}, "row 1 is a contact's normal")
    refused({**good, "fric": dense([-2, -1, MU, -1, -1])}, "row 1 is a tangent")
    refused({**good, "fric": dense([MU, -1, -1, -2, -2])}, "rolling friction")
    refused({**good, "fric": dense([MU, -1, -1])}, "has 3 rows, b 5")
    wrong = "wrong_usage"
    refused(good, "the other files don't have the friction", wrong)
    refused(good, "contacts: say how many", wrong, mu=MU)
    refused(good, "has 1 entries, contacts is 2", wrong, mu=[MU], contacts=2)
    refused(good, "2 contacts need 6 rows, the files have 5", wrong, mu=[MU, MU])
    refused(good, "unilateral: 5 is none of the 5 rows", wrong, unilateral=[5], **mu)
    refused(good, "blocks say these", wrong, table=[conebench.bilateral(5)], **mu)
    refused({**whole(), "Dl": dense([1.0])}, "5", wrong, **mu)


with tempfile.TemporaryDirectory() as name:
    reads(pathlib.Path(name))
    refuses(pathlib.Path(name))
