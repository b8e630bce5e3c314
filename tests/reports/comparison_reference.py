#!/usr/bin/python3
"""The statistics of `conebench compare` for two stores, from first principles: sqlite3 and numpy, nothing of Conebench's.

    comparison_reference.py BASELINE.sqlite CANDIDATE.sqlite        prints the effects by slice and configuration
    comparison_reference.py … --compare COMPARE.json                compares with what `compare --json` printed; exit code
                                                                    1 where they differ

Formulas: docs/compare.md. Effects, medians and controls must agree to rounding; the bootstrap's deviation u, which draws
other numbers here, to 30 %: with 1,000 samples of cells with outliers it scatters by a tenth.
"""

import argparse
import collections
import json
import math
import sqlite3
import statistics
import sys

import numpy as np

RESAMPLES = 1000


def trimmed_mean(values, share=0.2):
    ordered = np.sort(np.asarray(values, dtype=float))
    cut = int(share * len(ordered))
    return float(ordered[cut:len(ordered) - cut].mean())


def read_cells(path):
    """(slice, configuration, problem) -> row; a configuration is its solver and options, whatever the version."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    cells = {}
    for row in connection.execute(
            "SELECT cells.*, configurations.solver, configurations.options, configurations.label, problems.family, reactions.crc32 "
            "FROM cells JOIN configurations ON configurations.hash = cells.configuration JOIN problems ON problems.hash = cells.problem "
            "LEFT JOIN reactions ON reactions.cell = cells.id"):
        options = json.dumps(json.loads(row["options"]), sort_keys=True)
        cells[(row["tolerance"], row["start"]), (row["solver"], options), row["problem"]] = dict(row)
    return cells


def loaded_share(cells):
    long_cells = [c for c in cells.values() if c["solved"] and c["total_median_s"] and c["total_median_s"] >= 5e-3]
    noisy = [c for c in long_cells if c["total_median_s"] > 1.1 * c["total_minimum_s"]]
    return len(noisy) / len(long_cells) if long_cells else 0.0


def timed_pairs(baseline, candidate):
    """By slice: {(configuration, problem): log ratio} of the cells that both solved with equal counts."""
    pairs = collections.defaultdict(dict)
    for key in baseline.keys() & candidate.keys():
        a, b = baseline[key], candidate[key]
        if not (a["solved"] and b["solved"]) or "flaky" in (a["status"], b["status"]):
            continue
        if any(a[name] != b[name] for name in ("status", "iterations", "factorizations", "operator_products")):
            continue
        if a["total_minimum_s"] and b["total_minimum_s"]:
            pairs[key[0]][key[1], key[2]] = math.log(b["total_minimum_s"] / a["total_minimum_s"])
    return pairs


def effects(pairs, seed=1):
    """Section by section as docs/compare.md has it: raw g, control G, corrected T, its deviation u."""
    configurations = sorted({s for s, _ in pairs})
    by_problem = collections.defaultdict(dict)
    for (s, p), x in pairs.items():
        by_problem[p][s] = x
    raw = {s: trimmed_mean([x for (t, _), x in pairs.items() if t == s]) for s in configurations}
    together = statistics.median(raw.values())
    corrected = collections.defaultdict(dict)
    for (s, p), x in pairs.items():
        others = [y for t, y in by_problem[p].items() if t != s]
        if not others:
            others = [g for t, g in raw.items() if t != s] or [math.nan]
        corrected[s][p] = x - statistics.median(others)
    generator = np.random.default_rng(seed)
    result = {}
    for s in configurations:
        y = np.array([corrected[s][p] for p in sorted(corrected[s])])
        draws = [trimmed_mean(y[generator.integers(0, len(y), len(y))]) for _ in range(RESAMPLES)]
        result[s] = {"cells": len(y), "raw": raw[s], "corrected": trimmed_mean(y), "median": float(np.median(y)),
                     "deviation": float(np.std(draws, ddof=1))}
    return together, result


def check(condition, message, problems):
    if not condition:
        problems.append(message)


def compare_with(printed, baseline, candidate):
    """Lines that say what differs; empty where all agrees."""
    problems = []
    pairs = timed_pairs(baseline, candidate)
    judged = 0
    for one in printed["slices"]:
        there = pairs.get((one["tolerance"], one["start"]), {})
        together, expected = effects(there)
        check(abs(together - one["together"]) < 1e-9, f"together: {one['together']}, expected {together}", problems)
        labels = {}
        for cells in (baseline, candidate):
            for (_, configuration, _), row in cells.items():
                labels[row["label"]] = configuration
        deviations = {s: e["deviation"] for s, e in expected.items() if e["cells"] >= 10}
        for configuration in one["configurations"]:
            times = configuration["times"]
            if times is None:
                continue
            ours = expected[labels[configuration["configuration"]]]
            name = f"{configuration['configuration']} at {one['tolerance']}"
            check(times["cells"] == ours["cells"], f"{name}: {times['cells']} cells, expected {ours['cells']}", problems)
            for key in ("raw", "corrected", "median"):
                check(abs(times[key] - ours[key]) < 1e-9, f"{name}: {key} {times[key]}, expected {ours[key]}", problems)
            u = ours["deviation"]
            if not printed["baseline"]["loaded"] and not printed["candidate"]["loaded"]:
                others = [d for s, d in deviations.items() if s != labels[configuration["configuration"]]]
                if others:
                    u = min(u, 1.5 * statistics.median(others))
            if ours["cells"] >= 10:
                judged += 1
                check(abs(times["deviation"] - u) < 0.3 * u, f"{name}: u {times['deviation']}, expected {u}", problems)
    check(judged > 0, "no configuration with ten cells was compared", problems)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("baseline")
    parser.add_argument("candidate")
    parser.add_argument("--compare")
    arguments = parser.parse_args()
    baseline, candidate = read_cells(arguments.baseline), read_cells(arguments.candidate)
    if arguments.compare:
        with open(arguments.compare) as file:
            problems = compare_with(json.load(file), baseline, candidate)
        print("\n".join(problems) or "all effects agree")
        sys.exit(1 if problems else 0)
    print(f"loaded shares: {loaded_share(baseline):.3f}, {loaded_share(candidate):.3f}")
    for (tolerance, start), pairs in sorted(timed_pairs(baseline, candidate).items(), reverse=True):
        together, by_configuration = effects(pairs)
        print(f"tolerance {tolerance:g}, {start}: all configurations together {100 * math.expm1(together):+.2f} %")
        for (solver, _), one in sorted(by_configuration.items(), key=lambda item: -item[1]["corrected"]):
            print(f"  {solver:20} {one['cells']:4} raw {100 * one['raw']:+6.2f} % corrected {100 * one['corrected']:+6.2f} % "
                  f"u {100 * one['deviation']:.2f} %")


if __name__ == "__main__":
    main()
