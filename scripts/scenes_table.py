#!/usr/bin/python3
"""The table of docs/solvers/cascade.md by scene, and what was missed, of a store of one solver at one tolerance.

    scripts/scenes_table.py STORE.sqlite
"""
import argparse
import sqlite3
import statistics

QUERY = """SELECT problems.family, problems.name, contacts, joints, solved, total_median_s, iterations, verdict_value
           FROM cells JOIN problems ON problems.hash = cells.problem ORDER BY problems.family, problems.name"""


def time(seconds):
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} µs"
    return f"{1e3 * seconds:.2g} ms" if seconds < 0.1 else f"{seconds:.2g} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", metavar="STORE.sqlite", help="of `conebench run`")
    arguments = parser.parse_args()
    scenes = {}
    for scene, *cell in sqlite3.connect(f"file:{arguments.store}?mode=ro", uri=True).execute(QUERY):
        scenes.setdefault(scene, []).append(cell)
    print("| scene | contacts | joint rows | samples | solved | median time | slowest solved | its iterations |")
    print("| --- " * 8 + "|")
    missed = []
    for scene, cells in scenes.items():
        _, contacts, joints, solved, seconds, _, _ = zip(*cells)
        slowest = max((cell for cell in cells if cell[3]), key=lambda cell: cell[4], default=None)
        last = f"{time(slowest[4])} | {slowest[5]}" if slowest else "– | –"
        print(f"| `{scene}` | {min(contacts)}–{max(contacts)} | {max(joints)} | {len(cells)} | {sum(solved)} | "
              f"{time(statistics.median(seconds))} | {last} |")
        missed += [cell for cell in cells if not cell[3]]
    print(f"{sum(map(len, scenes.values())) - len(missed)} of {sum(map(len, scenes.values()))} solved")
    for name, contacts, _, _, seconds, iterations, verdict in missed:
        print(f"missed: {name} ({contacts} contacts): {verdict}, {iterations} iterations, {seconds:.2f} s")


if __name__ == "__main__":
    main()
