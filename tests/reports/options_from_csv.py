"""Recomputes from cells.csv how solvers answer to their options, and finds the figures of report.json."""

import csv
import json
import math
import re
import sys
from statistics import quantiles

from support import temporary_folder, write_report


def configurations_of(label):
    """The options of a grid, from the label of a configuration."""
    return dict(word.split("=", 1) for word in label.split() if "=" in word)


def log_ratios(rows):
    """{family: {problem: {label: log(cost / least cost)}}} of one solver; an unsolved cell costs ten times its limit."""
    table = {}
    for row in rows:
        cost = float(row["total_median_s"]) if row["solved"] == "1" else 10 * float(row["limit_s"])
        table.setdefault(row["family"], {}).setdefault(row["problem"], {})[row["label"]] = (row["solved"] == "1", cost)
    found = {}
    for family, problems in table.items():
        for problem, cells in problems.items():
            solved = [cost for good, cost in cells.values() if good]
            if solved:
                logs = {label: math.log(cost / min(solved)) for label, (_, cost) in cells.items()}
                found.setdefault(family, {})[problem] = logs
    return found, table


def mean_log(logs, families, label):
    """Families weigh the same, and so do the problems of one."""
    means = []
    for family in families:
        values = [problem[label] for problem in logs[family].values()]
        means.append(sum(values) / len(values))
    return sum(means) / len(means)


def check(study, rows, labels):
    solver = study["solver"]
    own = [row for row in rows if row["solver"] == solver and row["headline"] == "1"]
    logs, table = log_ratios(own)
    families = sorted(logs)
    names = [labels[configuration["solver"]] for configuration in study["configurations"]]
    assert sorted(names) == sorted({row["label"] for row in own})
    assert [one["family"] for one in study["families"]] == families
    assert study["problems"] == sum(len(problems) for problems in logs.values())

    def best(among):
        return min(names, key=lambda name: (round(mean_log(logs, among, name), 12), names.index(name)))

    def near(shown, value):
        assert math.isclose(shown, value, rel_tol=1e-9), (solver, shown, value)

    options = {row["label"]: configurations_of(row["label"]) for row in own}
    for configuration, name in zip(study["configurations"], names):
        near(configuration["times_best"], math.exp(mean_log(logs, families, name)))
        for family, shown in zip(families, configuration["by_family"]):
            near(shown, math.exp(mean_log(logs, [family], name)))
        values = [math.exp(problem[name]) for family in families for problem in logs[family].values()]
        for shown, value in zip(configuration["quartiles"], quantiles(values, n=4, method="inclusive")):
            near(shown, value)
        assert configuration["solved"] == sum(r["solved"] == "1" for r in own if r["label"] == name)
        for axis, position in zip(study["axes"], configuration["indices"]):
            assert float(options[name][axis["option"]]) == axis["values"][position], (name, axis, position)
    costs, lost = [], 0
    for one in study["families"]:
        family = one["family"]
        assert names[one["best"]] == best([family])
        chosen = best([other for other in families if other != family])
        assert names[one["chosen"]] == chosen
        costs.append(mean_log(logs, [family], chosen))
        near(one["chosen_times_best"], math.exp(costs[-1]))
        missed = sum(not table[family][problem][chosen][0] for problem in logs[family])
        assert one["chosen_lost"] == missed
        lost += missed
    assert names[study["recommended"]] == best(families)
    near(study["unseen_times_best"], math.exp(sum(costs) / len(costs)))
    assert study["unseen_lost"] == lost
    return len(names) * (len(families) + 4) + 3 * len(families)


def check_markdown(folder, study, labels):
    """The recommendation and what it costs stand in report.md."""
    text = (folder / "report.md").read_text(encoding="utf-8")
    section = text[text.index(f"### Options of {study['solver']}"):]
    words = ", ".join(f"{axis['option']}={json.dumps(axis['values'][position])}" for axis, position in
                      zip(study["axes"], study["configurations"][study["recommended"]]["indices"]))
    found = re.search(r"Best configuration: \*\*(.*?)\*\*\..*?takes ([0-9.]+) × the best", section, re.S)
    assert found and found[1] == words, (found and found[1], words)
    assert abs(float(found[2]) / study["unseen_times_best"] - 1) < 6e-3


def main():
    with temporary_folder() as name:
        folder = write_report("grids", name)
        with open(folder / "cells.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        data = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        labels = [solver["label"] for solver in data["solvers"]]
        figures = 0
        for study in data["option_studies"]:
            figures += check(study, rows, labels)
            check_markdown(folder, study, labels)
        solvers = [(study["solver"], len(study["axes"])) for study in data["option_studies"]]
        assert solvers == [("ADMM-NCP-SA", 2), ("PGS-NCP", 1)], solvers
        disagree = [one for study in data["option_studies"] for one in study["families"] if one["best"] != one["chosen"]]
        print(f"{figures} figures of {len(solvers)} solvers recomputed")
        if figures < 100 or not disagree:
            sys.exit("too little was compared")


main()
