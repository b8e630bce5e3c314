#!/usr/bin/python3
"""The table of docs/solvers/cascade.md on what each part contributes, from a store of suites/cascade-ablation.json.

    scripts/ablation_table.py ablation.sqlite

Solved: of the problems with contacts, real ones (sources that begin with --real) and simulated ones (all others). Times are
set-up + solve, the least of the repeats, over those of the reference on the problems that both solve: their geometric mean
and the ratio of their sums, problems equal.
"""
import argparse
import math
import sqlite3
import sys

QUERY = """SELECT s.label, p.source, p.hash, c.solved, c.total_minimum_s FROM cells c
           JOIN problems p ON p.hash = c.problem JOIN settings s ON s.hash = c.setting
           WHERE c.tolerance = ? AND p.contacts > 0 AND p.error = '' AND c.status != 'skipped' ORDER BY c.id"""


def read(store, tolerance, folder):
    """{label: {problem: (real, solved, seconds)}}"""
    cells = {}
    for label, source, problem, solved, seconds in store.execute(QUERY, (tolerance,)):
        cells.setdefault(label, {})[problem] = (source.startswith(folder), bool(solved), seconds)
    return cells


def line(label, own, reference):
    counts = []
    for real in (True, False):
        of = [cell for cell in own.values() if cell[0] == real]
        counts.append(f"{sum(cell[1] for cell in of)} of {len(of)}")
    pairs = [(cell[2], reference[problem][2]) for problem, cell in own.items()
             if cell[1] and problem in reference and reference[problem][1]]
    if not pairs:
        return f"| {label} | {counts[0]} | {counts[1]} | – | – |"
    mean = math.exp(sum(math.log(a / b) for a, b in pairs) / len(pairs))
    total = sum(a for a, _ in pairs) / sum(b for _, b in pairs)
    return f"| {label} | {counts[0]} | {counts[1]} | {mean:.2f} | {total:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", metavar="STORE.sqlite", help="of `conebench run`")
    parser.add_argument("--tolerance", type=float, default=1e-8, help="of the cells (%(default)g)")
    parser.add_argument("--reference", default="CASCADE", metavar="LABEL", help="whose times are 1 (%(default)s)")
    parser.add_argument("--real", default="fclib/", metavar="FOLDER",
                        help="how the sources of real problems begin (%(default)s)")
    arguments = parser.parse_args()
    store = sqlite3.connect(f"file:{arguments.store}?mode=ro", uri=True)
    cells = read(store, arguments.tolerance, arguments.real)
    if arguments.reference not in cells:
        sys.exit(f"the store has no cells of {arguments.reference} at {arguments.tolerance:g}")
    print("| solver | real | simulated | geometric mean | sum |\n| --- | --- | --- | --- | --- |")
    of_reference = arguments.reference + " "
    for label in sorted(cells, key=lambda name: (name != arguments.reference, not name.startswith(of_reference), name)):
        print(line(label, cells[label], cells[arguments.reference]))


if __name__ == "__main__":
    main()
