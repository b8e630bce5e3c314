#!/usr/bin/python3
"""How far a solver is from the fastest other one on each problem, from stores: the table of docs/performance.md on tiny
problems.

    scripts/beside_fastest.py tiny.sqlite --below 9

Ratio: the solver's time over that of the fastest other setting that solves the problem, its own parts and peers among them;
set-up + solve, the least of the repeats and of the stores. A share counts the problems on which the ratio is at most τ,
problems equal. One that only others solve is beyond every τ and not in the mean; one that nobody else solves is left out.
"""
import argparse
import collections
import math
import sqlite3
import sys

QUERY = """SELECT s.label, s.solver_version, c.tolerance, c.criterion, c.verdict, c.start, p.hash, p.name, p.family,
           p.source, p.contacts, p.joints + p.limits, c.solved, coalesce(c.total_minimum_s, c.total_median_s)
           FROM cells c JOIN problems p ON p.hash = c.problem JOIN settings s ON s.hash = c.setting
           WHERE p.contacts > 0 AND p.error = '' AND p.contacts >= ? AND p.contacts < ?"""
OTHER_ROWS = "with joints or limits"
SHARES = (1.0, 1.05, 1.2, 1.5, 2.0)


class Problem:
    def __init__(self, name, family, source, contacts, other_rows):
        self.name, self.family, self.contacts = name, family, contacts
        made = "files" if source.endswith(".hdf5") else "simulated" if " step=" in source else "generated"
        self.kind = OTHER_ROWS if other_rows else made
        self.seconds = {}  # by label, of the settings that solve it

    def others(self, solver):
        return sorted((seconds, label) for label, seconds in self.seconds.items() if label != solver)

    def ratio(self, solver):
        """Infinite where the solver misses; None where nobody else solves it."""
        others = self.others(solver)
        if not others:
            return None
        return self.seconds[solver] / others[0][0] if solver in self.seconds else math.inf


def read(paths, solver, least, below):
    """{tolerance: {hash: Problem}} of the problems that the solver has tried."""
    problems, tried, kinds, versions = collections.defaultdict(dict), set(), set(), set()
    for path in paths:
        try:
            rows = sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(QUERY, (least, below)).fetchall()
        except sqlite3.Error as error:
            sys.exit(f"{path}: {error}")
        for label, version, tolerance, *asked, key, name, family, source, contacts, other_rows, solved, seconds in rows:
            kinds.add(", ".join(asked))
            if label == solver:
                versions.add(version)
                tried.add((tolerance, key))
            problem = problems[tolerance].setdefault(key, Problem(name, family, source, contacts, other_rows))
            if solved and seconds:
                problem.seconds[label] = min(seconds, problem.seconds.get(label, math.inf))
    if not tried:
        sys.exit(f"no cell of {solver} in these bounds")
    for what, found in (("criteria, verdicts or starts", kinds), (f"versions of {solver}", versions)):
        if len(found) > 1:
            sys.exit(f"several {what}: {'; '.join(map(str, sorted(found)))}")
    return {tolerance: {key: problem for key, problem in of.items() if (tolerance, key) in tried}
            for tolerance, of in problems.items()}


def power(tolerance):
    text = f"{tolerance:.0e}".replace("e-0", "e-")
    return text if float(text) == tolerance else f"{tolerance:g}"


def line(tolerance, title, problems, solver):
    ratios = [ratio for ratio in (problem.ratio(solver) for problem in problems) if ratio is not None]
    if not ratios:
        return f"| {power(tolerance)} | {title} |" + " – |" * (len(SHARES) + 2)
    both = [math.log(ratio) for ratio in ratios if ratio < math.inf]
    mean = f"{math.exp(sum(both) / len(both)):.2f}" if both else "–"
    shares = " | ".join(f"{sum(ratio <= share for ratio in ratios) / len(ratios):.2f}" for share in SHARES)
    most = f"{max(ratios):.3g}" if max(ratios) < math.inf else "–"
    return f"| {power(tolerance)} | {title} | {mean} | {shares} | {most} |"


def table(problems, tolerance, solver, by):
    groups = collections.defaultdict(list)
    for problem in problems:
        groups[getattr(problem, by)].append(problem)
    print(line(tolerance, f"all {len(problems)}", problems, solver))
    if len(groups) > 1:
        alone = [problem for problem in problems if problem.kind != OTHER_ROWS]
        if by == "kind" and 0 < len(alone) < len(problems):
            print(line(tolerance, f"without joints and limits, {len(alone)}", alone, solver))
        for title, of in sorted(groups.items()):
            print(line(tolerance, f"{title}, {len(of)}", of, solver))


def remarks(problems, tolerance, solver, beyond):
    alone = sum(problem.ratio(solver) is None for problem in problems)
    if alone:
        print(f"{power(tolerance)}: {alone} left out that no other solves")
    first = collections.Counter(problem.others(solver)[0][1] for problem in problems if problem.others(solver))
    fastest = ", ".join(f"{label} {count}" for label, count in first.most_common())
    print(f"{power(tolerance)}: the fastest other is {fastest or 'none'}")
    behind = [(problem.ratio(solver), problem) for problem in problems if (problem.ratio(solver) or 0.0) > beyond]
    for ratio, problem in sorted(behind, key=lambda entry: (-entry[0], entry[1].name)):
        seconds, label = problem.others(solver)[0]
        own = f"{ratio:.2f} times, {1e6 * problem.seconds[solver]:.1f} µs" if ratio < math.inf else "not solved"
        print(f"{power(tolerance)}: {problem.name} ({problem.contacts} contacts): {own}; {label} {1e6 * seconds:.1f} µs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="+", metavar="STORE.sqlite", help="of `conebench run`")
    parser.add_argument("--solver", default="CASCADE", metavar="LABEL", help="whose times are compared (%(default)s)")
    parser.add_argument("--from", dest="least", type=int, default=1, metavar="CONTACTS",
                        help="problems with at least so many contacts (%(default)s)")
    parser.add_argument("--below", type=int, default=sys.maxsize, metavar="CONTACTS", help="and with fewer than these")
    parser.add_argument("--by", choices=("kind", "family"), default="kind",
                        help="what has a row of its own (%(default)s)")
    parser.add_argument("--beyond", type=float, default=1.2, metavar="RATIO",
                        help="problems beyond this are named (%(default)g)")
    arguments = parser.parse_args()
    tolerances = read(arguments.stores, arguments.solver, arguments.least, arguments.below)
    print("| tolerance | problems | geometric mean | τ = " + " | ".join(f"{share:g}" for share in SHARES) + " | most |")
    print("| --- " * (len(SHARES) + 4) + "|")
    ordered = sorted((tolerance, list(of.values())) for tolerance, of in tolerances.items())
    for tolerance, problems in ordered:
        table(problems, tolerance, arguments.solver, arguments.by)
    print()
    for tolerance, problems in ordered:
        remarks(problems, tolerance, arguments.solver, arguments.beyond)


if __name__ == "__main__":
    main()
