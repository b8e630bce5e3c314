#!/usr/bin/python3
"""The performance profile of the README: two reports' profiles of time at 1e-8, side by side.

    conebench run profile --data DIR --db real.sqlite --filter 'source~fclib/open'
    conebench run profile --data DIR --db families.sqlite --filter 'source~families'
    conebench report real.sqlite --out real
    conebench report families.sqlite --out families
    scripts/plot_profile.py docs/images/profile.svg real/performance_profiles.csv families/performance_profiles.csv

The best of each problem is the best of all settings in its report, shown here or not. Needs python3-matplotlib.
"""
import argparse
import collections
import csv

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("figure", metavar="FIGURE.svg", help="to be written")
parser.add_argument("profiles", nargs="+", metavar="REPORT/performance_profiles.csv",
                    help="of `conebench report`: of the real problems, then of the families")
arguments = parser.parse_args()  # before the imports, so that --help needs none of them

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "conebench"
import matplotlib.pyplot as plot

TOLERANCE = 1e-8
SHOWN = ["CASCADE", "SSN", "PPA", "NSN-AC", "STAGGERED", "ADMM-NCP-SA", "ADMM-NCP-SA-S", "NSGS", "PGS-NCP-SAFE", "FP-VI"]
# In the colour of our own solver of that kind.
PEERS = {"SICONOS-NSGS": "NSGS", "SICONOS-NSN-AC": "NSN-AC", "SICONOS-ADMM": "ADMM-NCP-SA", "SICONOS-VI-EG": "FP-VI"}
TITLES = ["real FCLIB problems", "simulated families"]
FARTHEST = 1024.0


def read(path):
    """{label: [(τ, ρ)]} of time over all families, equal weight each."""
    lines = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if float(row["tolerance"]) == TOLERANCE and row["family"] == "(all)" and row["cost"] == "time":
                lines[row["label"]].append((float(row["tau"]), float(row["rho"])))
    return {label: sorted(line) for label, line in lines.items()}


def draw(axes, lines, title):
    colours = plot.get_cmap("tab10").colors
    for names, style in ((SHOWN, "-"), (PEERS, "--")):
        for label in names:
            if label not in lines:
                continue
            tau, rho = zip(*lines[label], (FARTHEST, lines[label][-1][1]))
            width = 2.6 if label == "CASCADE" else 1.3
            axes.step((1.0,) + tau, (0.0,) + rho, style, where="post", linewidth=width, label=label,
                      color=colours[SHOWN.index(PEERS.get(label, label))])
    axes.set_xscale("log", base=2)
    axes.set_xlim(1.0, FARTHEST)
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel("τ: time over the fastest on that problem")
    axes.set_title(title)
    axes.grid(alpha=0.3)


def main():
    reports = arguments.profiles
    figure, all_axes = plot.subplots(1, len(reports), figsize=(2.0 + 4.2 * len(reports), 3.8), sharey=True,
                                     squeeze=False)
    for axes, path, title in zip(all_axes[0], reports, TITLES):
        draw(axes, read(path), title)
    all_axes[0][0].set_ylabel(f"ρ: share of problems solved to {TOLERANCE:g}")
    handles, labels = all_axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="center left", bbox_to_anchor=(0.84, 0.5), frameon=False, fontsize=8)
    figure.tight_layout(rect=(0.0, 0.0, 0.84, 1.0))
    figure.savefig(arguments.figure, metadata={"Date": None})


if __name__ == "__main__":
    main()
