#!/usr/bin/python3
"""Residuals of an answer to a problem of a file, from first principles: h5py and numpy, nothing of Conebench's.

    judge_reference.py FILE [--reaction R.hdf5|R.npy]            prints {"residuals": {name: value or null}, ...}
    judge_reference.py FILE --compare JUDGE.json [--relative 1e-10]
        compares with the object that `conebench judge FILE --json` prints; exit code 1 where a value differs by more
        than the relative tolerance and what rounding explains, or is absent here or there.

Reads FCLIB's part, or where there is none the blocks of /conebench of version 4 (docs/sample_format.md). Everything is
kept in the file's own order (normal first: (n, t…), with rolling friction (n, t1, t2, m1, m2)). Without --reaction the
answer is the file's /solution. Formulas: docs/metrics.md.
"""

import argparse
import itertools
import json
import math
import sys

import h5py
import numpy as np

EPSILON = np.finfo(float).eps


def read_matrix(group):
    """Rows, columns and values of a stored matrix, duplicates left to add up."""
    m, n, nz = (int(np.ravel(group[k])[0]) for k in ("m", "n", "nz"))
    p, i, x = (np.ravel(group[k]) for k in ("p", "i", "x"))
    if nz >= 0:  # triplet: i is the row, p the column
        return m, n, i[:nz].astype(int), p[:nz].astype(int), x[:nz].astype(float)
    outer = np.repeat(np.arange(len(p) - 1), np.diff(p))
    entries = len(outer)
    inner, values = i[:entries].astype(int), x[:entries].astype(float)
    return (m, n, inner, outer, values) if nz == -1 else (m, n, outer, inner, values)


def dense(matrix):
    m, n, rows, columns, values = matrix
    result = np.zeros((m, n))
    np.add.at(result, (rows, columns), values)
    return result


def times(matrix, vector):
    m, _, rows, columns, values = matrix
    return np.bincount(rows, weights=values * vector[columns], minlength=m)[:m]


def transposed(matrix):
    m, n, rows, columns, values = matrix
    return n, m, columns, rows, values


def triplets(array):
    rows, columns = np.nonzero(array)
    return (*array.shape, rows, columns, array[rows, columns])


def norms(x):
    return np.sqrt((x * x).sum(axis=1))


class Cones:
    """Contacts with one shape and equal groups. rows: n x size, the normal first; mu: one a contact and group."""

    def __init__(self, shape, groups, rows, mu):
        self.pyramid, self.rows, self.sizes = shape == "pyramid", np.asarray(rows), groups
        self.given_mu = np.asarray(mu, float)
        self.mu = self.given_mu.copy()
        ends = np.cumsum([1, *groups])
        self.groups = [slice(begin, end) for begin, end in zip(ends[:-1], ends[1:])]
        self.coulomb = not self.pyramid and tuple(groups) in ((1,), (2,))

    def speed(self, v):
        return abs(v).max(axis=1) if self.pyramid else norms(v)

    def force(self, x):
        return abs(x).sum(axis=1) if self.pyramid else norms(x)

    def gamma(self, v):
        return sum(mu * self.speed(v[:, group]) for mu, group in zip(self.mu.T, self.groups))

    def augmented(self, v):
        return v + np.column_stack([self.gamma(v), np.zeros((len(v), v.shape[1] - 1))])

    def candidates(self, x):
        """Points of K, among them the nearest to each x."""
        n, mus = x[:, 0], self.mu.T
        if self.pyramid:
            sizes, mu = abs(x[:, 1:]), mus[0]
            top = np.cumsum(-np.sort(-sizes, axis=1), axis=1)
            for m in range(1, sizes.shape[1] + 1):  # as it were if the m largest entries stay
                cut = np.maximum((top[:, m - 1] - mu * n) / (m + mu**2), 0)
                short = np.maximum(sizes - cut[:, None], 0)
                height = np.maximum(np.maximum(n + mu * cut, short.sum(axis=1) / mu), 0)
                yield np.column_stack([height, np.sign(x[:, 1:]) * short])
            return
        parts = [x[:, group] for group in self.groups]
        lengths = [norms(part) for part in parts]
        for chosen in itertools.product((0, 1), repeat=len(parts)):  # the bounds that hold
            height = n + sum(on * mu * a for on, mu, a in zip(chosen, mus, lengths))
            height = np.maximum(height / (1 + sum(on * mu**2 for on, mu in zip(chosen, mus))), 0)
            point = [height]
            for mu, part, a in zip(mus, parts, lengths):
                with np.errstate(invalid="ignore", divide="ignore"):
                    point.append(part * np.where(a > mu * height, mu * height / a, 1.0)[:, None])
            yield np.column_stack(point)

    def project(self, x):
        best = np.zeros_like(x)
        for point in self.candidates(x):
            # |x - best|^2 - |x - point|^2 without the cancellation of the squares.
            nearer = ((point - best) * (2 * x - point - best)).sum(axis=1) > 0
            best = np.where(nearer[:, None], point, best)
        return best

    def natural(self, x, v):
        return x - self.project(x - v)

    def dual(self, v):
        """v − P_K*(v) = −P_K(−v)."""
        return self.project(-v)

    def box(self, x, v):
        bound = (self.mu[:, 0] * np.maximum(x[:, 0], 0))[:, None]
        moved = x - v
        return x - np.column_stack([np.maximum(moved[:, 0], 0), np.clip(moved[:, 1:], -bound, bound)])

    def facets(self, x, v, corners=8):
        target = np.column_stack([np.maximum((x - v)[:, 0], 0), x[:, 1:]])
        for k, normal in enumerate(x[:, 0]):
            target[k, 1:] = nearest_in_polygon(x[k, 1:] - v[k, 1:], self.mu[k, 0] * max(normal, 0.0), corners)
        return x - target

    def corrected(self, v, normal_rows):
        """RaiSim's: σ + x d / d_n with the smallest x >= 0 with x = mu |σ_T + x d_T / d_n|; De Saxcé's without one."""
        result = self.augmented(v)
        for k, (friction, row) in enumerate(zip(self.mu[:, 0], normal_rows)):
            slip = v[k, 1:]
            if friction == 0 or not slip.any() or row[0] <= 0:
                continue
            t = row[1:] / row[0]
            square = [1 - friction**2 * (t @ t), -2 * friction**2 * (slip @ t), -(friction**2) * (slip @ slip)]
            roots = [x.real for x in np.roots(square) if abs(x.imag) <= 1e-12 * abs(x) and x.real > 0]
            if roots:
                result[k] = v[k] + min(roots) * np.concatenate([[1.0], t])
        return result


class Problem:
    """sigma = (G + R) λ + g in the rows that bear a force, of which `kept` are those of the file, and where λ is the
    file's impulse plus `shift`. lower, upper: NaN on the rows of contacts. Behind _scale() everything is in the scaled
    variables of docs/metrics.md, λ = length λ'."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            local = "fclib_local" in file
            rolling = "fclib_global_rolling" in file and "fclib_global" not in file
            self.blocks = not (local or rolling or "fclib_global" in file)
            self.joints = 0
            self.bias = None
            extension = file["conebench"] if "conebench" in file else {}
            self.time_step = float(np.ravel(extension["time_step"])[0]) if "time_step" in extension else None
            if self.blocks:
                self._read_blocks(extension)
            else:
                group = file["fclib_local" if local else "fclib_global_rolling" if rolling else "fclib_global"]
                self._read_fclib(group, local, extension)
        self._scale()

    def _read_fclib(self, group, local, extension):
        d = self.dimension = int(np.ravel(group["spacedim"])[0])
        vectors = group["vectors"]
        self.mu = np.ravel(vectors["mu"]).astype(float)
        if local:
            self._read_local(group, vectors)
        else:
            self._read_global(group, vectors)
        if local and "bias" in extension:
            self.bias = np.ravel(extension["bias"]).astype(float)
        self.kept, self.shift = np.arange(len(self.g)), np.zeros(len(self.g))
        self.compliance = np.zeros(len(self.g))  # is part of W or M
        self.lower = np.where(self.kept < self.joints, -np.inf, np.nan)
        self.upper = -self.lower
        rows = self.joints + np.arange(d * len(self.mu)).reshape(-1, d)
        if "mu_r" in vectors:
            self.cones = [Cones("discs", (2, 2), rows, np.column_stack([self.mu, np.ravel(vectors["mu_r"])]))]
        else:
            self.cones = [Cones("discs", (d - 1,), rows, self.mu[:, None])]
        self.gaps = np.ravel(extension["gaps"]).astype(float) if "gaps" in extension else None
        self.gap_rows = rows[: 0 if self.gaps is None else len(self.gaps), 0]  # behind them are limits

    def _read_local(self, group, vectors):
        w = read_matrix(group["W"])
        self.g = np.ravel(vectors["q"]).astype(float)
        if "V" not in group:
            self._take(w)
            return
        v, r = read_matrix(group["V"]), read_matrix(group["R"])
        s = np.ravel(vectors["s"]).astype(float)
        j = self.joints = len(s)
        self.g = np.concatenate([s, self.g])
        n = len(self.g)
        parts = [(r, 0, 0), (transposed(v), 0, j), (v, j, 0), (w, j, j)]
        self._take((n, n, *(np.concatenate(x) for x in zip(*[(a[2] + i, a[3] + k, a[4]) for a, i, k in parts]))))

    def _read_global(self, group, vectors):
        mass, jacobian = dense(read_matrix(group["M"])), dense(read_matrix(group["H"])).T
        f, bias = np.ravel(vectors["f"]).astype(float), np.ravel(vectors["w"]).astype(float)
        if "G" in group:
            joints = dense(read_matrix(group["G"]))
            self.joints = joints.shape[1]
            jacobian = np.vstack([joints.T, jacobian])
            bias = np.concatenate([np.ravel(vectors["b"]).astype(float), bias])
        self.bias = bias
        self.g = jacobian @ (np.linalg.solve(mass, f) if len(mass) else f) + bias
        self._take_primal(mass, jacobian)

    def _read_blocks(self, group):
        def vector(name, default=None):
            return np.ravel(group[name]).astype(float) if name in group else default

        def matrix(name):
            stored = group[name]
            return read_matrix(stored) if isinstance(stored, h5py.Group) else triplets(stored[...].astype(float))

        first, cone = np.ravel(group["block_rows"]).astype(int), np.ravel(group["cone"]).astype(int)
        size = first[-1]
        lower, upper, mu = vector("lower"), vector("upper"), vector("mu", np.zeros(size))
        numbers, shifts, gaps = vector("groups"), vector("shift", np.zeros(len(cone))), vector("gap")
        kept, shift, kinds = [], np.zeros(size), {}
        place = np.full(size, -1)
        for block, (begin, end, shape) in enumerate(zip(first[:-1], first[1:], cone)):
            tangents, number = [row for row in range(begin + 1, end) if mu[row] > 0], np.ones(size)
            if shape == 1:
                number[begin:end] = np.arange(begin, end) > begin + 2 if numbers is None else numbers[begin:end]
            rows = list(range(begin, end)) if shape == 0 else [begin, *tangents]
            place[rows] = len(kept) + np.arange(len(rows))
            kept += rows
            if shape == 0:
                continue
            shift[begin] = shifts[block]
            if not tangents:  # its normal alone
                lower[begin], upper[begin] = 0.0, np.inf
                continue
            split = [list(rows) for _, rows in itertools.groupby(tangents, key=lambda row: number[row])]
            law = ("pyramid" if shape == 3 else "discs", tuple(map(len, split)))
            kinds.setdefault(law, []).append((block, rows, split))
        self.mu_of_rows = mu[kept]
        self.kept, self.lower, self.upper = np.array(kept, int), lower[kept], upper[kept]
        self.order = self._store_order(kinds, mu, place)
        self.ratio = np.ones(len(kept))
        self.cones, normals, known = [], [], []
        for (shape, sizes), contacts in kinds.items():
            self.cones.append(Cones(shape, sizes, [place[rows] for _, rows, _ in contacts],
                                    [[mu[part[0]] for part in split] for _, _, split in contacts]))
            for block, rows, split in contacts:
                normals.append(place[rows[0]])
                known.append(np.nan if gaps is None else gaps[block])
                for part in split:
                    self.ratio[place[part]] = mu[part] / mu[part[0]]
        self.gap_rows = np.array(normals, int)
        self.gaps = None if gaps is None or np.isnan(known).any() else np.array(known)
        self.shift = shift[kept]
        self.compliance = vector("R", np.zeros(size))[kept]
        bias = None
        if "J" in group:
            mass, jacobian = dense(matrix("M")), dense(matrix("J"))
            bias = vector("b", np.zeros(size))
            g = vector("g", jacobian @ vector("v_free") + bias)
            self._take_primal(mass, jacobian[kept])
            if "bias_known" in group and np.ravel(group["bias_known"])[0] == 0:
                bias = None
        else:
            g = vector("g", vector("b", np.zeros(size)))
            bias = vector("b") if "g" in group and "b" in group else vector("bias")
        if "G" in group:
            _, _, rows, columns, values = matrix("G")
            bears = (place[rows] >= 0) & (place[columns] >= 0)
            self._take((len(kept), len(kept), place[rows[bears]], place[columns[bears]], values[bears]))
        product, adds = self.apply, self.magnitude
        self.apply = lambda impulse: product(impulse) + self.compliance * impulse
        self.magnitude = lambda impulse: adds(impulse) + self.compliance * abs(impulse)
        self.g = g[kept] - (self.apply(self.shift) if self.shift.any() else 0.0)
        self.bias = None if bias is None else bias[kept] - self.compliance * self.shift

    def _store_order(self, kinds, mu, place):
        """For each row of a store, where contacts of one law stand together and a normal behind the first group, the
        row here."""
        unbounded = np.isinf(self.lower) & np.isinf(self.upper)
        limit = (self.lower == 0) & np.isposinf(self.upper)
        scalar = ~np.isnan(self.lower)
        order = [*np.flatnonzero(unbounded), *np.flatnonzero(limit), *np.flatnonzero(scalar & ~unbounded & ~limit)]
        usual = [("discs", (1,)), ("discs", (2,)), ("discs", (2, 2))]
        listed = []
        for law, contacts in kinds.items():
            for block, rows, split in contacts:
                alike = law in usual and all((mu[part] == mu[part[0]]).all() for part in split)
                behind = [row for part in split[1:] for row in part]
                listed.append((usual.index(law) if alike else len(usual), block, [*split[0], rows[0], *behind]))
        for _, _, rows in sorted(listed):
            order += list(place[rows])
        return np.array(order, int)

    def _take(self, matrix):
        self.matrix = matrix
        self.apply = lambda impulse: times(matrix, impulse)
        self.magnitude = lambda impulse: times((*matrix[:4], abs(matrix[4])), abs(impulse))

    def _take_primal(self, mass, jacobian):
        response = np.linalg.solve(mass, jacobian.T) if len(mass) else np.zeros((0, len(jacobian)))
        self.matrix = triplets(jacobian @ response)
        # The velocity of the bodies first, as the global problem states it: M v = H r + G l + f.
        self.apply = lambda impulse: jacobian @ np.linalg.solve(mass, jacobian.T @ impulse) if len(mass) else 0 * impulse
        self.magnitude = lambda impulse: abs(jacobian) @ (abs(response) @ abs(impulse))

    def _scale(self):
        """The groups of each contact as balls, and moments in units of impulses."""
        size = len(self.g)
        self.length = self.ratio if self.blocks else np.ones(size)
        diagonal = self.compliance.copy()
        _, _, rows, columns, values = self.matrix
        np.add.at(diagonal, rows[rows == columns], values[rows == columns])
        self.diagonal = diagonal * self.length**2
        several = [cones for cones in self.cones if len(cones.groups) > 1]
        found = []
        for cones in several:
            split = cones.groups[0].stop
            near = self.diagonal[cones.rows[:, :split]].mean(axis=1)
            far = self.diagonal[cones.rows[:, split:]].mean(axis=1)
            known = (near > 0) & (far > 0)
            found.append(np.where(known, np.sqrt(np.where(known, near, 1.0) / np.where(known, far, 1.0)), np.nan))
        known = np.concatenate([x[~np.isnan(x)] for x in found] + [np.zeros(0)])
        for cones, lengths in zip(several, found):
            lengths[np.isnan(lengths)] = known.mean() if len(known) else 1.0
            split = cones.groups[0].stop
            self.length[cones.rows[:, split:]] *= lengths[:, None]
            self.diagonal[cones.rows[:, split:]] *= lengths[:, None] ** 2
            cones.mu[:, 1:] /= lengths[:, None]
        # The normal's row of each contact's own block.
        for cones in self.cones:
            owner, place = np.full(size, -1), np.zeros(size, int)
            owner[cones.rows] = np.arange(len(cones.rows))[:, None]
            place[cones.rows] = np.arange(cones.rows.shape[1])
            own = (owner[rows] >= 0) & (owner[rows] == owner[columns]) & (place[rows] == 0)
            cones.normal_rows = np.zeros(cones.rows.shape)
            np.add.at(cones.normal_rows, (owner[rows[own]], place[columns[own]]), values[own])
            cones.normal_rows[:, 0] += self.compliance[cones.rows[:, 0]]
            cones.normal_rows *= self.length[cones.rows]
        self.given_g, self.g = self.g, self.g * self.length
        apply, magnitude = self.apply, self.magnitude
        self.apply = lambda impulse: self.length * apply(self.length * impulse)
        self.magnitude = lambda impulse: self.length * magnitude(self.length * impulse)

    def of_file(self, impulse):
        """An impulse of the file's rows as one of the rows here."""
        return impulse[self.kept] + self.shift


def nearest_in_polygon(x, radius, corners):
    """The nearest of all sides' nearest points, or x itself inside."""
    if len(x) == 1:
        return np.clip(x, -radius, radius)
    angles = 2 * np.pi * np.arange(corners + 1) / corners
    points = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    sides = points[1:] - points[:-1]
    outward = np.column_stack([sides[:, 1], -sides[:, 0]])
    if radius > 0 and (((x - points[:-1]) * outward).sum(axis=1) <= 0).all():
        return x
    square = np.maximum((sides * sides).sum(axis=1), 1e-300)
    share = np.clip(((x - points[:-1]) * sides).sum(axis=1) / square, 0, 1)
    nearest = points[:-1] + share[:, None] * sides
    return nearest[np.argmin(norms(nearest - x))]


def largest(*parts):
    values = np.concatenate([np.ravel(p) for p in parts] + [np.zeros(1)])
    return math.inf if np.isnan(values).any() else float(values.max())


class Rows:
    """Joints, limits and intervals."""

    def __init__(self, problem):
        self.rows = np.flatnonzero(~np.isnan(problem.lower))
        self.lower, self.upper = problem.lower[self.rows], problem.upper[self.rows]
        self.joint = np.isinf(self.lower) & np.isinf(self.upper)
        self.limit = (self.lower == 0) & np.isposinf(self.upper)

    def primal(self, x):
        return x - np.clip(x, self.lower, self.upper)

    def dual(self, v):
        """The part of v that no impulse allows."""
        return np.where(np.isinf(self.upper), np.minimum(v, 0), 0) + np.where(np.isinf(self.lower), np.maximum(v, 0), 0)

    def natural(self, x, v, step=1.0):
        """(x − P(x − v / step)) step."""
        return (x - np.clip(x - v / step, self.lower, self.upper)) * step

    def power(self, x, v):
        bound = np.where(v > 0, self.lower, self.upper)
        to_bound = np.where(np.isinf(bound), 0.0, x - np.where(np.isinf(bound), 0.0, bound)) * v
        return np.where(self.joint, 0.0, np.where(self.limit, x * v, to_bound))

    def gap(self, x, v):
        bound = np.where(v > 0, self.lower, self.upper)
        return (x - np.where(np.isinf(bound), 0.0, bound)) * v


def scales(problem, rows):
    """1 / r of rows and of each kind's contacts, and V."""
    means = [problem.diagonal[rows.rows]] + [problem.diagonal[cones.rows].mean(axis=1) for cones in problem.cones]
    positive = np.concatenate(means)
    positive = positive[positive > 0]
    fallback = positive.mean() if len(positive) else 1.0
    velocity = largest(abs(problem.g[rows.rows]), *(norms(problem.g[cones.rows]) for cones in problem.cones))
    row_steps, *steps = (np.where(mean > 0, mean, fallback) for mean in means)
    return row_steps, steps, velocity if velocity > 0 else 1.0


def dissipation_error(problem, impulse, sigma, steps, velocity, tau=1e-6):
    worst = 0.0
    for cones, own_steps in zip(problem.cones, steps):
        for group, friction in zip(cones.groups, cones.mu.T):
            impulses, slips = impulse[cones.rows[:, group]], sigma[cones.rows[:, group]]
            for mu, normal, t, slip, step in zip(friction, impulse[cones.rows[:, 0]], impulses, slips, own_steps):
                speed = np.linalg.norm(slip)
                if mu == 0 or normal * step <= tau * velocity:
                    continue
                if speed <= max(tau * velocity, (mu * normal - np.linalg.norm(t)) * step):
                    continue
                if not t.any():
                    worst = max(worst, math.pi / 2)
                    continue
                a, b = -t / np.linalg.norm(t), slip / speed
                worst = max(worst, 2 * math.atan2(np.linalg.norm(a - b), np.linalg.norm(a + b)))
    return worst


def penetration(problem, impulse, sigma):
    if not sum(len(cones.rows) for cones in problem.cones):
        return 0.0, None
    absent = [
        name
        for name, value in (("gaps", problem.gaps), ("time step", problem.time_step), ("bias", problem.bias))
        if value is None
    ]
    if absent:
        return None, "not in the file: " + ", ".join(absent)
    n = problem.gap_rows
    own = sigma[n] - problem.compliance[n] * impulse[n] - problem.bias[n]
    return largest(-(problem.gaps + problem.time_step * own)), None


def judge(problem, impulse):
    """All residuals, what is missing, and how much of each value rounding may explain."""
    if not np.isfinite(impulse).all():
        return {}, {}, {}
    impulse = impulse / problem.length
    sigma = problem.apply(impulse) + problem.g
    rows = Rows(problem)
    row_steps, steps, velocity = scales(problem, rows)
    x, v = impulse[rows.rows], sigma[rows.rows]
    contacts = [(cones, impulse[cones.rows], sigma[cones.rows], step[:, None])
                for cones, step in zip(problem.cones, steps)]  # fmt: skip
    g_norm = np.linalg.norm(problem.g)

    def over(measure, row, contact, with_gamma=True):
        """The largest of all blocks."""
        return largest(abs(row), *(measure(contact(cones, x, cones.augmented(v) if with_gamma else v, step))
                                   for cones, x, v, step in contacts))  # fmt: skip

    def primal(measure):
        return over(measure, rows.primal(x), lambda c, x, v, _: x - c.project(x))

    def dual(measure, with_gamma):
        return over(measure, rows.dual(v), lambda c, x, v, _: c.dual(v), with_gamma)

    def natural(measure, with_gamma):
        return over(measure, rows.natural(x, v), lambda c, x, v, _: c.natural(x, v), with_gamma)

    def power(with_gamma):
        return over(abs, rows.power(x, v), lambda c, x, v, _: (x * v).sum(axis=1), with_gamma)

    def scaled(contact, with_gamma=False):
        moved = rows.natural(x, v, row_steps)
        return over(norms, moved, lambda c, x, v, step: contact(c, x * step, v), with_gamma) / velocity

    def divided(value, denominator):
        return value / denominator if denominator > EPSILON else value

    whole = lambda c, x, v: c.natural(x, v)
    sizes = {cones.rows.shape[1] for cones in problem.cones}
    coulomb = all(cones.coulomb for cones in problem.cones) and len(sizes) <= 1
    pyramids = any(cones.pyramid for cones in problem.cones)
    objective = 0.5 * (impulse @ sigma + impulse @ problem.g)
    augmented = [(x, c.augmented(v) - v) for c, x, v, _ in contacts]
    squares = [rows.natural(x, v)] + [np.ravel(c.natural(x, c.augmented(v))) for c, x, v, _ in contacts]
    f_norm = np.linalg.norm(np.concatenate(squares))
    relative = max(g_norm, np.linalg.norm(impulse), np.linalg.norm(sigma))
    depth, reason = penetration(problem, impulse, sigma)
    limits = np.where(rows.limit, np.minimum(x * row_steps, v), 0.0)
    residuals = {
        "primal": primal(norms),
        "dual": dual(norms, True),
        "complementarity": power(True),
        "natural_map": natural(norms, True),
        "dual_ccp": dual(norms, False),
        "complementarity_ccp": power(False),
        "natural_map_ccp": natural(norms, False),
        "natural_map_scaled": scaled(whole, True),
        "natural_map_ccp_scaled": scaled(whole),
        "natural_map_box_scaled": scaled(Cones.box) if coulomb else None,
        "natural_map_facets_scaled": scaled(Cones.facets) if coulomb else None,
        "natural_map_raisim_scaled":
            scaled(lambda c, x, v: c.natural(x, c.corrected(v, c.normal_rows))) if coulomb else None,
        "natural_map_relative": divided(f_norm, relative),
        "natural_map_relative_g": divided(f_norm, g_norm),
        "r_primal": primal(abs),
        "r_dual": dual(abs, True),
        "r_ncp": power(True),
        "r_nat": natural(abs, True),
        "penetration": depth,
        "objective": float(objective),
        "objective_ncp": float(objective + sum((x[:, 0] * added[:, 0]).sum() for x, added in augmented)),
        "duality_gap_ccp": float(abs(rows.gap(x, v).sum() + sum((x * v).sum() for _, x, v, _ in contacts))),
        "dissipation_error": None if pyramids else dissipation_error(problem, impulse, sigma, steps, velocity),
        "signorini": over(abs, limits, lambda c, x, v, step: np.minimum(x[:, :1] * step, v[:, :1]), False) / velocity,
    }
    missing = {} if reason is None else {"penetration": reason}

    # Rounding: sums of n products err by up to about n eps of the sum of their sizes.
    unit = 4 * math.sqrt(len(impulse) + 1) * EPSILON
    friction = largest(*(cones.mu.sum(axis=1) for cones in problem.cones))
    velocity_noise = unit * largest(problem.magnitude(impulse) + abs(problem.g)) * (1 + friction)
    impulse_noise = unit * largest(abs(impulse)) * (1 + friction)  # a projection multiplies by mu
    if (problem.length != 1).any():
        # Lengths of moments come from G's diagonal, which each side makes of M and J by its own solves.
        impulse_noise += 1e-12 * largest(abs(impulse))
    power_noise = velocity_noise * largest(abs(impulse)) + impulse_noise * largest(abs(sigma))
    total = len(impulse) * power_noise
    both = velocity_noise + impulse_noise
    all_rows = math.sqrt(len(impulse)) * both
    scaled_noise = (velocity_noise + impulse_noise * largest(row_steps, *steps)) / velocity
    noise = {
        "primal": impulse_noise, "r_primal": impulse_noise,
        "dual": velocity_noise, "dual_ccp": velocity_noise, "r_dual": velocity_noise,
        "complementarity": power_noise, "complementarity_ccp": power_noise, "r_ncp": power_noise,
        "natural_map": both, "natural_map_ccp": both, "r_nat": both,
        "natural_map_scaled": scaled_noise, "natural_map_ccp_scaled": scaled_noise, "natural_map_box_scaled": scaled_noise,
        "natural_map_facets_scaled": scaled_noise, "natural_map_raisim_scaled": scaled_noise,
        "signorini": scaled_noise,
        "natural_map_relative": divided(all_rows, relative), "natural_map_relative_g": divided(all_rows, g_norm),
        "penetration": velocity_noise * (problem.time_step or 0),
        "objective": total, "objective_ncp": total, "duality_gap_ccp": total,
        # The angle of a slow slip is as uncertain as rounding over the slowest slip that counts.
        "dissipation_error": math.pi if total > 0 and velocity_noise > 1e-9 * velocity else 1e-7,
    }
    return residuals, missing, noise


def read_answer(problem, path):
    if str(path).endswith(".npy"):
        return problem.of_file(np.load(path).astype(float))
    with h5py.File(path, "r") as file:
        joints = [np.ravel(file["solution/l"])] if problem.joints else []
        return problem.of_file(np.concatenate([*joints, np.ravel(file["solution/r"])]).astype(float))


def differences(residuals, missing, noise, other, tolerance):
    """One line for each residual in which the two disagree."""
    lines = []
    for name in sorted(set(residuals) | set(other)):
        if name not in residuals or name not in other:
            lines.append(f"{name}: only in {'the reference' if name in residuals else 'the compared object'}")
            continue
        mine, theirs = residuals[name], other[name]
        if isinstance(theirs, dict):
            theirs = theirs.get("value")
        if mine is None or theirs is None:
            if mine is not None and math.isfinite(mine) or theirs is not None:
                lines.append(f"{name}: {mine} here, {theirs} there")
            continue
        if abs(mine - theirs) > tolerance * abs(mine) + noise.get(name, 0.0):
            lines.append(f"{name}: {mine!r} here, {theirs!r} there")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--reaction")
    parser.add_argument("--compare", metavar="JUDGE.json")
    parser.add_argument("--relative", type=float, default=1e-10)
    arguments = parser.parse_args()
    problem = Problem(arguments.file)
    impulse = read_answer(problem, arguments.reaction or arguments.file)
    residuals, missing, noise = judge(problem, impulse)
    if arguments.compare is None:
        finite = {name: value if value is not None and math.isfinite(value) else None for name, value in residuals.items()}
        print(json.dumps({"residuals": finite, "missing": missing, "rounding": noise}, indent=1))
        return 0
    with open(arguments.compare, encoding="utf-8") as stream:
        other = json.load(stream)["residuals"]
    lines = differences(residuals, missing, noise, other, arguments.relative)
    print("\n".join(lines) if lines else f"{len(residuals)} residuals agree")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
