"""ADMM's iterates with acceleration are those of Pinocchio 4.1 (Anderson) and of Kamino in Newton 1.8 (Nesterov).

Usage, by a Python that has the library and the package's NumPy: admm_peers_test.py PYTHON_FOLDER pinocchio|newton [FILE…]
Ends with 77 where the library is not installed. Without files: a random problem. Files: of contacts in space, symmetric.
"""

import importlib
import sys

package, library, *files = sys.argv[1:]
sys.path.insert(0, package)
try:
    import conebench
    import numpy as np

    peer = importlib.import_module(library)
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
if library == "pinocchio" and not hasattr(peer, "ADMMConstraintSolver"):  # as that of 3.7
    print("skipped: Pinocchio is too old")
    sys.exit(77)
from conebench import friction

RHO, ETA = 0.3, 1e-5  # of a problem whose mean diagonal is 1
ITERATIONS = (1, 2, 3, 5, 8, 12, 20, 30, 40, 50)


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def random_problem():
    rng = np.random.default_rng(3)
    factor = rng.normal(size=(36, 18))
    return conebench.problem(G=factor @ factor.T, g=factor @ rng.normal(size=18),
                             blocks=[friction(mu) for mu in rng.uniform(0.2, 1.0, 12)], normal="last")


def ours(problem, iterations, **options):
    mean = (problem.G.diagonal() + problem.R).mean()
    return conebench.solve(problem, "ADMM-NCP-FP", tolerance=1e-300, stop_by="solver", max_iterations=iterations,
                           initial_penalty=RHO * mean, proximal=ETA * mean, **options).r


def largest_difference(problem, peers, mine):
    """Of iterates, over their size."""
    pairs = [(peers(k), mine(k)) for k in ITERATIONS]
    return max(np.abs(theirs - own).max() / np.abs(own).max() for theirs, own in pairs)


def pinocchio(problem, name):
    def theirs(capacity, iterations):  # its second iteration repeats the first
        return conebench.solve(problem, "PINOCCHIO-ADMM", tolerance=1e-300, max_iterations=iterations + 1, rule="constant",
                               penalty=RHO, proximal=ETA, tau=1.0, anderson=capacity).r

    # Where the capacity is no power of two, Pinocchio takes wrong differences: docs/solvers/ADMM.md.
    for capacity in (0, 2, 4, 8):
        mine = {"acceleration": "anderson", "capacity": capacity - 1} if capacity else {}
        difference = largest_difference(problem, lambda k: theirs(capacity, k),
                                        lambda k: ours(problem, k, order="project_solve", **mine))
        check(difference <= 1e-10, f"{name}: Pinocchio's anderson_capacity={capacity}, {difference:.1e}")


class Momentum:
    """Kamino's iteration in NumPy, since it starts at z = 0 and ours at the velocity of the start."""

    def __init__(self, problem, at_rest):
        self.mu = problem.mu
        G = problem.G.toarray() + np.diag(problem.R)
        mean = np.diagonal(G).mean()
        self.rho, self.eta, self.g = RHO * mean, ETA * mean, problem.g
        self.inverse = np.linalg.inv(G + (self.rho + self.eta) * np.eye(len(G)))
        self.x, self.y = np.zeros(len(G)), np.zeros(len(G))
        self.z = np.zeros(len(G)) if at_rest else self.dual_projected(problem.g + self.de_saxce(problem.g))
        self.y_hat, self.z_hat, self.alpha, self.last = self.y, self.z, 1.0, np.inf

    def de_saxce(self, z):
        z = z.reshape(-1, 3)
        return np.column_stack([0 * z[:, :2], self.mu * np.hypot(z[:, 0], z[:, 1])]).ravel()

    def projected(self, x):
        x = x.reshape(-1, 3)
        t, n = np.hypot(x[:, 0], x[:, 1]), x[:, 2]
        on_cone = np.maximum(0, (self.mu * t + n) / (1 + self.mu**2))
        inside = t <= self.mu * n
        shrink = np.where(inside, 1.0, self.mu * on_cone / np.maximum(t, 1e-300))
        return np.column_stack([x[:, :2] * shrink[:, None], np.where(inside, n, on_cone)]).ravel()

    def dual_projected(self, z):
        return z + self.projected(-z)

    def step(self):
        s = self.de_saxce(self.z_hat)
        self.x = -self.inverse @ (self.g + s - self.eta * self.x - self.rho * self.y_hat - self.z_hat)
        y = self.projected(self.x - self.z_hat / self.rho)
        z = self.z_hat + self.rho * (y - self.x)
        now = self.rho * ((y - self.y_hat) ** 2).sum() + ((z - self.z_hat) ** 2).sum() / self.rho
        if now < 0.999 * self.last:
            alpha = (1 + np.sqrt(1 + 4 * self.alpha**2)) / 2
            weight, self.alpha = (self.alpha - 1) / alpha, alpha
            self.y_hat, self.z_hat = y + weight * (y - self.y), z + weight * (z - self.z)
        else:
            self.alpha, now = 1.0, self.last / 0.999
            self.y_hat, self.z_hat = self.y, self.z
        self.y, self.z, self.last = y, z, now

    @classmethod
    def after(cls, problem, iterations, at_rest):
        method = cls(problem, at_rest)
        for _ in range(iterations):
            method.step()
        return method.y


def newton(problem, name):
    def theirs(iterations):
        return conebench.solve(problem, "KAMINO-PADMM", tolerance=1e-30, max_iterations=iterations, rho=RHO, eta=ETA,
                               preconditioner=False).r

    difference = largest_difference(problem, theirs, lambda k: Momentum.after(problem, k, at_rest=True))
    check(difference <= 1e-5, f"{name}: Kamino's momentum, {difference:.1e} in float32")
    difference = largest_difference(problem, lambda k: ours(problem, k, acceleration="nesterov"),
                                    lambda k: Momentum.after(problem, k, at_rest=False))
    check(difference <= 1e-10, f"{name}: ours, {difference:.1e}")


compare = {"pinocchio": pinocchio, "newton": newton}[library]
for file in files:
    compare(conebench.load(file), file)
if not files:
    compare(random_problem(), "random")
