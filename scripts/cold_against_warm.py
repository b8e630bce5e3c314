#!/usr/bin/python3
"""What a start from the answer to the step before is worth, from the report of a suite with "start": ["cold", "previous"],
as a Markdown table.

Each line is a setting at a tolerance. Steps that had nothing to start from (the first of a sequence, a lost answer) are left
out on both sides. Ratios are warm over cold, geometric means over the steps that both solve, families equal: below 1 the warm
start pays. Iterations are counted from 1, as a warm start may need none.
"""

import argparse
import csv
import math
import sys
from collections import defaultdict


def read(path):
    """pairs[tolerance][label] = list of (cold, warm) rows of the same problem."""
    cells = defaultdict(dict)
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["start"] in ("cold", "previous") and row["status"] != "unsupported":
                cells[float(row["tolerance"]), row["label"], row["family"], row["problem"]][row["start"]] = row
    pairs = defaultdict(lambda: defaultdict(list))
    for (tolerance, label, _, _), both in cells.items():
        if len(both) == 2 and "started cold" not in both["previous"]["reason"]:
            pairs[tolerance][label].append((both["cold"], both["previous"]))
    return pairs


def mean_ratio(pairs, value):
    by_family = defaultdict(list)
    for cold, warm in pairs:
        if cold["solved"] == "1" and warm["solved"] == "1" and value(cold) and value(warm):
            by_family[cold["family"]].append(math.log(value(warm) / value(cold)))
    means = [sum(logs) / len(logs) for logs in by_family.values()]
    return f"{math.exp(sum(means) / len(means)):.2f}" if means else "—"


def iterations(row):
    return 1.0 + float(row["iterations"])


def seconds(row):
    return float(row["total_min_s"]) if row["total_min_s"] else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", metavar="REPORT/cells.csv", help="of `conebench report`")
    pairs = read(parser.parse_args().cells)
    if not pairs:
        sys.exit("no problem has both a cold and a warm cell; run a suite with \"start\": [\"cold\", \"previous\"]")
    print("| tolerance | setting | steps | solved cold | solved warm | only cold | only warm | iterations | time |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for tolerance in sorted(pairs, reverse=True):
        for label, both in sorted(pairs[tolerance].items()):
            solved = [(cold["solved"] == "1", warm["solved"] == "1") for cold, warm in both]
            counts = [len(both), sum(c for c, _ in solved), sum(w for _, w in solved)]
            counts += [sum(c and not w for c, w in solved), sum(w and not c for c, w in solved)]
            numbers = " | ".join(str(count) for count in counts)
            print(f"| {tolerance:g} | {label} | {numbers} | {mean_ratio(both, iterations)} | {mean_ratio(both, seconds)} |")


if __name__ == "__main__":
    main()
