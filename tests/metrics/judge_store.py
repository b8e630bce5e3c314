#!/usr/bin/python3
"""Judges every answer of a store anew, from the problems' files and the formulas alone, and compares all residuals.

    judge_store.py STORE [--data DIR]     exit code 1, with a line each, where a residual, `solved` or a mode differs

Local problems of at most 60 rows without compliance are judged by exact arithmetic (exact_judge.py), to 1e-14 and what
that says of λ's last digits; the others by judge_reference.py, to 1e-12 and what rounding explains there.
"""

import argparse
import contextlib
import math
import pathlib
import sqlite3
import sys
import zlib

import h5py
import numpy as np

import exact_judge
import judge_reference

EXACT_ROWS = 60


class File:
    def __init__(self, path):
        self.problem = judge_reference.Problem(path)
        with h5py.File(path, "r") as file:
            extension = file["conebench"] if "conebench" in file else {}
            self.limits = int(np.ravel(extension["limits"])[0]) if "limits" in extension else 0
            compliant = "compliance" in extension and np.any(extension["compliance"][...])
            self.case = None
            if "fclib_local" in file and not compliant and self.limits == 0:
                self.case = self.exact_case(file["fclib_local"], extension)

    def exact_case(self, group, extension):
        """As exact_judge.py takes it."""
        problem, size = self.problem, self.problem.dimension
        if len(problem.g) > EXACT_ROWS or "delassus" in extension or "gaps" in extension:
            return None
        matrix = judge_reference.dense(judge_reference.read_matrix(group["W"]))
        if problem.joints:
            v, r = (judge_reference.dense(judge_reference.read_matrix(group[name])) for name in "VR")
            matrix = np.block([[r, v.T], [v, matrix]])
        order = self.order_of(problem.joints, len(problem.mu), size)
        g = np.concatenate([np.ravel(group["vectors/s"]) if problem.joints else [], np.ravel(group["vectors/q"])])
        rolling = {"mu_r": np.ravel(group["vectors/mu_r"]).tolist()} if size == 5 else {}
        return {"joints": problem.joints, "limits": 0, "dimension": size, "mu": problem.mu.tolist(), **rolling,
                "G": matrix[np.ix_(order, order)].tolist(), "R": [0.0] * len(g), "g": g[order].tolist()}

    @staticmethod
    def order_of(joints, contacts, size):
        """For each row of a store, whose contacts are (t1, t2, n, m1, m2), FCLIB's, which has normals first."""
        own = [1, 2, 0, 3, 4] if size == 5 else [*range(1, size), 0]
        return [*range(joints), *(joints + size * c + k for c in range(contacts) for k in own)]

    def judge(self, answer):
        """Names, values and what they may miss by."""
        if self.case:
            residuals, slack = exact_judge.judge({**self.case, "impulse": answer.tolist()})
            return {name: (float(value), 1e-14 * abs(float(value)) + float(slack[name])) for name, value in residuals.items()}
        problem, size = self.problem, self.problem.dimension
        contacts = len(problem.mu) - self.limits
        fclib = np.zeros(len(problem.g))
        limits = answer[problem.joints:problem.joints + self.limits]
        rest = np.concatenate([answer[:problem.joints], answer[problem.joints + self.limits:]])
        fclib[self.order_of(problem.joints, contacts, size)] = rest
        fclib[problem.joints + size * contacts::size] = limits
        residuals, _, noise = judge_reference.judge(problem, fclib)
        return {name: (value, 1e-12 * abs(value) + noise[name]) for name, value in residuals.items() if value is not None}


def answers(database):
    for key, source, tolerance, verdict, solved, length, data, cell in database.execute(
            "SELECT key, source, tolerance, verdict, solved, length, data, cells.id FROM cells "
            "JOIN problems ON problems.hash = problem LEFT JOIN reactions ON cell = cells.id"):
        reaction = None if data is None else np.frombuffer(zlib.decompress(data), "<f8")
        residuals = dict(database.execute("SELECT name, value FROM residuals WHERE cell = ?", (cell,)))
        yield key, source, tolerance, verdict, solved, reaction, residuals


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("."))
    arguments = parser.parse_args()
    files, wrong, exact, judged, compared, left = {}, [], 0, 0, 0, 0
    with contextlib.closing(sqlite3.connect(f"file:{arguments.store}?mode=ro", uri=True)) as database:
        for key, source, tolerance, verdict, solved, reaction, stored in answers(database):
            path = arguments.data / source
            if reaction is None:
                if solved:
                    wrong.append(f"{key}: solved without an answer")
                continue
            if not path.is_file():
                left += 1
                continue
            if path not in files:
                files[path] = File(path)
            file = files[path]
            if not np.isfinite(reaction).all():
                if solved or any(value is not None for value in stored.values()):
                    wrong.append(f"{key}: judged, though its answer is not finite")
                continue
            judged += 1
            exact += file.case is not None
            found = file.judge(reaction)
            for name, (value, slack) in found.items():
                compared += 1
                if stored.get(name) is None and not math.isfinite(value):
                    continue
                if stored.get(name) is None or abs(stored[name] - value) > slack:
                    wrong.append(f"{key}: {source}: {name}: {value!r} here, {stored.get(name)!r} stored")
            value, slack = found[verdict]
            if solved and value > tolerance + slack:
                wrong.append(f"{key}: {source}: solved with {verdict} {value!r} above {tolerance!r}")
    print("\n".join(wrong[:100]))
    print(f"{compared} residuals of {judged} answers compared, {exact} by exact arithmetic; {len(wrong)} wrong; "
          f"{left} answers to problems that are no files")
    return 1 if wrong or judged == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
