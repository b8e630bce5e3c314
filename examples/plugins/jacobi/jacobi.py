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
    "joints": False, "compliance": False, "two_dimensional": True,
    "options": [{"name": "relaxation", "type": "real", "default": 0.2, "minimum": 0, "maximum": 2,
                 "doc": "omega: share of the full step that is taken"}],
}


def dense(group):
    """A matrix of FCLIB with compressed rows (nz = -2) or columns (-1)."""
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


def solve(request):
    deadline = time.perf_counter() + request["time_limit_s"]
    with h5py.File(request["problem"]) as file:
        local = file["fclib_local"]
        size = int(local["spacedim"][0])
        w, q, mu = dense(local["W"]), local["vectors/q"][...], local["vectors/mu"][...]
    begin = time.perf_counter()
    trace = np.diag(w).reshape(-1, size).sum(axis=1)
    step = np.where(trace > 0, request["options"]["relaxation"] * size / np.where(trace > 0, trace, 1), 0)
    r = np.zeros((len(mu), size))
    setup_s, begin = time.perf_counter() - begin, time.perf_counter()
    status, moved, k = "max_iterations", np.nan, 0
    for k in range(1, request["max_iterations"] + 1):
        u = (w @ r.ravel() + q).reshape(-1, size)
        u[:, 0] += mu * np.sqrt((u[:, 1:] ** 2).sum(axis=1))
        new = project(r - step[:, None] * u, mu)
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
    np.save(request["answer"] + ".npy", r.ravel())
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
