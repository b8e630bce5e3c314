#!/usr/bin/python3
"""The table of docs/solvers/cascade.md by scene, and what was missed, of a store.

    scripts/scenes_table.py STORE.sqlite

Of a store with several solvers, tolerances, criteria, starts or limits: a table of each, under a line that says which.
"""
import argparse
import sqlite3
import statistics

KEY = "s.label, s.solver_version, c.tolerance, c.criterion, c.verdict, c.start, c.max_iterations, c.limit_s"
QUERY = f"""SELECT {KEY}, p.family, p.name, p.contacts, p.joints, c.solved, c.total_median_s, c.iterations, c.status,
            c.verdict_value FROM cells c JOIN problems p ON p.hash = c.problem JOIN settings s ON s.hash = c.setting
            ORDER BY {KEY}, p.family, p.name"""


class Cell:
    def __init__(self, name, contacts, joints, solved, seconds, iterations, status, verdict):
        self.name, self.contacts, self.joints, self.solved = name, contacts, joints, bool(solved)
        self.seconds, self.iterations, self.status, self.verdict = seconds, iterations, status, verdict


def time(seconds):
    if seconds is None:
        return "–"
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} µs"
    return f"{1e3 * seconds:.2g} ms" if seconds < 0.1 else f"{seconds:.2g} s"


def asked(key):
    label, version, tolerance, criterion, verdict, start, iterations, limit = key
    return (f"{label} (version {version}) at {tolerance:g}: criterion {criterion}, {verdict}, start {start}, "
            f"{iterations} iterations" + ("" if limit is None else f", {limit:g} s"))


def line(scene, cells):
    contacts = [cell.contacts for cell in cells]
    timed = [cell.seconds for cell in cells if cell.seconds is not None]
    slowest = max((cell for cell in cells if cell.solved and cell.seconds is not None),
                  key=lambda cell: cell.seconds, default=None)
    last = f"{time(slowest.seconds)} | {slowest.iterations}" if slowest else "– | –"
    return (f"| `{scene}` | {min(contacts)}–{max(contacts)} | {max(cell.joints for cell in cells)} | {len(cells)} | "
            f"{sum(cell.solved for cell in cells)} | {time(statistics.median(timed) if timed else None)} | {last} |")


def table(scenes):
    print("| scene | contacts | joint rows | samples | solved | median time | slowest solved | its iterations |")
    print("| --- " * 8 + "|")
    for scene, cells in scenes.items():
        print(line(scene, cells))
    every = [cell for cells in scenes.values() for cell in cells]
    missed = [cell for cell in every if not cell.solved]
    print(f"{len(every) - len(missed)} of {len(every)} solved")
    for cell in missed:
        verdict = "no residual" if cell.verdict is None else f"{cell.verdict:.3g}"
        print(f"missed: {cell.name} ({cell.contacts} contacts): {cell.status}, {verdict}, {cell.iterations} iterations, "
              f"{time(cell.seconds)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", metavar="STORE.sqlite", help="of `conebench run`")
    arguments = parser.parse_args()
    tables = {}
    for row in sqlite3.connect(f"file:{arguments.store}?mode=ro", uri=True).execute(QUERY):
        key, scene, cell = row[:8], row[8], Cell(*row[9:])
        tables.setdefault(key, {}).setdefault(scene, []).append(cell)
    for number, (key, scenes) in enumerate(tables.items()):
        if len(tables) > 1:
            print(("\n" if number else "") + asked(key) + "\n")
        table(scenes)


if __name__ == "__main__":
    main()
