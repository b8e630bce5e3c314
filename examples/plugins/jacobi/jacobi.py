"""The same solver in Python, as a program (docs/program_protocol.md): needs numpy and h5py.

`jacobi.py REQUEST.json` answers one request, `jacobi.py -` one a line until its input ends."""

import json
import os
import sys
import time

import h5py
import numpy as np

DESCRIPTION = {
    "id": "JACOBI-PYTHON", "name": "Projected Jacobi in Python", "version": 1, "serve": True, "formulation": "NCP",
    "protocol": 2, "joints": False, "compliance": False, "two_dimensional": True, "intervals": True,
    "options": [{"name": "relaxation", "type": "real", "default": 0.2, "minimum": 0, "maximum": 2,
                 "doc": "omega: share of the full step that is taken"}],
}


def dense(group):
    """A dense dataset, or a matrix of FCLIB with compressed rows (nz = -2) or columns (-1)."""
    if isinstance(group, h5py.Dataset):
        return group[...]
    nz, p, i, x = (group[name][...] for name in ("nz", "p", "i", "x"))
    matrix = np.zeros((int(group["m"][0]), int(group["n"][0])))
    for outer in range(len(p) - 1):
        for k in range(p[outer], p[outer + 1]):
            row, column = (outer, i[k]) if nz[0] == -2 else (i[k], outer)
            matrix[row, column] += x[k]
    return matrix


def project(r, mu):
    """Each row (normal, tangents) onto |r_T| <= mu r_N."""
    normal, tangential = r[:, 0], np.sqrt((r[:, 1:] ** 2).sum(axis=1))
    onto = (mu * tangential + normal) / (1 + mu * mu)
    inside, below = tangential <= mu * normal, mu * tangential <= -normal
    shrink = mu * onto / np.where(tangential > 0, tangential, 1)
    moved = np.column_stack([onto, r[:, 1:] * shrink[:, None]])
    return np.where(below[:, None], 0.0, np.where(inside[:, None], r, moved))


def read(request):
    """G, the free term, the bounds of the first rows, and mu and the number of rows of each contact behind them."""
    with h5py.File(request["problem"]) as file:
        if request["layout"] == "fclib":
            local = file["fclib_local"]
            size = int(local["spacedim"][0])
            return dense(local["W"]), local["vectors/q"][...], np.zeros((2, 0)), local["vectors/mu"][...], size
        own = file["conebench"]
        free = own["g" if "g" in own else "b"][...]
        first, contact = own["block_rows"][:-1], own["cone"][...] > 0
        bounds = np.array([own["lower"], own["upper"]])[:, first[~contact]]
        mu = own["mu"][...][first[contact] + 1]  # behind the normal
        return dense(own["G"]), free, bounds, mu, max(1, (len(free) - bounds.shape[1]) // max(1, len(mu)))


def solve(request):
    deadline = time.perf_counter() + request["time_limit_s"]
    w, q, bounds, mu, size = read(request)
    begin = time.perf_counter()
    bounded = bounds.shape[1]
    trace = np.diag(w)[bounded:].reshape(-1, size).sum(axis=1)
    trace = np.concatenate([np.diag(w)[:bounded], np.repeat(trace, size)])
    rows = np.repeat([1, size], [bounded, len(q) - bounded])  # of each row's block
    step = np.where(trace > 0, request["options"]["relaxation"] * rows / np.where(trace > 0, trace, 1), 0)
    r = np.zeros(len(q))
    setup_s, begin = time.perf_counter() - begin, time.perf_counter()
    status, moved, k = "max_iterations", np.nan, 0
    for k in range(1, request["max_iterations"] + 1):
        u = w @ r + q
        u[bounded::size] += mu * np.sqrt((u[bounded:].reshape(-1, size)[:, 1:] ** 2).sum(axis=1))
        new = r - step * u
        new[:bounded] = np.clip(new[:bounded], *bounds)
        new[bounded:] = project(new[bounded:].reshape(-1, size), mu).ravel()
        moved = float(np.abs(new - r).max())
        r = new
        if not np.isfinite(moved):
            status = "diverged"
            break
        if moved <= request["tolerance"]:
            status = "converged"
            break
        if time.perf_counter() > deadline:
            status = "time_limit"
            break
    np.save(request["answer"] + ".npy", r)
    return {"status": status, "iterations": k, "own_residual": moved, "setup_s": setup_s,
            "solve_s": time.perf_counter() - begin}


def answer(request):
    return DESCRIPTION if request["request"] == "describe" else solve(request)


def main():
    if sys.argv[-1] == "-":
        # Standard output is for replies alone: what is printed, here or by a library, goes to standard error.
        replies = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        for line in sys.stdin:
            request = json.loads(line)
            print(json.dumps({**answer(request), "number": request["number"]}), file=replies, flush=True)
        return
    with open(sys.argv[-1], encoding="utf-8") as file:
        request = json.load(file)
    with open(request["reply"], "w", encoding="utf-8") as file:
        json.dump(answer(request), file)


main()
