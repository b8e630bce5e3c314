#!/usr/bin/python3
"""Judges every answer of a store anew, from the problems' files and the formulas alone, and compares all residuals.

    judge_store.py STORE [--data DIR]     exit code 1, with a line each, where a residual, `solved` or a mode differs

Problems with G of at most 60 rows, in FCLIB's layout without compliance and by blocks without a shift, are judged by
exact arithmetic (exact_judge.py), to 1e-14 and what that says of λ's last digits; the others by judge_reference.py, to
1e-12 and what rounding explains there.
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
        problem = self.problem = judge_reference.Problem(path)
        with h5py.File(path, "r") as file:
            extension = file["conebench"] if "conebench" in file else {}
            limits = 0 if problem.blocks or "limits" not in extension else int(np.ravel(extension["limits"])[0])
            compliant = "compliance" in extension and np.any(extension["compliance"][...])
            # For each row of a store the file's: limits are FCLIB's last contacts there, without their tangents.
            self.order = problem.order if problem.blocks else self.order_of(problem, limits)
            self.case = None
            if len(problem.g) > EXACT_ROWS or "gap" in extension or "gaps" in extension:
                return
            if problem.blocks and "J" not in extension and not problem.shift.any():
                self.case = self.exact_blocks()
            if "fclib_local" in file and not compliant and limits == 0 and "delassus" not in extension:
                self.case = self.exact_case()

    def exact_case(self):
        """As exact_judge.py takes it."""
        problem, size = self.problem, self.problem.dimension
        with_moments = size == 5
        contacts = [{"shape": "discs", "groups": [2, 2] if with_moments else [size - 1],
                     "mu": [mu[0]] * (2 if with_moments else size - 1) + [mu[-1]] * (2 if with_moments else 0)}
                    for cones in problem.cones for mu in cones.given_mu.tolist()]
        return self.exact(problem.joints, 0, [], contacts)

    def exact_blocks(self):
        problem, place = self.problem, {}
        for cones in problem.cones:
            for contact, rows in enumerate(cones.rows):
                place[rows[0]] = cones, contact
        lower, upper = problem.lower[self.order], problem.upper[self.order]
        joints = int(np.sum(np.isinf(lower) & np.isinf(upper)))
        limits = int(np.sum((lower == 0) & np.isposinf(upper)))
        scalar = int(np.sum(~np.isnan(lower)))
        intervals = [[None if math.isinf(x) else x for x in pair]
                     for pair in zip(lower[joints + limits:scalar].tolist(), upper[joints + limits:scalar].tolist())]
        contacts = []
        for row in self.order:
            if row not in place:
                continue
            cones, contact = place[row]
            contacts.append({"shape": "pyramid" if cones.pyramid else "discs", "groups": list(cones.sizes),
                             "mu": problem.mu_of_rows[cones.rows[contact, 1:]].tolist()})
        return self.exact(joints, limits, intervals, contacts)

    def exact(self, joints, limits, intervals, contacts):
        problem, order = self.problem, self.order
        matrix = judge_reference.dense(problem.matrix)
        return {"joints": joints, "limits": limits, "intervals": intervals, "contacts": contacts,
                "G": matrix[np.ix_(order, order)].tolist(), "R": problem.compliance[order].tolist(),
                "g": problem.given_g[order].tolist()}

    @staticmethod
    def order_of(problem, limits):
        size, joints = problem.dimension, problem.joints
        contacts = len(problem.mu) - limits
        own = [1, 2, 0, 3, 4] if size == 5 else [*range(1, size), 0]
        return np.array([*range(joints), *(joints + size * (contacts + k) for k in range(limits)),
                         *(joints + size * c + k for c in range(contacts) for k in own)], int)

    def judge(self, answer):
        """Names, values and what they may miss by."""
        if self.case:
            residuals, slack = exact_judge.judge({**self.case, "impulse": answer.tolist()})
            return {name: (float(value), 1e-14 * abs(float(value)) + float(slack[name])) for name, value in residuals.items()}
        impulse = np.zeros(len(self.problem.g))
        impulse[self.order] = answer
        residuals, _, noise = judge_reference.judge(self.problem, impulse)
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
