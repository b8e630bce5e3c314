#!/usr/bin/python3
"""How our solvers stand beside Siconos' own of the same kind, from a report's cells.csv, as Markdown tables.

Several reports count as one set; equal families of two reports stay apart. --from and --below bound the problems' contacts.

Ratio: time of the fastest of the peers over ours, set-up + solve, least of the repeats, geometric mean over the headline
problems that both solve, families equal (--problems-equal: problems). A problem counts where the peers can take it; the second table has every problem
at the strictest tolerance where a peer is faster.
"""

import argparse
import csv
import math
import sys
from collections import defaultdict

PAIRS = [
    ("NSGS", "SICONOS-NSGS"),
    ("ADMM-NCP-SA", "SICONOS-ADMM"),
    ("ADMM-NCP-SA-S", "SICONOS-ADMM"),
    ("NSN-AC", "SICONOS-NSN-AC"),
    ("NSN-NM", "SICONOS-NSN-NM"),
    ("CASCADE", "SICONOS-"),
]


def read(paths, least, below, problems_equal):
    """slices[tolerance][problem][label] = row, headline problems that the label's solver takes."""
    slices = defaultdict(lambda: defaultdict(dict))
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["headline"] != "1" or row["status"] in ("unsupported", "skipped"):
                    continue
                if least <= int(row["contacts"]) < below:
                    row["family"] = "" if problems_equal else (path, row["family"])
                    slices[float(row["tolerance"])][row["problem"]][row["label"]] = row
    return slices


def seconds(row):
    return max(float(row["total_min_s"]), 1e-9)


def solved(row):
    return row["outcome"] == "solved"


def mean_ratio(by_family):
    means = [sum(logs) / len(logs) for logs in by_family.values()]
    return math.exp(sum(means) / len(means)) if means else math.nan


def compare(problems, ours, prefix, chosen=None):
    """Ratio and counts of one pair; `chosen`: one label of the peers instead of the fastest."""
    by_family = defaultdict(list)
    count = dict(problems=0, ours=0, peers=0, both=0, faster=0)
    slower = []
    for name, cells in problems.items():
        peers = [row for label, row in cells.items() if (label == chosen if chosen else label.startswith(prefix))]
        if not peers or ours not in cells:
            continue
        mine = cells[ours]
        best = min((row for row in peers if solved(row)), key=seconds, default=None)
        count["problems"] += 1
        count["ours"] += solved(mine)
        count["peers"] += best is not None
        if best is None or not solved(mine):
            continue
        ratio = seconds(best) / seconds(mine)
        count["both"] += 1
        count["faster"] += ratio >= 1.0
        by_family[mine["family"]].append(math.log(ratio))
        if ratio < 1.0:
            slower.append((ratio, name, mine, best))
    return mean_ratio(by_family), count, sorted(slower, key=lambda entry: entry[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+", metavar="REPORT/cells.csv", help="of `conebench report`")
    parser.add_argument("--from", dest="least", type=int, default=0, metavar="CONTACTS",
                        help="problems with at least so many contacts")
    parser.add_argument("--below", type=int, default=sys.maxsize, metavar="CONTACTS", help="and with fewer than these")
    parser.add_argument("--problems-equal", action="store_true", help="weigh problems, not families, equally")
    arguments = parser.parse_args()
    slices = read(arguments.reports, arguments.least, arguments.below, arguments.problems_equal)
    if not slices:
        sys.exit("no cell of these reports is in the bounds")
    tolerances = sorted(slices, reverse=True)
    titles = " | ".join(f"{tolerance:.0e}".replace("e-0", "e-") for tolerance in tolerances)
    print(f"| ours | peers | {titles} | faster on | solved, ours and peers |")
    print("| --- | --- |" + " --- |" * (len(tolerances) + 2))
    for ours, prefix in PAIRS:
        labels = sorted({label for problems in slices.values() for cells in problems.values() for label in cells
                         if label.startswith(prefix)})
        kinds = [None] + (labels if 1 < len(labels) <= 4 else [])
        for chosen in kinds:
            results = [compare(slices[tolerance], ours, prefix, chosen) for tolerance in tolerances]
            count = results[-1][1]
            if not count["problems"]:
                continue
            who = chosen or (f"the fastest of {len(labels)} per problem" if len(labels) > 1 else labels[0])
            ratios = " | ".join(f"{result[0]:.1f}" for result in results)
            print(f"| {ours} | {who} | {ratios} | {count['faster']} of {count['both']} "
                  f"| {count['ours']} and {count['peers']} of {count['problems']} |")
    print("\n| ours | problem, contacts | faster peer | by | iterations, ours and the peer's |\n"
          "| --- | --- | --- | --- | --- |")
    for ours, prefix in PAIRS:
        for ratio, name, mine, best in compare(slices[tolerances[-1]], ours, prefix)[2]:
            print(f"| {ours} | {name}, {mine['contacts']} | {best['label']} | {1.0 / ratio:.1f} "
                  f"| {mine['iterations']} and {best['iterations']} |")


if __name__ == "__main__":
    main()
