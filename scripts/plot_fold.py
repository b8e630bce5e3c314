#!/usr/bin/python3
"""The figure of docs/experiments/cascade.md: the central path of a problem of two contacts, which turns back in m.

    conebench generate random --set contacts=2 --set mu_min=0.8 --set mu_max=1.5 --set conditioning=300 --seed 117 --out .
    scripts/plot_fold.py random_*.hdf5 docs/images/fold.svg

Follows r ∘ u(w) = m e, w = G r + g + m (w0 − G r0 − g) from r0 = w0 = (0, 0, 1) a contact at m = 1, in the scaling of
the page, by pseudo-arclength in (r, ln m) with dense algebra. Needs python3-h5py and
python3-matplotlib.
"""
import argparse

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("problem", metavar="PROBLEM.hdf5", help="a local problem in 3D")
parser.add_argument("figure", metavar="FIGURE.svg", help="to be written")
arguments = parser.parse_args()  # before the imports, so that --help needs none of them

import h5py
import matplotlib
import numpy

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "conebench"
import matplotlib.pyplot as plot

LAST_M = 5e-3


def read(path):
    """G, g and μ of a 3D problem, components (t1, t2, n)."""
    with h5py.File(path) as file:
        local = file["fclib_local"]
        matrix, vectors = local["W"], local["vectors"]
        size = int(matrix["m"][()][0] if matrix["m"].shape else matrix["m"][()])
        g = numpy.zeros((size, size))
        kind = int(numpy.ravel(matrix["nz"][()])[0])
        p, i, x = matrix["p"][()], matrix["i"][()], matrix["x"][()]
        if kind >= 0:  # triplets: rows in i, columns in p
            numpy.add.at(g, (i[:kind], p[:kind]), x[:kind])
        elif kind == -1:
            for column in range(size):
                for k in range(p[column], p[column + 1]):
                    g[i[k], column] += x[k]
        else:
            for row in range(size):
                for k in range(p[row], p[row + 1]):
                    g[row, i[k]] += x[k]
        normal_first = [3 * c + k for c in range(size // 3) for k in (1, 2, 0)]
        return g[numpy.ix_(normal_first, normal_first)], vectors["q"][()][normal_first], vectors["mu"][()]


def scaled(g, q, mu):
    weights = []
    for c, m in enumerate(mu):
        d = numpy.diag(g)[3 * c:3 * c + 3] / numpy.array([1.0, 1.0, m * m])
        weights.append(numpy.array([1.0, 1.0, 1.0 / m]) / numpy.sqrt(d.mean()))
    w = numpy.concatenate(weights)
    q = w * q
    return w[:, None] * g * w[None, :], q / (numpy.linalg.norm(q) / numpy.sqrt(len(mu)))


class Path:
    def __init__(self, g, q):
        self.g, self.q, self.contacts = g, q, len(q) // 3
        self.start = numpy.tile([0.0, 0.0, 1.0], self.contacts)
        self.offset = self.start - g @ self.start - q

    def gap(self, x):
        """r ∘ u(w) − m e."""
        r, m = x[:-1], numpy.exp(x[-1])
        w = self.g @ r + self.q + m * self.offset
        f = numpy.empty(len(r))
        for k in range(0, len(r), 3):
            a, b = r[k:k + 3], w[k:k + 3].copy()
            b[2] += numpy.hypot(b[0], b[1] + 1e-300)
            f[k:k + 2] = a[2] * b[:2] + b[2] * a[:2]
            f[k + 2] = a @ b - m
        return f

    def jacobian(self, x):
        columns = []
        for k in range(len(x)):
            h = 1e-6 * max(1.0, abs(x[k]))
            d = numpy.zeros(len(x))
            d[k] = h
            columns.append((self.gap(x + d) - self.gap(x - d)) / (2 * h))
        return numpy.array(columns).T

    def inside(self, x):
        r, m = x[:-1], numpy.exp(x[-1])
        w = self.g @ r + self.q + m * self.offset
        return all(r[k + 2] > numpy.hypot(r[k], r[k + 1]) and w[k + 2] > 0 for k in range(0, len(r), 3))

    def follow(self, most=4000):
        x = numpy.append(self.start, 0.0)
        last = numpy.append(numpy.zeros(len(x) - 1), -1.0)
        points, step = [x], 0.05
        while x[-1] > numpy.log(LAST_M) and len(points) < most and step > 1e-9:
            tangent = numpy.linalg.svd(self.jacobian(x))[2][-1]
            tangent *= numpy.sign(tangent @ last) or 1.0
            y = x + step * tangent
            for _ in range(8):
                f = numpy.append(self.gap(y), (y - x) @ tangent - step)
                y = y - numpy.linalg.solve(numpy.vstack([self.jacobian(y), tangent]), f)
                if numpy.linalg.norm(f) < 1e-9 * step:
                    break
            if numpy.linalg.norm(self.gap(y)) < 1e-9 and self.inside(y) and (y - x) @ tangent > 0:
                last, x = (y - x) / numpy.linalg.norm(y - x), y
                points.append(x)
                step = min(0.05 * max(1.0, numpy.abs(x).max()), 1.3 * step)
            else:
                step *= 0.5
        return numpy.array(points)


def main():
    path = Path(*scaled(*read(arguments.problem)))
    points = path.follow()
    m = numpy.exp(points[:, -1])
    turns = [k for k in range(1, len(m) - 1) if (m[k] - m[k - 1]) * (m[k + 1] - m[k]) < 0]
    print(f"{len(points)} points, m ends at {m[-1]:.3g}, turns at m =", ", ".join(f"{m[k]:.4g}" for k in turns))
    figure, axes = plot.subplots(figsize=(6.4, 3.8))
    for c in range(path.contacts):
        axes.plot(m, points[:, 3 * c + 2], label=f"normal impulse of contact {c + 1}")
        axes.plot(m[turns], points[turns, 3 * c + 2], "ko", markersize=4, label="fold" if c == 0 else None)
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.set_xlabel("m (the path starts at 1; an interior point only goes to the right)")
    axes.set_ylabel("r_n, scaled")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(arguments.figure, metadata={"Date": None})


if __name__ == "__main__":
    main()
