#!/usr/bin/python3
"""The figure of docs/results.md: iterations against the mass ratio of a stack of five boxes.

    conebench run suites/ill-conditioned-stacks.json --db stacks.sqlite
    conebench report stacks.sqlite --out report
    scripts/plot_mass_ratios.py report/cells.csv docs/images/mass_ratios.svg

Needs python3-matplotlib.
"""
import argparse
import csv

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("cells", metavar="REPORT/cells.csv", help="of `conebench report`")
parser.add_argument("figure", metavar="FIGURE.svg", help="to be written")
arguments = parser.parse_args()  # before the imports, so that --help needs none of them

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "conebench"
import matplotlib.pyplot as plot

SHOWN = ["NSGS", "PGS-NCP-SAFE", "RAISIM-DS", "FP-VI", "APGD-CCP", "ADMM-NCP-FP", "ADMM-NCP-SA", "NSN-AC", "STAGGERED",
         "NEWTON-CCP", "CASCADE"]
TOLERANCE = 1e-6
BOXES = 5


def read(path):
    """{solver: [(ratio, iterations, solved)]} of the stack of BOXES boxes at TOLERANCE."""
    lines = {}
    with open(path, newline="") as file:
        for cell in csv.DictReader(file):
            boxes = cell["problem"].partition("boxes=")[2].partition("_")[0]  # a name leaves defaults out
            if float(cell["tolerance"]) != TOLERANCE or int(boxes or 5) != BOXES:
                continue
            ratio = float(cell["family"].removeprefix("mass ratio "))
            lines.setdefault(cell["label"], []).append((ratio, int(cell["iterations"]), cell["solved"] == "1"))
    return {solver: sorted(line) for solver, line in lines.items()}


def main():
    lines = read(arguments.cells)
    figure, axes = plot.subplots(figsize=(7.5, 4.2))
    colours = plot.get_cmap("tab20").colors
    for index, solver in enumerate(name for name in SHOWN if name in lines):
        line = lines[solver]
        solved = [(ratio, count) for ratio, count, good in line if good]
        failed = [(ratio, count) for ratio, count, good in line if not good]
        axes.plot(*zip(*solved) if solved else ([], []), "o-", markersize=4, color=colours[index], label=solver)
        if failed:
            apart = 1.15**index  # so that crosses at the same limit do not hide each other
            axes.plot(*zip(*[(ratio, count * apart) for ratio, count in failed]), "x", color=colours[index])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("mass of the top box over that of the lowest")
    axes.set_ylabel(f"iterations to {TOLERANCE:g} (×: not reached)")
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    figure.tight_layout()
    figure.savefig(arguments.figure, metadata={"Date": None})


if __name__ == "__main__":
    main()
