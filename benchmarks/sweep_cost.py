#!/usr/bin/env python3
"""What `conebench run` costs beyond the solvers' runs: sweep_cost.py EXECUTABLE SUITE [OPTION of run ...]

Processor time counts, since other processes do not add to it; wall time on a quiet machine alone."""

import pathlib
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time


def resident_mb(process):
    """Of the runner alone, sampled while it lives."""
    samples = []

    def sample():
        while process.poll() is None:
            try:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                samples.append(int(status.split("VmRSS:")[1].split()[0]) / 1024)
            except (OSError, IndexError):
                break
            time.sleep(0.1)

    thread = threading.Thread(target=sample)
    thread.start()
    return thread, samples


def main():
    executable, suite, *more = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        store = pathlib.Path(folder) / "cost.sqlite"
        began = time.monotonic()
        process = subprocess.Popen([executable, "run", suite, "--db", store, *more], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        thread, samples = resident_mb(process)
        error = process.communicate()[1]
        wall_s = time.monotonic() - began
        thread.join()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cells, runs, solved, timed_s = sqlite3.connect(store).execute(
            "SELECT count(*), sum(repeats), sum(solved), sum(repeats * total_median_s) FROM cells").fetchone()
    if process.returncode != 0:
        sys.exit(error.decode())
    used_s = used.ru_utime + used.ru_stime
    print(f"{cells} cells, {solved} solved, {runs} runs of {timed_s:.2f} s in all; wall {wall_s:.1f} s, processor "
          f"{used_s:.2f} s")
    print(f"a cell beyond its runs: wall {1e3 * (wall_s - timed_s) / cells:.1f} ms, processor "
          f"{1e3 * (used_s - timed_s) / cells:.1f} ms")
    if len(samples) >= 10:
        tenth = len(samples) // 10
        steps = [max(samples[k * tenth:(k + 1) * tenth]) for k in range(10)]
        print("runner's memory by tenths of the run [MB]: " + " ".join(f"{mb:.0f}" for mb in steps))


if __name__ == "__main__":
    main()
