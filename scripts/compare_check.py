#!/usr/bin/env python3
"""Measures what `conebench compare` and `run --ab` promise, on this machine: false alarms of a build against itself,
what is found of a known slowdown, and that what is lost is named. Prints the table of docs/experiments/results.md.

  exe=build/bin/conebench_with_test_solvers
  scripts/compare_check.py $exe --work check                  all of it, some 40 minutes of a quiet machine
  scripts/compare_check.py $exe --work check --other OTHER    with builds of another link order
  scripts/compare_check.py $exe --work check --only stores,faults

Every step leaves its result in WORK; the same command goes on where it ended. A known slowdown is real work that
a testing solver adds (CONEBENCH_TEST_BURN, tests/test_solvers/README.md), with the same answers and counts.
"""

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

CONFIGURATIONS = ["NSGS", "CASCADE", "NSN-AC", "ADMM-NCP-SA-S", "STAGGERED", "PPA", "ADMM-NCP-LA", "PGS-NCP"]


class Check:
    def __init__(self, arguments):
        self.exe = str(Path(arguments.conebench).resolve())
        self.work = Path(arguments.work).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.arguments = arguments
        self.rows = []
        for exe in [self.exe, *arguments.other]:
            if "MISBEHAVE" not in self.call([exe, "list", "solvers"]).stdout:
                raise SystemExit(f"{exe} has no test solvers; give build/bin/conebench_with_test_solvers")

    def call(self, words, burn=None):
        environment = dict(os.environ, CONEBENCH_TEST_SOLVERS="1", CONEBENCH_TEST_BURN=burn or "none:0")
        begin = time.monotonic()
        done = subprocess.run(words, capture_output=True, text=True, env=environment)
        done.seconds = time.monotonic() - begin
        return done

    def launcher(self, name, burn, exe=None):
        """An executable that is `exe` with its own burn in the environment."""
        path = self.work / name
        path.write_text(f"#!/bin/sh\nexport CONEBENCH_TEST_BURN='{burn}'\nexec '{exe or self.exe}' \"$@\"\n")
        path.chmod(0o755)
        return str(path)

    def kept(self, name, make):
        """What make() gave the last time, or gives now."""
        path = self.work / (name + ".json")
        if path.exists():
            return json.loads(path.read_text())
        value = make()
        path.with_suffix(".part").write_text(json.dumps(value))
        path.with_suffix(".part").rename(path)
        print(f"{time.strftime('%H:%M:%S')} {name}", file=sys.stderr, flush=True)
        return value

    def store(self, name, burn=None):
        """A store of the suite; made once."""
        path = self.work / f"{name}.sqlite"

        def make():
            done = self.call([self.exe, "run", self.arguments.suite, "--db", str(path), "--json"], burn)
            if done.returncode not in (0, 4):
                raise SystemExit(f"{name}: exit code {done.returncode}: {done.stderr.strip()}")
            return {"seconds": done.seconds}

        self.kept(name, make)
        return str(path)

    def compare(self, baseline, new, *more):
        done = self.call([self.exe, "compare", baseline, new, "--json", *more])
        return summary(done)

    def ab(self, name, baseline_burn, new_burn, other=None):
        """Side by side, one pass: k = 2."""
        path = self.work / f"{name}.sqlite"
        launcher = self.launcher(name + ".baseline", baseline_burn, other)

        def make():
            words = [self.exe, "run", self.arguments.suite, "--ab", launcher, "--db", str(path), "--rounds",
                     str(self.arguments.rounds), "--json"]
            done = self.call(words, new_burn)
            result = summary(done)
            result["seconds"] = done.seconds
            for rest in ("", "-wal", "-shm"):
                Path(str(path) + rest).unlink(missing_ok=True)
            return result

        return self.kept(name, make)

    def row(self, what, promised, measured, good):
        self.rows.append((what, promised, measured, "yes" if good else "NO"))

    # What is shown

    def stores(self):
        stores = [self.store(f"aa-{i}") for i in range(6)]
        alarms = [name(self.compare(a, b)) for a, b in itertools.combinations(stores, 2)]
        self.row("A/A, 15 pairs of 6 stores", "at most 1 of all 40 alarms", count(alarms), True)
        return alarms

    def turns(self):
        alarms = [name(self.ab(f"aa-turns-{i}", "none:0", "none:0")) for i in range(15)]
        self.row("A/A, 15 side by side", "", count(alarms), True)
        return alarms

    def layouts(self):
        if not self.arguments.other:
            return []
        others = self.arguments.other
        alarms = [name(self.ab(f"aa-layout-{i}", "none:0", "none:0", str(Path(others[i % len(others)]).resolve())))
                  for i in range(10)]
        self.row("A/A, 10 side by side with another link order and path", "", count(alarms), True)
        return alarms

    def false_alarms(self):
        alarms = self.stores() + self.turns() + self.layouts()
        found = sum(1 for one in alarms if one)
        self.row(f"A/A, all {len(alarms)}", "at most 1", f"{found}", found <= 1)

    def three_per_cent(self):
        # Nothing is taken off side by side, so that four configurations a run are as good as four runs.
        found, false = 0, []
        for i in range(5):
            solvers = [CONFIGURATIONS[(4 * i + j + i // 2) % len(CONFIGURATIONS)] for j in range(4)]
            slower = self.ab(f"three-{i}", ",".join(solvers) + ":0", ",".join(solvers) + ":3")["slower"]
            found += sum(solver in slower for solver in solvers)
            false += [solver for solver in slower if solver not in solvers]
        self.row("3 % side by side, four configurations of eight a run", "18 of 20, no other",
                 f"{found} of 20{f', and {false}' if false else ''}", found >= 18 and not false)

    def five_per_cent(self):
        found = 0
        for i in range(20):
            solver = CONFIGURATIONS[i % len(CONFIGURATIONS)]
            new = self.store(f"five-{i}", f"{solver}:5")
            found += solver in self.compare(self.store(f"aa-{i % 6}"), new)["slower"]
        self.row("5 % between two stores", "18 of 20", f"{found} of 20", found >= 18)

    def family(self):
        # The sphere lattices are the problems of 42 and 63 contacts, and no other family has such.
        new = self.store("family", "NSN-AC:20:contacts=41-100")
        seen = self.compare(self.store("aa-0"), new)
        self.row("20 % of one configuration on one family", "found", seen["why"], bool(seen["slower"]))
        new = self.store("one-configuration", "NSN-AC:20")
        seen = self.compare(self.store("aa-0"), new)
        self.row("20 % of one configuration of all", "found, no other", seen["why"], seen["slower"] == ["NSN-AC"])

    def faults(self):
        baseline = self.store("aa-0")
        # A solver that takes a million times as long on the problems of 20 contacts: a clock ends what it solved in no time.
        lost = self.store("lost", "CASCADE:100000000:contacts=20-20")
        seen = self.compare(baseline, lost)
        self.row("problems that are no longer solved", "lost, exit 1", f"{seen['alarms']}, exit {seen['code']}",
                 seen["code"] == 1 and seen["alarms"].get("lost", 0) >= 1)
        suite = self.embedded()
        folder = self.work / "files"
        shutil.rmtree(folder, ignore_errors=True)
        for seed in range(1, 4):
            self.call([self.exe, "generate", "random", "--out", str(folder / str(seed)), "--set", "contacts=10",
                       "--seed", str(seed)])
        written = sorted(folder.rglob("*.hdf5"))
        small = dict(suite, name="files", problems=[{"fclib": "files/*/*.hdf5"}] + suite["problems"][:2])
        (self.work / "files.json").write_text(json.dumps(small))
        whole = self.faulty("whole", "files.json")
        truncated = written[0].read_bytes()
        written[0].write_bytes(truncated[: len(truncated) // 2])
        cut = self.faulty("cut", "files.json")
        seen = self.compare(whole, cut)
        self.row("a truncated file", "named, exit 1", seen["why"], seen["code"] == 1)
        written[0].unlink()
        gone = self.faulty("gone", "files.json")
        seen = self.compare(whole, gone)
        self.row("a deleted file", "missing, exit 1", seen["why"], seen["code"] == 1 and "missing" in seen["alarms"])
        (self.work / "fewer.json").write_text(json.dumps(dict(suite, solvers=CONFIGURATIONS[1:])))
        fewer = self.faulty("fewer", "fewer.json")
        seen = self.compare(baseline, fewer)
        self.row("a configuration that is missing", "missing, exit 1", seen["why"],
                 seen["code"] == 1 and "missing" in seen["alarms"])

    def embedded(self):
        path = Path(self.arguments.suite)
        if not path.exists():
            path = Path(__file__).resolve().parent.parent / "suites" / (self.arguments.suite + ".json")
        return json.loads(path.read_text())

    def faulty(self, name_, suite):
        path = self.work / f"{name_}.sqlite"
        path.unlink(missing_ok=True)
        self.call([self.exe, "run", str(self.work / suite), "--db", str(path), "--data", str(self.work)])
        return str(path)

    def table(self):
        print("| what | wanted | measured | so |\n| --- | --- | --- | --- |")
        for row in self.rows:
            print("| " + " | ".join(row) + " |")
        return all(row[3] == "yes" for row in self.rows)


def summary(done):
    """Of a comparison's JSON: the alarms, the configurations that are slower, and the reasons of what is worse."""
    try:
        found = json.loads(done.stdout)
    except ValueError:
        raise SystemExit(f"exit code {done.returncode}: {done.stderr.strip()}")
    slower, why = [], []
    for piece in found["slices"]:
        for one in piece["configurations"]:
            label = one.get("label") or one.get("configuration")
            reasons = one.get("reasons", [])
            if one.get("assessment") == "worse":
                why.append(f"{label}: {'; '.join(reasons)}")
            if any("slower" in reason for reason in reasons):
                slower.append(label)
    return {"code": done.returncode, "alarms": found.get("alarms", {}), "slower": slower, "why": " / ".join(why) or "nothing"}


def name(result):
    """The time alarms of an A/A comparison; empty where it is quiet."""
    return {word: n for word, n in result["alarms"].items() if word in ("slower", "faster", "lost", "won", "broke")}


def count(alarms):
    found = [one for one in alarms if one]
    return f"{len(found)} of {len(alarms)}" + (f": {found}" if found else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conebench", help="build/bin/conebench_with_test_solvers")
    parser.add_argument("--work", required=True, help="folder of results, made or gone on with")
    parser.add_argument("--suite", default="compare-check")
    parser.add_argument("--other", action="append", default=[], help="the same source linked otherwise; as often as wanted")
    parser.add_argument("--rounds", type=int, default=2, help="of a side in every A/B run, even (default 2)")
    parser.add_argument("--only", default="false_alarms,five_per_cent,family,faults,three_per_cent",
                        help="parts, with commas: stores, turns, layouts, false_alarms (these three), three_per_cent, "
                             "five_per_cent, family, faults")
    arguments = parser.parse_args()
    check = Check(arguments)
    for part in arguments.only.split(","):
        getattr(check, part)()
    return 0 if check.table() else 1


if __name__ == "__main__":
    sys.exit(main())
