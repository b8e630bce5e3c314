"""Projected Jacobi on contacts in space: Carpentier24's sweep with all blocks at once."""

import conebench
import numpy as np


@conebench.solver("JACOBI-NUMPY", joints=False, limits=False, compliance=False, two_dimensional=False)
class Jacobi:
    relaxation: float = conebench.option(0.2, 0.0, 2.0, "omega: share of the full step")

    def prepare(self, problem):
        self.mu = problem.mu
        trace = problem.G.diagonal().reshape(-1, 3).sum(axis=1)
        self.step = np.where(trace > 0, 3 * self.relaxation / np.where(trace > 0, trace, 1), 0)

    def solve(self, problem, tolerance, max_iterations, start):
        r = start.reshape(-1, 3)
        for k in range(1, max_iterations + 1):
            u = (problem.G @ r.ravel() + problem.g).reshape(-1, 3)
            u[:, 2] += self.mu * np.hypot(u[:, 0], u[:, 1])
            new = self.project(r - self.step[:, None] * u)
            moved, r = np.abs(new - r).max(), new
            if moved <= tolerance:
                return r.ravel(), {"status": "converged", "iterations": k, "own_residual": moved}
        return r.ravel(), {"status": "max_iterations", "iterations": max_iterations}

    def project(self, r):
        tangential, normal = np.hypot(r[:, 0], r[:, 1]), r[:, 2]
        onto = np.maximum(0, (self.mu * tangential + normal) / (1 + self.mu**2))
        inside = tangential <= self.mu * normal
        scale = np.where(inside, 1, self.mu * onto / np.maximum(tangential, 1e-300))
        return np.column_stack([r[:, 0] * scale, r[:, 1] * scale, np.where(inside, normal, onto)])
