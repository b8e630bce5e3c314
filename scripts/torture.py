#!/usr/bin/python3
"""Disturbs `conebench run` in every way that a machine may, and compares the stores: called by scripts/torture.sh.

    scripts/torture.py --kills 200 --seed 1

Parts: kills (SIGKILL to the runner, a worker, what reads a file or a solving process, while problems are looked at, cells
are run, a cell is stored or rounds are timed), killer (every reader, solving process or worker is killed, again and
again), nightly (SIGKILL to `conebench nightly` and what it starts, until the pages are written), disk (files that may
not grow; with root also a full disk), folder (read-only), two (two runners of one store), clock (the date jumps by a day
ten times a second). After each, the same command goes on without disturbance.
"""
import argparse
import collections
import contextlib
import hashlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MARK = "CONEBENCH_TORTURE"
SUITE = {
    "name": "torture",
    "problems": [{"scene": "box-stack", "grid": {"boxes": [2, 4, 6, 8]}, "as": "fclib"}, {"scene": "sliding-box"}],
    "solvers": ["NSGS", "PGS-CCP", "ADMM-NCP-SA", "APGD-CCP", "CASCADE"],
    "tolerances": [1e-4, 1e-8],
    "limits": {"iterations": 3000, "seconds": 60},
    "repeats": {"min": 2, "min_ms": 20, "max": 400, "rounds": 2},
}
LASTING = """SELECT c.key, c.status, c.reason, c.claimed, c.solved, c.verdict_value, c.iterations, c.factorizations,
             c.operator_products, c.rounds > 1, r.length, r.crc32, r.data
             FROM cells c LEFT JOIN reactions r ON r.cell = c.id"""
BEGUN, ROUND = "to run", "round 2 of 2"


class Failure(Exception):
    """Something was lost or false."""


def check(holds, what):
    if not holds:
        raise Failure(what)


def children(process):
    """Of all its threads; nothing where it is gone."""
    found = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            found += [int(word) for word in pathlib.Path(f"/proc/{process}/task/{thread}/children").read_text().split()]
    return found


def length(file):
    """Its bytes, 0 where there is none: SQLite takes its log away when the last connection closes."""
    with contextlib.suppress(FileNotFoundError):
        return file.stat().st_size
    return 0


def lasting(store):
    """What must not depend on when and how often a run was disturbed, by the cell's key; empty without a store."""
    if not store.exists():
        return {}
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        try:
            return {row[0]: row[1:] for row in database.execute(LASTING)}
        except sqlite3.OperationalError as error:
            check("no such table" in str(error), f"{store}: {error}")  # killed before it had its tables
            return {}


class Run:
    """`conebench run` on a store, or another command's `words`; its notes in a file beside the store."""

    def __init__(self, bench, store, limit=None, preload=None, words=None):
        self.store, self.log = store, store.with_suffix(".log")
        command = [bench.conebench, *(words or ["run", str(bench.suite), "--db", str(store)])]
        environment = dict(os.environ, **{MARK: bench.mark})
        if preload:
            environment["LD_PRELOAD"] = str(preload)

        def prepare():
            if limit:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        self.log_file = open(self.log, "w", encoding="utf-8")
        # In a session of its own, so that nothing here is hit by what is meant for it.
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self.log_file, env=environment,
                                        preexec_fn=prepare, start_new_session=True)

    def phase(self):
        reported = self.log.read_text(encoding="utf-8", errors="replace")
        return "rounds" if ROUND in reported else "cells" if BEGUN in reported else "survey"

    def ended(self):
        return self.process.poll() is not None

    def victims(self, role):
        if role in ("runner", "runner at a write"):
            return [self.process.pid]
        workers = children(self.process.pid)
        if role == "worker":
            return workers
        below = [(worker, child) for worker in workers for child in children(worker)]
        reads = {child: self.in_group(child, worker) for worker, child in below}
        return [child for child, is_reader in reads.items() if is_reader == (role == "reader")]

    @staticmethod
    def in_group(child, group):
        with contextlib.suppress(OSError):
            return os.getpgid(child) == group
        return False

    def wait(self):
        """The exit code, negative where a signal ended it, and the last line."""
        code = self.process.wait(timeout=300)
        self.log_file.close()
        lines = [line for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
        return code, lines[-1] if lines else ""


class Bench:
    def __init__(self, arguments, folder):
        self.conebench, self.folder = str(pathlib.Path(arguments.conebench).resolve()), folder
        self.mark = f"{os.getpid()}-{arguments.seed}"
        self.random, self.kills = random.Random(arguments.seed), arguments.kills
        self.suite = folder / "torture.json"
        suite = json.loads(json.dumps(SUITE))
        if arguments.short:
            suite["problems"][0]["grid"]["boxes"] = [2, 4]
            suite["solvers"] = ["NSGS", "CASCADE"]
        self.suite.write_text(json.dumps(suite))
        began = time.monotonic()
        self.reference = self.finished(folder / "undisturbed.sqlite")
        self.seconds = time.monotonic() - began
        check(len(self.reference) == len(suite["problems"][0]["grid"]["boxes"]) * 2 * len(suite["solvers"])
              + 2 * len(suite["solvers"]), "the undisturbed run has not all cells")

    def finished(self, store):
        """Runs to the end, which must be a good one."""
        code, line = Run(self, store).wait()
        check(code == 0, f"{store.name}: exit code {code}: {line}")
        return lasting(store)

    def compare(self, store, cells, whole=True):
        """`cells` of a disturbed store with the undisturbed one's."""
        for key, cell in cells.items():
            check(key in self.reference, f"{store.name}: cell {key} is none of the suite's: {cell[:2]}")
            # A cell that no second round has run yet is one that is to be run.
            check(cell[:8] + cell[9:] == self.reference[key][:8] + self.reference[key][9:],
                  f"{store.name}: cell {key} is {cell[:-1]}, undisturbed {self.reference[key][:-1]}")
        if whole:
            check(cells == self.reference, f"{store.name}: {len(cells)} of {len(self.reference)} cells, or rounds missing")

    def left_behind(self):
        """Processes of this torture that still live."""
        found = []
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if entry.isdigit() and int(entry) != os.getpid():
                    variables = pathlib.Path(f"/proc/{entry}/environ").read_bytes().split(b"\0")
                    if f"{MARK}={self.mark}".encode() in variables:
                        found.append(int(entry))
        return found

    def expect_nothing_left_behind(self):
        until = time.monotonic() + 5.0  # what the kernel ends with its parent takes a moment
        while (left := self.left_behind()) and time.monotonic() < until:
            time.sleep(0.02)
        check(not left, f"processes left behind: {left}")


ROLES = ["runner", "runner at a write", "worker", "reader", "solver"]


def strike(bench, run, role, wait_s):
    """Kills one process of this role after a wait, as soon as there is one; the phase, or None where the run ended."""
    time.sleep(wait_s)
    log = pathlib.Path(str(run.store) + "-wal")
    size = length(log)
    until = time.monotonic() + 0.3 * bench.seconds
    while not run.ended():
        if role == "runner at a write":
            if length(log) == size and time.monotonic() < until:
                continue
        victims = run.victims(role)
        if victims:
            phase = run.phase()
            with contextlib.suppress(ProcessLookupError):
                os.kill(bench.random.choice(victims), signal.SIGKILL)
                return phase
        if time.monotonic() > until:
            role = bench.random.choice(ROLES)
    return None


def kill_at_random(bench, wanted):
    """Where a suite gets done before enough kills, it is begun once more."""
    kills, stores = collections.Counter(), 0
    while sum(kills.values()) < wanted:
        store = bench.folder / f"killed-{stores}.sqlite"
        stores += 1
        stored, code = {}, None
        while code != 0:
            run = Run(bench, store)
            while sum(kills.values()) < wanted and not run.ended():
                role = bench.random.choice(ROLES)
                phase = strike(bench, run, role, bench.random.uniform(0.0, 0.3 * bench.seconds))
                if phase:
                    kills[phase, role] += 1
            code, line = run.wait()
            check(code in (0, -signal.SIGKILL), f"{store.name}: exit code {code}: {line}")
            bench.expect_nothing_left_behind()
            now = lasting(store)
            bench.compare(store, now, whole=code == 0)
            check(stored.keys() <= now.keys(), f"{store.name}: {len(stored.keys() - now.keys())} stored cells are gone")
            stored = now
    for (phase, role), count in sorted(kills.items()):
        print(f"  {count:4d} x {role}, phase {phase}")
    print(f"kills: {sum(kills.values())} in {stores} stores, none lost, none false")


def kill_every(bench):
    """Nothing false is stored, the exit code says that something is to be run again, and the next run does it."""
    for role in ("reader", "solver", "worker"):
        store = bench.folder / f"killer-{role}.sqlite"
        run, kills = Run(bench, store), 0
        while not run.ended():
            for victim in run.victims(role):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                    kills += 1
        code, line = run.wait()
        stored = lasting(store)
        bench.compare(store, stored, whole=False)
        check(code == 4 or stored == bench.reference, f"{store.name}: exit code {code}: {line}")
        bench.compare(store, bench.finished(store))
        print(f"killer: {kills} kills, every {role}: exit code {code} with {len(stored)} cells; the next run had all")


def kill_nightly(bench):
    """A tenth as many kills as of runs. What a kill leaves is gone on with; every judged night is whole."""
    folder, kills, calls, code = bench.folder / "nights", 0, 0, None
    wanted = max(2, bench.kills // 10)
    words = ["nightly", str(bench.suite), "--stores", str(folder), "--format", "md"]
    while code != 0 or kills < wanted:
        run = Run(bench, bench.folder / "night", words=words)
        calls += 1
        while kills < wanted and not run.ended():
            role = bench.random.choice(["runner", "runner", "worker", "solver"])
            kills += strike(bench, run, role, bench.random.uniform(0.0, 1.2 * bench.seconds)) is not None
        code, line = run.wait()
        check(code in (0, -signal.SIGKILL), f"nightly: exit code {code}: {line}")
        bench.expect_nothing_left_behind()
        for store in folder.glob("*.sqlite"):
            bench.compare(store, lasting(store), whole=store.with_name(store.name + ".night.json").exists())
    judged = sorted(folder.glob("*.night.json"))
    for result in judged:
        check(json.loads(result.read_text())["exit_code"] == 0, f"{result.name}: {result.read_text()}")
    stores = list(folder.glob("*.sqlite"))
    check(len(judged) == len(stores), f"{len(stores)} nights, {len(judged)} judged")
    history = json.loads((folder / "history/history.json").read_text(encoding="utf-8"))
    check(len(history["suites"][0]["nights"]) == len(stores), "the history has not all nights")
    for page in folder.glob("*/index.html"):
        check(page.read_text(encoding="utf-8").rstrip().endswith("</html>"), f"{page} is cut off")
    print(f"nightly: {kills} kills in {calls} calls leave {len(stores)} nights, all whole, judged and in the history")


def expect_refusal(run, what):
    code, line = run.wait()
    check(code == 3 and line.startswith("conebench: "), f"{what}: exit code {code}: {line}")
    return line


def fill_disk(bench):
    for limit in (20_000, 100_000, 150_000):
        store = bench.folder / f"limited-{limit}.sqlite"
        expect_refusal(Run(bench, store, limit=limit), f"files of at most {limit} bytes")
        bench.compare(store, lasting(store), whole=False)
        bench.compare(store, bench.finished(store))
    disk = bench.folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=280k", "tmpfs", disk], capture_output=True).returncode == 0
    if mounted:
        try:
            run = Run(bench, disk / "full.sqlite")
            expect_refusal(run, "a full disk")
            bench.compare(run.store, lasting(run.store), whole=False)
            subprocess.run(["mount", "-o", "remount,size=100m", disk], check=True)
            bench.compare(run.store, bench.finished(run.store))
        finally:
            subprocess.run(["umount", "-l", disk], check=True)
    print(f"disk: files that may not grow{' and a full disk' if mounted else ' (no root: no full disk)'}: resumed whole")


def read_only_folder(bench):
    folder = bench.folder / "sealed"
    folder.mkdir()
    store = folder / "old.sqlite"
    bench.finished(store)
    before = hashlib.sha256(store.read_bytes()).hexdigest()
    as_root = os.geteuid() == 0
    if as_root:
        if subprocess.run(["mount", "--bind", folder, folder], capture_output=True).returncode != 0:
            print("folder: skipped, root may not mount here")
            return
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
    else:
        folder.chmod(0o555)
    try:
        for name in ("old.sqlite", "new.sqlite"):
            done = subprocess.run([bench.conebench, "run", str(bench.suite), "--db", str(folder / name)],
                                  capture_output=True, text=True, check=False)
            check(done.returncode == 3 and done.stderr.count("\n") == 1, f"{name}: exit code {done.returncode}: {done.stderr}")
    finally:
        if as_root:
            subprocess.run(["umount", "-l", folder], check=True)
        else:
            folder.chmod(0o755)
    check(hashlib.sha256(store.read_bytes()).hexdigest() == before, "the store in a read-only folder changed")
    print("folder: read-only, refused in one line, nothing changed")


def two_runners(bench):
    store = bench.folder / "two.sqlite"
    first = Run(bench, store)
    while not (bench.folder / "two.sqlite.lock").exists() and not first.ended():
        time.sleep(0.005)
    first.log = first.log.rename(first.log.with_suffix(".first"))
    line = expect_refusal(Run(bench, store), "the second runner")
    check(str(first.process.pid) in line, f"the second runner does not say who writes: {line}")
    os.kill(first.process.pid, signal.SIGKILL)
    first.wait()
    bench.compare(store, bench.finished(store))
    print("two: the second runner is refused, and takes over when the first was killed")


def jump_the_clock(bench):
    library = bench.folder / "jumping_clock.so"
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        print("clock: skipped, no C compiler")
        return
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "jumping_clock.c"], check=True)
    store = bench.folder / "clock.sqlite"
    code, line = Run(bench, store, preload=library).wait()
    check(code == 0, f"clock: exit code {code}: {line}")
    bench.compare(store, lasting(store))
    with contextlib.closing(sqlite3.connect(store)) as database:
        least, most = database.execute("SELECT min(total_minimum_s), max(total_cold_s) FROM cells").fetchone()
        runs = database.execute("SELECT started_utc, finished_utc FROM runs").fetchall()
    check(0.0 < least and most < 60.0, f"clock: times from {least} to {most} s")
    print(f"clock: jumps by a day leave every time between {least:.2g} and {most:.2g} s; the run's dates are {runs}")


PARTS = {"killer": kill_every, "nightly": kill_nightly, "disk": fill_disk, "folder": read_only_folder,
         "two": two_runners, "clock": jump_the_clock}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--conebench", default=HERE.parent / "build/bin/conebench")
    parser.add_argument("--folder", help="where to work; kept then")
    parser.add_argument("--parts", default="kills," + ",".join(PARTS), help="with commas between them")
    parser.add_argument("--short", action="store_true", help="fewer cells")
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.folder or tempfile.mkdtemp(prefix="conebench-torture-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        bench = Bench(arguments, folder)
        print(f"undisturbed: {len(bench.reference)} cells in {bench.seconds:.1f} s")
        for part in arguments.parts.split(","):
            kill_at_random(bench, arguments.kills) if part == "kills" else PARTS[part](bench)
            bench.expect_nothing_left_behind()
    except Failure as failure:
        sys.exit(f"torture: {failure}; see {folder}")
    if not arguments.folder:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
