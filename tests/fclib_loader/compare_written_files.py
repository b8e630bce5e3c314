#!/usr/bin/python3
"""Reads FCLIB files that Conebench wrote, with h5py alone, and compares them entry by entry with their originals.

Usage: compare_written_files.py LIST, where each line of LIST is: original, copy, reaction (.npy: l, then r normal
first; the copy's /solution must hold it). Prints the first difference and exits with 1; exits with 77 without h5py.
"""
import shutil
import subprocess
import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)


def entries(group):
    """Keys (column-major position) and summed values of a stored matrix, zeros left out."""
    m, n, nz = (int(np.ravel(group[name][()])[0]) for name in ("m", "n", "nz"))
    p, i, x = (np.ravel(group[name][()]) for name in ("p", "i", "x"))
    if nz >= 0:
        rows, cols = i.astype(np.int64), p.astype(np.int64)
    else:
        lines = np.repeat(np.arange(len(p) - 1, dtype=np.int64), np.diff(p))
        inner = i[: p[-1]].astype(np.int64)
        x = x[: p[-1]]
        rows, cols = (inner, lines) if nz == -1 else (lines, inner)
    keys, position = np.unique(cols * m + rows, return_inverse=True)
    values = np.zeros(len(keys))
    np.add.at(values, position, x)
    return m, n, keys[values != 0], values[values != 0]


def product(group, vector, transposed=False):
    m, n, keys, values = entries(group)
    rows, cols = keys % max(m, 1), keys // max(m, 1)
    result = np.zeros(n if transposed else m)
    if transposed:
        np.add.at(result, cols, values * vector[rows])
    else:
        np.add.at(result, rows, values * vector[cols])
    return result


def check(condition, message):
    if not condition:
        sys.exit(message)


def close(a, b, tolerance, scale):
    return a.shape == b.shape and (a.size == 0 or np.max(np.abs(a - b)) <= tolerance * max(scale, 1e-300))


def compare(original, copy, reaction):
    group = next(name for name in ("fclib_local", "fclib_global", "fclib_global_rolling") if name in original)
    check(group in copy, f"{group} is not there")
    before, after = original[group], copy[group]
    check(int(np.ravel(before["spacedim"][()])[0]) == after["spacedim"][0], "spacedim")
    names = ["W", "V", "R"] if group == "fclib_local" else ["M", "H", "G"]
    for name in names:
        check((name in before) == (name in after), f"{name} there or not")
        if name not in before:
            continue
        for field in ("m", "n", "nz", "nzmax"):
            stored = after[name][field]
            check(stored.shape == (1,) and stored.dtype == np.int32, f"{name}/{field} is not int32 of shape (1)")
        check(after[name]["nzmax"][0] == len(after[name]["x"]), f"{name}/nzmax")
        (m, n, keys, values), other = entries(before[name]), entries(after[name])
        check((m, n) == other[:2], f"{name} has another size")
        check(np.array_equal(keys, other[2]), f"{name} has another pattern")
        check(np.array_equal(values, other[3]), f"{name} has other values")
    for name in ("q", "s", "f", "w", "b", "mu", "mu_r"):
        check((name in before["vectors"]) == (name in after["vectors"]), f"{name} there or not")
        if name not in before["vectors"]:
            continue
        a, b = np.ravel(before["vectors"][name][()]).astype(float), after["vectors"][name][()]
        check(b.dtype == np.float64 and b.ndim == 1, f"{name} is not one row of float64")
        # f = M v_free is rounded once more; everything else is kept to the last bit.
        same = close(a, b, 1e-14, np.max(np.abs(a), initial=0)) if name == "f" else np.array_equal(a, b)
        check(same, f"{name} differs")
    for name in ("title", "description", "math_info"):
        check(isinstance(after["info"][name][()], bytes), f"info/{name} is not a fixed-length string")
    compare_solution(after, copy["solution"], np.load(reaction))


def compare_solution(problem, solution, reaction):
    r, u = solution["r"][()], solution["u"][()]
    l = solution["l"][()] if "l" in solution else np.zeros(0)
    check(np.array_equal(np.concatenate([l, r]), reaction), "the solution is not the reaction that was given")
    vectors = problem["vectors"]
    if "W" in problem:
        expected = product(problem["W"], r) + vectors["q"][()]
        if "V" in problem:
            expected += product(problem["V"], l)
        scale = np.max(np.abs(expected), initial=0) + np.max(np.abs(vectors["q"][()]), initial=0)
        scale += np.max(np.abs(r), initial=0) * np.max(np.abs(problem["W"]["x"][()]), initial=0)
        check(close(u, expected, 1e-13, scale), "u is not W r + V l + q")
        return
    v = solution["v"][()]
    push = product(problem["H"], r) + vectors["f"][()]
    if "G" in problem:
        push += product(problem["G"], l)
    scale = np.max(np.abs(push), initial=0) + np.max(np.abs(vectors["f"][()]), initial=0)
    check(close(product(problem["M"], v), push, 1e-10, scale), "M v is not H r + G l + f")
    expected = product(problem["H"], v, transposed=True) + vectors["w"][()]
    check(close(u, expected, 1e-9, np.max(np.abs(v), initial=0)), "u is not H^T v + w")


def main():
    h5dump = shutil.which("h5dump")
    for line in open(sys.argv[1], encoding="utf-8"):
        original, copy, reaction = line.rstrip("\n").split("\t")
        with h5py.File(original, "r") as before, h5py.File(copy, "r") as after:
            try:
                compare(before, after, reaction)
            except SystemExit as difference:
                sys.exit(f"{original}: {difference}")
        if h5dump:
            done = subprocess.run([h5dump, "-H", copy], stdout=subprocess.DEVNULL, check=False)
            check(done.returncode == 0, f"{copy}: h5dump can't read it")


main()
