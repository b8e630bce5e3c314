"""Recomputes profiles and rankings from cells.csv and finds the figures of report.json and the other files."""

import csv
import json
import sys

from support import skip, temporary_folder, write_report

try:
    import numpy as np
except ImportError:
    skip("numpy is not installed")

COLUMN = {"time": "total_median_s", "solve_time": "solve_median_s", "iterations": "iterations",
          "factorizations": "factorizations", "operator_products": "operator_products"}


def profile(rows, cost, family):
    """The performance profile: {solver: (sorted ratios, cumulated weights)}. Twenty lines on purpose."""
    rows = [r for r in rows if r["headline"] == "1" and family in ("", r["family"])]
    problems = sorted({(r["family"], r["problem"]) for r in rows})
    solvers = sorted({r["label"] for r in rows})
    costs = np.full((len(problems), len(solvers)), np.inf)
    for r in rows:
        if r["solved"] == "1":
            value = float(r[COLUMN[cost]])
            value = max(value, 1e-9) if cost in ("time", "solve_time") else max(value, 1)
            costs[problems.index((r["family"], r["problem"])), solvers.index(r["label"])] = value
    families = [f for f, _ in problems]
    weights = np.array([1 / (len(set(families)) * families.count(f)) for f in families])
    best = costs.min(axis=1)
    curves = {}
    for s, solver in enumerate(solvers):
        solved = np.isfinite(costs[:, s])
        ratios = costs[solved, s] / best[solved]
        order = np.argsort(ratios, kind="stable")
        curves[solver] = ratios[order], np.cumsum(weights[solved][order])
    return curves


def value_at(x, y, positions):
    """A step function at positions just right of x, so that rounding in x does not matter."""
    x, y = np.asarray(x, float), np.concatenate([[0.0], np.asarray(y, float)])
    return y[np.searchsorted(x, positions, side="right")]


def shifted_mean(times, weights, shift):
    return np.exp(weights @ np.log(times + shift)) - shift


def check_profiles(rows, data):
    checked = 0
    for stored in data["profiles"]:
        tolerance = data["slices"][stored["slice"]]["tolerance"]
        mine = profile([r for r in rows if float(r["tolerance"]) == tolerance], stored["cost"], stored["family"])
        for curve in stored["performance"]:
            x, y = mine[data["solvers"][curve["solver"]]["label"]]
            positions = np.concatenate([x, curve["x"], [1.0]]) * (1 + 2e-5)
            np.testing.assert_allclose(value_at(curve["x"], curve["y"], positions), value_at(x, y, positions), atol=2e-6)
            checked += len(curve["x"])
    return checked


def check_ranking(rows, data):
    """Solved share and the geometric mean at the limit, from cells.csv alone."""
    checked = 0
    for ranking in data["rankings"]:
        tolerance = data["slices"][ranking["slice"]]["tolerance"]
        scope = [r for r in rows if float(r["tolerance"]) == tolerance and r["headline"] == "1"
                 and ranking["family"] in ("", r["family"])]
        problems = sorted({(r["family"], r["problem"]) for r in scope})
        families = [f for f, _ in problems]
        weights = np.array([1 / (len(set(families)) * families.count(f)) for f in families])
        for row in ranking["rows"]:
            label = data["solvers"][row["solver"]]["label"]
            own = {(r["family"], r["problem"]): r for r in scope if r["label"] == label}
            solved = np.array([p in own and own[p]["solved"] == "1" for p in problems])
            times = np.array([float(own[p]["total_median_s"]) if s else 10.0 for p, s in zip(problems, solved)])
            np.testing.assert_allclose(row["solved_share"], weights @ solved, atol=1e-5)
            np.testing.assert_allclose(row["time_at_limit_s"], shifted_mean(times, weights, data["shift_s"]), rtol=1e-5)
            first = np.array([float(own[p]["total_cold_s"]) if s else 10.0 for p, s in zip(problems, solved)])
            np.testing.assert_allclose(row["time_cold_s"], shifted_mean(first, weights, data["shift_s"]), rtol=1e-5)
            np.testing.assert_allclose(row["rho_inf"], weights @ solved, atol=1e-5)
            checked += 1
    return checked


def check_profile_csv(folder, data):
    """performance_profiles.csv and data_profiles.csv hold the coordinates of report.json."""
    for name, kind, x, y in (("performance_profiles.csv", "performance", "tau", "rho"),
                             ("data_profiles.csv", "data", "budget", "share")):
        points = {}
        with open(folder / name, newline="", encoding="utf-8") as file:
            for r in csv.DictReader(file):
                key = float(r["tolerance"]), r["family"], r["cost"], r["label"]
                points.setdefault(key, []).append((float(r[x]), float(r[y])))
        for stored in data["profiles"]:
            for curve in stored[kind]:
                key = (data["slices"][stored["slice"]]["tolerance"], stored["family"] or "(all)", stored["cost"],
                       data["solvers"][curve["solver"]]["label"])
                pairs = np.array(points.get(key, [])).reshape(-1, 2)
                np.testing.assert_allclose(pairs[:, 0], curve["x"], rtol=1e-5)
                np.testing.assert_allclose(pairs[:, 1], curve["y"], rtol=1e-5)


def main():
    for what in ("small", 56):
        with temporary_folder() as name:
            folder = write_report(what, name)
            with open(folder / "cells.csv", newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            data = json.loads((folder / "report.json").read_text(encoding="utf-8"))
            points, means = check_profiles(rows, data), check_ranking(rows, data)
            check_profile_csv(folder, data)
            print(f"{what}: {points} points of profiles and {means} rows of rankings recomputed")
            if points < 50 or means < 8:
                sys.exit("too little was compared")


main()
