#!/usr/bin/env python3
"""Writes by_matrix.hdf5 and by_velocities.hdf5, one problem by blocks (docs/sample_format.md), with h5py alone.

Usage: make_block_files.py FOLDER. Exits with 77 without h5py or numpy.
"""

import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)

nan, inf = np.nan, np.inf

# Blocks in mixed order: condim 6, tendon, orthotropic, interval, torsion of which the torsion has no coefficient, joint.
blocks = [(6, 2), (1, 0), (3, 2), (1, 0), (4, 1), (2, 0), (3, 3)]
first = np.concatenate([[0], np.cumsum([rows for rows, _ in blocks])])
n = int(first[-1])
lower, upper, mu = np.full(n, nan), np.full(n, nan), np.zeros(n)
groups = np.zeros(n, dtype=int)
mu[1:6] = [0.5, 0.5, 0.01, 1e-3, 1e-3]
lower[6], upper[6] = -inf, 0
mu[8:10] = [0.3, 0.6]
lower[10], upper[10] = -0.2, 0.1
mu[12:15] = [0.4, 0.4, 0]
lower[15:17], upper[15:17] = -inf, inf
mu[18:20] = 0.5
for (rows, cone), begin in zip(blocks, first):
    if cone > 0:
        groups[begin + 1:begin + rows] = 1
        groups[begin + 3:begin + rows] = 2 if cone == 1 else 1

n_v = 9
random = np.random.default_rng(5)
jacobian = random.normal(size=(n, n_v))
mass = np.diag(np.linspace(0.5, 3.0, n_v))
v_free = random.normal(size=n_v)
compliance = np.linspace(0.01, 0.02, n)
delassus = jacobian @ np.linalg.inv(mass) @ jacobian.T

# An answer that holds whatever the order: all inside their sets, so that every velocity is 0 (or De Saxcé's term is).
r = np.zeros(n)
r[[0, 7, 11, 17]] = 2.0
r[1], r[8], r[12], r[18] = 0.1, -0.05, 0.2, 0.3
r[6], r[10], r[15] = -0.5, 0.05, 0.7
b = -(delassus + np.diag(compliance)) @ r - jacobian @ v_free


def matrix(group, name, dense, by_rows):
    stored = group.create_group(name)
    a = dense if by_rows else dense.T
    stored["m"], stored["n"] = dense.shape
    stored["nz"] = -2 if by_rows else -1
    kept = a != 0
    stored["p"] = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    stored["i"] = np.nonzero(kept)[1].astype(np.int32)
    stored["x"] = a[kept]
    stored["nzmax"] = int(kept.sum())


def common(file):
    group = file.create_group("conebench")
    group["version"] = 4
    group["block_rows"] = first.astype(np.int32)
    group["cone"] = np.array([cone for _, cone in blocks], dtype=np.uint8)
    group["lower"], group["upper"], group["mu"] = lower, upper, mu
    group["groups"] = groups
    group["R"] = compliance
    file["solution/r"] = r
    return group


with h5py.File(sys.argv[1] + "/by_matrix.hdf5", "w") as file:
    group = common(file)
    group.create_dataset("G", data=delassus, compression="gzip", chunks=(7, 4))
    group["b"] = jacobian @ v_free + b
    group["law"] = "ccp"

with h5py.File(sys.argv[1] + "/by_velocities.hdf5", "w") as file:
    group = common(file)
    matrix(group, "M", mass, by_rows=False)
    matrix(group, "J", jacobian, by_rows=True)
    group["metric"] = "mass"
    group["v_free"], group["b"] = v_free, b
    group["velocity"] = np.zeros(n_v)
    group["time_step"], group["time"], group["step"] = 0.001, 1.5, 3
    group["gap"] = np.zeros(len(blocks))
    group["identity"] = np.arange(len(blocks))
    group["frame"] = np.tile(np.eye(3), (4, 1, 1))
    group["point"] = np.full((4, 3), nan)
    group["name"] = [f"block {k}" for k in range(len(blocks))]
    group["bodies"] = np.zeros((len(blocks), 2), dtype=int)
    group["body_names"] = ["world", "arm"]
    group["answers/engine/r"] = r
