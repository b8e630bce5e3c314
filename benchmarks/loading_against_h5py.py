#!/usr/bin/python3
"""Loading of FCLIB files against h5py, file by file in one run.

    benchmarks/loading_against_h5py.py build/bin/conebench_benchmarks FILE.hdf5 ...

h5py reads every dataset into memory and builds nothing; conebench reads and checks in a process of its own (read), and
goes on to the problem that solvers see (load). Times are the least of several runs [ms].
"""
import json
import os
import subprocess
import sys
import time

import h5py


def read_all(file):
    with h5py.File(file, "r") as content:
        content.visititems(lambda _, item: item[()] if isinstance(item, h5py.Dataset) else None)


def min_ms(function, *arguments):
    best = float("inf")
    end = time.perf_counter() + 0.5
    while time.perf_counter() < end:
        began = time.perf_counter()
        function(*arguments)
        best = min(best, time.perf_counter() - began)
    return 1e3 * best


def ours_ms(binary, file):
    command = [binary, "--benchmark_filter=Fclib", "--benchmark_format=json", "--benchmark_repetitions=5",
               "--benchmark_min_time=0.1"]
    run = subprocess.run(command, env={**os.environ, "CONEBENCH_BENCHMARK_FILE": file}, check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    least = {}
    for row in json.loads(run.stdout)["benchmarks"]:
        if row["run_type"] == "iteration":
            name = row["run_name"]
            least[name] = min(least.get(name, float("inf")), row["real_time"])
    return least["BM_ReadFclib"], least["BM_LoadFclib"]


def main():
    binary, files = sys.argv[1], sys.argv[2:]
    print(f"{'file':40} {'kB':>8} {'h5py':>8} {'read':>8} {'load':>8}  read/h5py load/h5py")
    for file in files:
        reference = min_ms(read_all, file)
        read, load = ours_ms(binary, file)
        print(f"{os.path.basename(file)[:40]:40} {os.path.getsize(file) / 1e3:8.0f} {reference:8.2f} {read:8.2f}"
              f" {load:8.2f}  {read / reference:9.2f} {load / reference:9.2f}", flush=True)


if __name__ == "__main__":
    main()
