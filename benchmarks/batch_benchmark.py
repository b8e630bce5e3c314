#!/usr/bin/env python3
"""Time a contact of batches: thousands of small problems, set-up, solve and verdict together.

    PYTHONPATH=build/python benchmarks/batch_benchmark.py FOLDER --count 10000 --contacts 20-50

FOLDER: FCLIB files or a recording's steps, e.g. of `conebench generate fclib-capsules`. They are taken in turn until there
are `count`. Times are of one core with --threads 1: run nothing else beside it."""

import argparse
import itertools
import pathlib
import time

import conebench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--contacts", default="20-50", help="least and most of a problem")
    parser.add_argument("--solvers", default="CASCADE,NSGS")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    least, most = map(int, given.contacts.split("-"))
    found = [problem for problem in map(conebench.load, sorted(map(str, given.folder.rglob("*.hdf5"))))
             if least <= problem.contacts <= most]
    if not found:
        raise SystemExit(f"{given.folder}: no problem of {given.contacts} contacts")
    problems = list(itertools.islice(itertools.cycle(found), given.count))
    contacts = sum(problem.contacts for problem in problems)
    print(f"{len(problems)} problems, {len(found)} of them different, {contacts} contacts, tolerance {given.tolerance:g}, "
          f"{given.threads} thread(s)")
    print(f"{'solver':>10} {'solved':>7} {'set-up':>8} {'solve':>8} {'all':>8}  µs a contact")
    for solver in given.solvers.split(","):
        begin = time.perf_counter()
        batch = conebench.Batch(problems, solver, tolerance=given.tolerance, threads=given.threads)
        ready = time.perf_counter()
        answers = batch.solve()
        setup, solve = 1e6 * (ready - begin) / contacts, 1e6 * answers.wall_s / contacts
        print(f"{solver:>10} {int(answers.solved.sum()):>7} {setup:>8.2f} {solve:>8.2f} {setup + solve:>8.2f}")


if __name__ == "__main__":
    main()
