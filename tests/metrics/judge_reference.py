#!/usr/bin/python3
"""Residuals of an answer to an FCLIB problem, from first principles: h5py and numpy, nothing of Conebench's.

    judge_reference.py FILE [--reaction R.hdf5|R.npy]            prints {"residuals": {name: value or null}, ...}
    judge_reference.py FILE --compare JUDGE.json [--relative 1e-10]
        compares with the object that `conebench judge FILE --json` prints; exit code 1 where a value differs by more
        than the relative tolerance and what rounding explains, or is absent here or there.

Everything is kept in FCLIB's own order (normal first: (n, t…), with rolling friction (n, t1, t2, m1, m2)). Without --reaction the answer is the file's /solution.
Formulas: docs/metrics.md.
"""

import argparse
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


def times_transposed(matrix, vector):
    _, n, rows, columns, values = matrix
    return np.bincount(columns, weights=values * vector[rows], minlength=n)[:n]


def diagonal_blocks(matrix, size):
    m, _, rows, columns, values = matrix
    blocks = np.zeros((m // size, size, size))
    near = rows // size == columns // size
    np.add.at(blocks, (rows[near] // size, rows[near] % size, columns[near] % size), values[near])
    return blocks


class Problem:
    """sigma = G λ + g over joint rows and contacts, both as FCLIB stores them."""

    def __init__(self, path):
        with h5py.File(path, "r") as file:
            local = "fclib_local" in file
            rolling = "fclib_global_rolling" in file and "fclib_global" not in file
            group = file["fclib_local" if local else "fclib_global_rolling" if rolling else "fclib_global"]
            self.dimension = int(np.ravel(group["spacedim"])[0])
            vectors = group["vectors"]
            self.mu = np.ravel(vectors["mu"]).astype(float)
            self.mu_rolling = np.ravel(vectors["mu_r"]).astype(float) if "mu_r" in vectors else None
            self.joints = 0
            self.bias = None
            if local:
                self._read_local(group, vectors)
            else:
                self._read_global(group, vectors)
            extension = file["conebench"] if "conebench" in file else {}
            if local and "bias" in extension:
                self.bias = np.ravel(extension["bias"]).astype(float)
            self.gaps = np.ravel(extension["gaps"]) if "gaps" in extension else None
            self.time_step = float(np.ravel(extension["time_step"])[0]) if "time_step" in extension else None
            self.length = np.ones(self.joints + self.dimension * len(self.mu))
            if self.mu_rolling is not None:
                self._scale_moments()

    def _scale_moments(self):
        """Moments in units of impulses: everything behind is in the scaled variables of docs/metrics.md."""
        diagonals = np.diagonal(self.contact_blocks, axis1=1, axis2=2)
        translations, rotations = diagonals[:, :3].mean(axis=1), diagonals[:, 3:].mean(axis=1)
        known = (translations > 0) & (rotations > 0)
        lengths = np.sqrt(np.where(known, translations, 1.0) / np.where(known, rotations, 1.0))
        lengths[~known] = lengths[known].mean() if known.any() else 1.0
        units = np.ones((len(self.mu), 5))
        units[:, 3:] = lengths[:, None]
        self.length = np.concatenate([np.ones(self.joints), units.ravel()])
        self.mu_rolling = self.mu_rolling / lengths
        self.contact_blocks = self.contact_blocks * units[:, :, None] * units[:, None, :]
        self.g = self.g * self.length
        apply, magnitude = self.apply, self.magnitude
        self.apply = lambda impulse: self.length * apply(self.length * impulse)
        self.magnitude = lambda impulse: self.length * magnitude(self.length * impulse)

    def _read_local(self, group, vectors):
        w = read_matrix(group["W"])
        q = np.ravel(vectors["q"]).astype(float)
        self.g = q
        self.contact_blocks = diagonal_blocks(w, self.dimension)
        self.joint_diagonal = np.zeros(0)
        if "V" not in group:
            self.apply = lambda impulse: times(w, impulse)
            self.magnitude = lambda impulse: times((*w[:4], abs(w[4])), abs(impulse))
            return
        v, r = read_matrix(group["V"]), read_matrix(group["R"])
        s = np.ravel(vectors["s"]).astype(float)
        self.joints = len(s)
        self.g = np.concatenate([s, q])
        self.joint_diagonal = diagonal_blocks(r, 1).ravel()

        def apply(impulse, sign=lambda x: x):
            l, reaction = impulse[: len(s)], impulse[len(s) :]
            vv, rr, ww = ((*a[:4], sign(a[4])) for a in (v, r, w))
            return np.concatenate(
                [times(rr, l) + times_transposed(vv, reaction), times(ww, reaction) + times(vv, l)]
            )

        self.apply = apply
        self.magnitude = lambda impulse: apply(abs(impulse), abs)

    def _read_global(self, group, vectors):
        mass, h = dense(read_matrix(group["M"])), dense(read_matrix(group["H"]))
        f, w = np.ravel(vectors["f"]).astype(float), np.ravel(vectors["w"]).astype(float)
        jacobian, bias = h.T, w
        if "G" in group:
            joints = dense(read_matrix(group["G"]))
            self.joints = joints.shape[1]
            jacobian = np.vstack([joints.T, h.T])
            bias = np.concatenate([np.ravel(vectors["b"]).astype(float), w])
        response = np.linalg.solve(mass, jacobian.T) if len(mass) else np.zeros((0, len(bias)))
        free = np.linalg.solve(mass, f) if len(mass) else f
        delassus = jacobian @ response
        self.bias = bias
        self.g = jacobian @ free + bias
        # The velocity of the bodies first, as the global problem states it: M v = H r + G l + f.
        self.apply = lambda impulse: jacobian @ np.linalg.solve(mass, jacobian.T @ impulse) if len(mass) else 0 * impulse
        self.magnitude = lambda impulse: abs(jacobian) @ (abs(response) @ abs(impulse))
        self.joint_diagonal = np.diag(delassus)[: self.joints].copy()
        d, j = self.dimension, self.joints
        self.contact_blocks = np.array(
            [delassus[k : k + d, k : k + d] for k in range(j, len(self.g), d)]
        ).reshape(-1, d, d)

    def split(self, vector):
        """Joint rows and contacts, (n, t…) each."""
        return vector[: self.joints], vector[self.joints :].reshape(-1, self.dimension)


def project_rolling(x, mu, mu_rolling):
    """P_K of contacts (n, t1, t2, m1, m2), K = {‖t‖ ≤ mu n, ‖m‖ ≤ mu_r n}: the nearest of the points that have the
    best normal component with each choice of bounds that hold."""
    n, t, m = x[:, 0], x[:, 1:3], x[:, 3:]
    a, b = norms(t), norms(m)
    best = np.zeros_like(x)
    for slides in (0, 1):
        for rolls in (0, 1):
            s = (n + slides * mu * a + rolls * mu_rolling * b) / (1 + slides * mu**2 + rolls * mu_rolling**2)
            s = np.maximum(s, 0)
            with np.errstate(invalid="ignore", divide="ignore"):
                short_t = np.where(a > mu * s, mu * s / a, 1.0)
                short_m = np.where(b > mu_rolling * s, mu_rolling * s / b, 1.0)
            point = np.column_stack([s, t * short_t[:, None], m * short_m[:, None]])
            # |x - best|^2 - |x - point|^2 without the cancellation of the squares.
            nearer = ((point - best) * (2 * x - point - best)).sum(axis=1) > 0
            best = np.where(nearer[:, None], point, best)
    return best


def project(x, mu, mu_rolling=None):
    """P_K of contacts (n, t…), K = {‖t‖ ≤ mu n}."""
    if mu_rolling is not None:
        return project_rolling(x, mu, mu_rolling)
    n, t = x[:, 0], x[:, 1:]
    size = np.sqrt((t * t).sum(axis=1))
    inside = (size <= mu * n) & (n >= 0)
    polar = ~inside & (mu * size <= -n)
    share = (mu * size + n) / (mu * mu + 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        surface = np.column_stack([share, t * (mu * share / size)[:, None]])
    return np.where(inside[:, None], x, np.where(polar[:, None], 0.0, surface))


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


def norms(x):
    return np.sqrt((x * x).sum(axis=1))


def largest(*parts):
    values = np.concatenate([np.ravel(p) for p in parts] + [np.zeros(1)])
    return math.inf if np.isnan(values).any() else float(values.max())


def scales(problem):
    """r of joints and contacts, and V."""
    means = np.concatenate([problem.joint_diagonal, np.trace(problem.contact_blocks, axis1=1, axis2=2) / problem.dimension])
    positive = means > 0
    fallback = 1 / means[positive].mean() if positive.any() else 1.0
    r = np.where(positive, 1 / np.where(positive, means, 1.0), fallback)
    joint_g, contact_g = problem.split(problem.g)
    velocity = largest(abs(joint_g), norms(contact_g))
    return r[: problem.joints], r[problem.joints :], velocity if velocity > 0 else 1.0


def dissipation_error(problem, contacts, sigma, r, velocity, tau=1e-6):
    parts = [(problem.mu, slice(1, 3))]
    if problem.mu_rolling is not None:
        parts.append((problem.mu_rolling, slice(3, 5)))
    worst = 0.0
    for friction, rows in parts:
        for k, mu in enumerate(friction):
            impulse, slip = contacts[k, rows], sigma[k, rows]
            normal, speed = contacts[k, 0], np.linalg.norm(slip)
            if mu == 0 or normal <= tau * r[k] * velocity:
                continue
            if speed <= max(tau * velocity, (mu * normal - np.linalg.norm(impulse)) / r[k]):
                continue
            if not impulse.any():
                worst = max(worst, math.pi / 2)
                continue
            a, b = -impulse / np.linalg.norm(impulse), slip / speed
            worst = max(worst, 2 * math.atan2(np.linalg.norm(a - b), np.linalg.norm(a + b)))
    return worst


def penetration(problem, sigma_normal):
    if not len(problem.mu):
        return 0.0, None
    absent = [
        name
        for name, value in (("gaps", problem.gaps), ("time step", problem.time_step), ("bias", problem.bias))
        if value is None
    ]
    if absent:
        return None, "not in the file: " + ", ".join(absent)
    normal_bias = problem.split(problem.bias)[1][:, 0]
    return largest(-(problem.gaps + problem.time_step * (sigma_normal - normal_bias))), None


def judge(problem, impulse):
    """All residuals, what is missing, and how much of each value rounding may explain."""
    if not np.isfinite(impulse).all():
        return {}, {}, {}
    mu, mu_rolling = problem.mu, problem.mu_rolling
    rolls = mu_rolling is not None
    impulse = impulse / problem.length
    sigma = problem.apply(impulse) + problem.g
    joint_sigma, contact_sigma = problem.split(sigma)
    _, contacts = problem.split(impulse)
    augmented = contact_sigma.copy()
    augmented[:, 0] += mu * norms(contact_sigma[:, 1:3])
    if rolls:
        augmented[:, 0] += mu_rolling * norms(contact_sigma[:, 3:])
    joint_r, contact_r, velocity = scales(problem)
    g_norm = np.linalg.norm(problem.g)
    joint_part = abs(joint_sigma)

    def natural(v, r=1.0):
        r = np.broadcast_to(np.asarray(r, float), mu.shape)[:, None]
        return contacts - project(contacts - r * v, mu, mu_rolling)

    def dual(v):  # v − P_K*(v) = −P_K(−v)
        return project(-v, mu, mu_rolling)

    def scaled(v):
        return largest(joint_part / velocity, norms(natural(v, contact_r)) / (contact_r * velocity))

    def box():
        bound = (mu * np.maximum(contacts[:, 0], 0))[:, None]
        moved = contacts - contact_r[:, None] * contact_sigma
        target = np.column_stack([np.maximum(moved[:, 0], 0), np.clip(moved[:, 1:], -bound, bound)])
        return largest(joint_part / velocity, norms(contacts - target) / (contact_r * velocity))

    def raisim():
        corrected = augmented.copy()
        for k, friction in enumerate(mu):
            row, slip = problem.contact_blocks[k][0], contact_sigma[k, 1:]
            if friction == 0 or not slip.any() or row[0] <= 0:
                continue
            # x = mu |slip + x t| with t = d_T / d_n, squared.
            t = row[1:] / row[0]
            square = [1 - friction**2 * (t @ t), -2 * friction**2 * (slip @ t), -(friction**2) * (slip @ slip)]
            roots = [x.real for x in np.roots(square) if abs(x.imag) <= 1e-12 * abs(x) and x.real > 0]
            if roots:
                x = min(roots)
                corrected[k] = contact_sigma[k] + x * np.concatenate([[1.0], t])
        return scaled(corrected)

    def facets(corners=8):
        target = np.column_stack([np.maximum((contacts - contact_r[:, None] * contact_sigma)[:, 0], 0), contacts[:, 1:]])
        for k, normal in enumerate(contacts[:, 0]):
            x = contacts[k, 1:] - contact_r[k] * contact_sigma[k, 1:]
            target[k, 1:] = nearest_in_polygon(x, mu[k] * max(normal, 0.0), corners)
        return largest(joint_part / velocity, norms(contacts - target) / (contact_r * velocity))

    def divided(value, denominator):
        return value / denominator if denominator > EPSILON else value

    power = (contacts * augmented).sum(axis=1)
    objective = 0.5 * (impulse @ sigma + impulse @ problem.g)
    f_norm = math.hypot(np.linalg.norm(joint_sigma), np.linalg.norm(natural(augmented)))
    relative = max(g_norm, np.linalg.norm(impulse), np.linalg.norm(sigma))
    depth, reason = penetration(problem, contact_sigma[:, 0])
    residuals = {
        "primal": largest(norms(contacts - project(contacts, mu, mu_rolling))),
        "dual": largest(joint_part, norms(dual(augmented))),
        "complementarity": largest(abs(power)),
        "natural_map": largest(joint_part, norms(natural(augmented))),
        "dual_ccp": largest(joint_part, norms(dual(contact_sigma))),
        "complementarity_ccp": largest(abs((contacts * contact_sigma).sum(axis=1))),
        "natural_map_ccp": largest(joint_part, norms(natural(contact_sigma))),
        "natural_map_scaled": scaled(augmented),
        "natural_map_ccp_scaled": scaled(contact_sigma),
        "natural_map_box_scaled": None if rolls else box(),
        "natural_map_facets_scaled": None if rolls else facets(),
        "natural_map_raisim_scaled": None if rolls else raisim(),
        "natural_map_relative": divided(f_norm, relative),
        "natural_map_relative_g": divided(f_norm, g_norm),
        "r_primal": largest(abs(contacts - project(contacts, mu, mu_rolling))),
        "r_dual": largest(joint_part, abs(dual(augmented))),
        "r_ncp": largest(abs(power)),
        "r_nat": largest(joint_part, abs(natural(augmented))),
        "penetration": depth,
        "objective": float(objective),
        "objective_ncp": float(objective + (contacts[:, 0] * (augmented - contact_sigma)[:, 0]).sum()),
        "duality_gap_ccp": float(abs(impulse @ sigma)),
        "dissipation_error": dissipation_error(problem, contacts, contact_sigma, contact_r, velocity),
        "signorini": largest(abs(np.minimum(contacts[:, 0] / contact_r, contact_sigma[:, 0]))) / velocity,
    }
    missing = {} if reason is None else {"penetration": reason}

    # Rounding: sums of n products err by up to about n eps of the sum of their sizes.
    unit = 4 * math.sqrt(len(impulse) + 1) * EPSILON
    velocity_noise = unit * largest(problem.magnitude(impulse) + abs(problem.g)) * (1 + (mu.max() if len(mu) else 0) + (mu_rolling.max() if rolls and len(mu) else 0))
    impulse_noise = unit * largest(abs(impulse))
    power_noise = velocity_noise * largest(abs(impulse)) + impulse_noise * largest(abs(sigma))
    total = len(impulse) * power_noise
    both = velocity_noise + impulse_noise
    all_rows = math.sqrt(len(impulse)) * both
    scaled_noise = (velocity_noise + largest(impulse_noise / contact_r, impulse_noise / joint_r)) / velocity
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
        return np.load(path).astype(float)
    with h5py.File(path, "r") as file:
        reaction = np.ravel(file["solution/r"]).astype(float)
        if problem.joints == 0:
            return reaction
        return np.concatenate([np.ravel(file["solution/l"]).astype(float), reaction])


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
