"""Clarabel (Apache-2.0), SCS (MIT) and ProxQP (BSD-2): solvers of convex cone and quadratic programs.

The relaxed problem (CCP) is min ½ λᵀ(G + R)λ + gᵀλ over λ in K (Anitescu and Tasora, Comput. Optim. Appl. 47, 2010). It is
given with (G + Gᵀ)/2. The libraries' tests are absolute, so it is made free of units: λ = V D y with D = 1/√(trace / rows)
of each block of G + R, and V = max |D g|. Then y minimises ½ yᵀ(D (G + R) D)y + (D g / V)ᵀy over

    A y + s = b,    s in {0} x R₊ x second-order cones,    in this order.
"""

import importlib
import importlib.metadata
import time
from typing import Any, Dict, List, Tuple

import numpy as np

from .._blocks import Array, Integers
from .._problems import Problem
from .._solver import option, solver

_Answer = Tuple[Array, Dict[str, Any]]
_infinite = 1e20  # ProxQP's
# Of the files in PyPI's wheels.
_released = {("clarabel", "0.11.1"): "2025-06-11", ("scs", "3.3.1"): "2026-09-05", ("proxsuite", "0.8.0"): "2026-10-26"}


def _library(name: str) -> Any:
    """None where it is not installed, which conebench.peers.load says for each of the solvers."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def _peer(package: str) -> Dict[str, str]:
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return {}
    released = _released.get((package, version))
    return {"version": version, **({"released": released} if released else {})}


clarabel, scs, proxsuite = _library("clarabel"), _library("scs"), _library("proxsuite")


class _Rows:
    """A and b by triplets, a part for each of the three kinds of s."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        nothing = np.zeros(0, dtype=np.int64)
        self._parts: List[Tuple[Integers, Integers, Array]] = [(nothing, nothing, np.zeros(0))]
        self._bounds: List[Array] = [np.zeros(0)]
        self.count = 0

    def add(self, rows: Any, columns: Any, values: Any, bounds: Any) -> None:
        """Rows counted from 0 in this call; bounds: one for each."""
        bounds = np.asarray(bounds, dtype=float)
        self._parts.append((np.asarray(rows) + self.count, np.asarray(columns), np.asarray(values, dtype=float)))
        self._bounds.append(bounds)
        self.count += bounds.size

    def each(self, columns: Any, sign: float, bounds: Any) -> None:
        """sign y + s = bound in each of these columns."""
        self.add(np.arange(len(columns)), columns, np.full(len(columns), sign), bounds)

    def made(self) -> Tuple[Any, Array]:
        import scipy.sparse

        rows, columns, values = (np.concatenate(part) for part in zip(*self._parts))
        shape = (self.count, self._columns)
        return scipy.sparse.csc_matrix((values, (rows, columns)), shape=shape), np.concatenate(self._bounds)


class _Program:
    """The program of a problem. `facets`: of a polygon in place of each disc, 0: second-order cones."""

    def __init__(self, problem: Problem, scaled: bool, facets: int = 0) -> None:
        import scipy.sparse

        blocks, n = problem.blocks, problem.rows
        of = blocks.block_of
        matrix = (problem.G + problem.G.T) / 2 + scipy.sparse.diags(problem.R)
        self.factor, self.unit = np.ones(n), 1.0
        if scaled:
            mean = np.bincount(of, matrix.diagonal(), len(blocks)) / np.diff(blocks.block_rows)
            usual = mean[mean > 0].mean() if (mean > 0).any() else 1.0
            self.factor = 1 / np.sqrt(np.where(mean > 0, mean, usual))[of]
            self.unit = float(np.abs(self.factor * problem.g).max(initial=0.0)) or 1.0
        scale = scipy.sparse.diags(self.factor)
        self.P = (scale @ matrix @ scale).tocsc()
        self.P.sort_indices()
        self.q = self.factor * problem.g / self.unit

        contact, normal = blocks.cone > 0, blocks.normal_row
        rub = (blocks.groups > 0) & (blocks.mu > 0)
        lower, upper = blocks.lower / (self.factor * self.unit), blocks.upper / (self.factor * self.unit)
        fixed = lower == upper
        equal, least, round_cones = _Rows(n), _Rows(n), _Rows(n)
        equal.each(np.flatnonzero(fixed), 1.0, lower[fixed])
        idle = np.flatnonzero((blocks.groups > 0) & ~rub)
        equal.each(idle, 1.0, np.zeros(idle.size))
        for bound, sign in ((lower, -1.0), (upper, 1.0)):
            bounded = np.isfinite(bound) & ~fixed
            least.each(np.flatnonzero(bounded), sign, sign * bound[bounded])
        smooth = normal[contact & (np.bincount(of, rub, len(blocks)) == 0)]
        least.each(smooth, -1.0, np.zeros(smooth.size))

        # Of each group that is a ball: its normal, then its rows.
        sliding = np.flatnonzero(rub & (blocks.cone[of] != 3))
        sliding = sliding[np.lexsort((sliding, blocks.groups[sliding], of[sliding]))]
        new = np.ones(sliding.size, dtype=bool)
        new[1:] = (np.diff(of[sliding]) != 0) | (np.diff(blocks.groups[sliding]) != 0)
        first = np.flatnonzero(new)
        self.sizes = np.diff(np.r_[first, sliding.size]) + 1
        group = np.cumsum(new) - 1
        self._normals, self._sliding, self._group = normal[of[sliding[first]]], sliding, group
        self._mu = blocks.mu[sliding]
        self._pyramids: List[Tuple[int, Integers, Array]] = []
        for block in np.flatnonzero(blocks.cone == 3):
            own = np.flatnonzero(rub & (of == block))
            if own.size:
                self._pyramids.append((int(normal[block]), own, blocks.mu[own]))
        for at, own, mu in self._pyramids:
            signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * own.size)).reshape(own.size, -1).T
            count = len(signs)
            least.add(np.repeat(np.arange(count), own.size + 1), np.tile(np.r_[at, own], count),
                      np.column_stack([-np.ones(count), signs / mu]).ravel(), np.zeros(count))
        starts = first + np.arange(first.size)
        if not facets:
            round_cones.add(np.r_[starts, np.arange(sliding.size) + group + 1], np.r_[self._normals, sliding],
                            np.r_[-np.ones(first.size), -1 / self._mu], np.zeros(sliding.size + first.size))
        for at, a, b in zip(self._normals, first, np.r_[first[1:], sliding.size]) if facets else ():
            self._add_polygon(least, at, sliding[a:b], self._mu[a:b], facets)
        if not equal.count + least.count + round_cones.count:
            least.add([0], [0], [0.0], [1.0])  # SCS takes no program without rows
        self.equal, self.least = equal.count, least.count
        parts = [one.made() for one in (equal, least, round_cones)]
        self.A = scipy.sparse.vstack([matrix for matrix, _ in parts], format="csc")
        self.A.eliminate_zeros()
        self.b = np.concatenate([bound for _, bound in parts])

    @staticmethod
    def _add_polygon(least: _Rows, normal: int, rows: Integers, mu: Array, facets: int) -> None:
        """Regular, with its vertices on the circle, the first on the first tangent."""
        angles = (2 * np.arange(facets) + 1) * np.pi / facets
        sides, reach = np.column_stack([np.cos(angles), np.sin(angles)]), float(np.cos(np.pi / facets))
        if rows.size == 1:
            sides, reach = np.array([[-1.0], [1.0]]), 1.0
        count = len(sides)
        least.add(np.repeat(np.arange(count), rows.size + 1), np.tile(np.r_[normal, rows], count),
                  np.column_stack([np.full(count, -reach), sides / mu]).ravel(), np.zeros(count))

    def upper_triangle(self) -> Any:
        import scipy.sparse

        return scipy.sparse.triu(self.P, format="csc")

    def de_saxce(self, y: Array) -> Array:
        """Γ(σ) of σ = P y + q (docs/problem_class.md)."""
        sigma = self.P @ y + self.q
        gamma = np.zeros(sigma.size)
        squares = np.bincount(self._group, (self._mu * sigma[self._sliding])**2, len(self.sizes))
        np.add.at(gamma, self._normals, np.sqrt(squares))
        for at, own, mu in self._pyramids:
            gamma[at] = np.abs(mu * sigma[own]).max()
        return gamma

    def impulse(self, y: Any) -> Array:
        """λ [N s] of y."""
        impulse: Array = self.unit * self.factor * np.asarray(y, dtype=float)
        return impulse


_convex: Dict[str, Any] = {"formulation": "CCP", "intervals": True, "friction_cones": True, "rolling": True,
                           "needs_symmetry": True}
_scaled_doc = "rows of each block times 1/√trace, and g over its largest entry, since the library's tests are absolute"


class _Clarabel:
    """Options are those of Clarabel's settings."""

    scaled = option(True, doc=_scaled_doc)
    equilibrate = option(True, doc="its own equilibration")
    linear_solver = option("qdldl", choices=("qdldl", "faer", "auto"), doc="direct_solve_method")
    feasibility = option(1e-10, 0.0, 1.0, "least tol_feas: rounding keeps it from smaller ones, and the judge asks for less")
    refinement = option(10, 0, 1000, "iterative_refinement_max_iter")
    step = option(0.99, 0.1, 0.9999, "max_step_fraction")

    def prepare(self, problem: Problem) -> None:
        self._program = _Program(problem, self.scaled) if problem.rows else None

    def _made(self, tolerance: float, max_iterations: int, time_limit: float) -> Any:
        given, settings = self._program, clarabel.DefaultSettings()
        assert given is not None
        settings.verbose, settings.max_threads, settings.presolve_enable = False, 1, False
        settings.tol_gap_abs = settings.tol_gap_rel = tolerance
        settings.tol_feas = max(tolerance, self.feasibility)
        settings.max_iter, settings.time_limit = max_iterations, time_limit
        settings.equilibrate_enable, settings.direct_solve_method = self.equilibrate, self.linear_solver
        settings.iterative_refinement_max_iter, settings.max_step_fraction = self.refinement, self.step
        cones = [*([clarabel.ZeroConeT(given.equal)] if given.equal else []),
                 *([clarabel.NonnegativeConeT(given.least)] if given.least else []),
                 *(clarabel.SecondOrderConeT(int(size)) for size in given.sizes)]
        return clarabel.DefaultSolver(given.upper_triangle(), given.q, given.A, given.b, cones, settings)

    @staticmethod
    def _said(answer: Any) -> Dict[str, Any]:
        word = str(answer.status)
        status = {"Solved": "converged", "AlmostSolved": "stalled", "InsufficientProgress": "stalled",
                  "MaxIterations": "max_iterations", "MaxTime": "time_limit"}.get(word, "breakdown")
        gap = abs(answer.obj_val - answer.obj_val_dual) / max(1.0, min(abs(answer.obj_val), abs(answer.obj_val_dual)))
        return {"status": status, "iterations": answer.iterations,
                "own_residual": float(max(answer.r_prim, answer.r_dual, gap)),
                **({} if status == "converged" else {"message": f"Clarabel says {word}"})}


@solver("CLARABEL", name="Clarabel's interior point", peer=_peer("clarabel"),
        citation="Goulart and Chen, arXiv:2405.12762",
        summary="Interior point on the relaxed problem, 6 to 25 iterations. What it calls solved may be wrong by 1e-4; "
        "it starts cold.", **_convex)
class Clarabel(_Clarabel):
    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array,
              time_limit: float) -> _Answer:
        if self._program is None:
            return np.zeros(0), {"status": "converged", "iterations": 0}
        answer = self._made(tolerance, max_iterations, time_limit).solve()
        return self._program.impulse(answer.x), self._said(answer)


@solver("CLARABEL-NCP", name="De Saxcé's fixed point around Clarabel", peer=_peer("clarabel"),
        citation="Goulart and Chen, arXiv:2405.12762; Acary, Cadoux, Lemaréchal, Malick, ZAMM 91, 2011, section 4",
        summary="Relaxed problems with g + Γ(σ) of the one before, a baseline: it need not converge. Iterations are all "
        "of Clarabel's.", **{**_convex, "formulation": "NCP"})
class ClarabelNcp(_Clarabel):
    patience = option(100, 1, 1000000, "steps without a smaller change of Γ, after which it is stalled")
    inner = option(0.01, 1e-6, 1.0, "Clarabel's tolerance over that of the fixed point")

    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array,
              time_limit: float) -> _Answer:
        given, begin, iterations = self._program, time.perf_counter(), 0
        if given is None:
            return np.zeros(0), {"status": "converged", "iterations": 0}
        gamma = given.de_saxce(start / (given.factor * given.unit)) if np.any(start) else np.zeros(problem.rows)
        made = self._made(max(self.inner * tolerance, 1e-16), max_iterations, time_limit)
        least, waited, ended = np.inf, 0, ""
        while not ended:
            made.update(q=given.q + gamma)
            answer = made.solve()
            iterations += answer.iterations
            said = self._said(answer)
            last, gamma = gamma, given.de_saxce(np.array(answer.x))
            change = float(np.abs(gamma - last).max())
            least, waited = (change, 0) if change < least else (least, waited + 1)
            if said["status"] not in ("converged", "stalled") or change <= tolerance:
                ended = said["status"]
            elif time.perf_counter() - begin > time_limit:
                ended = "time_limit"
            elif iterations >= max_iterations:
                ended = "max_iterations"
            elif waited >= self.patience:
                ended = "stalled"
        return given.impulse(answer.x), {**said, "status": ended, "iterations": iterations, "own_residual": change}


@solver("SCS", name="SCS' splitting", peer=_peer("scs"),
        citation="O'Donoghue, SIAM J. Optim. 31, 2021, doi:10.1137/20M1366307",
        summary="Operator splitting with Anderson acceleration on the relaxed problem, 25 to some thousand iterations. "
        "It starts cold.", **_convex)
class Scs:
    """Options are those of SCS' settings."""

    scaled = option(True, doc=_scaled_doc)
    scale = option(0.1, 1e-6, 1e6, "initial dual scale")
    adaptive_scale = option(True, doc="changes it on the way")
    normalize = option(True, doc="its own equilibration")
    alpha = option(1.5, 0.1, 1.99, "relaxation")
    acceleration_lookback = option(10, 0, 100, "memory of Anderson acceleration, 0: none")
    acceleration_interval = option(5, 1, 1000, "iterations between its steps")
    linear_solver = option("qdldl", choices=("qdldl", "cpu_indirect", "cpu_dense", "mkl", "auto"),
                           doc="of SCS; its own default, auto, is MKL where it can be loaded, with 30 ms of set-up")

    def prepare(self, problem: Problem) -> None:
        self._program = _Program(problem, self.scaled) if problem.rows else None

    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array,
              time_limit: float) -> _Answer:
        given = self._program
        if given is None:
            return np.zeros(0), {"status": "converged", "iterations": 0}
        cone = {"z": given.equal, "l": given.least, "q": [int(size) for size in given.sizes]}
        made = scs.SCS({"P": given.upper_triangle(), "A": given.A, "b": given.b, "c": given.q}, cone, verbose=False,
                       eps_abs=tolerance, eps_rel=tolerance, max_iters=max_iterations, time_limit_secs=time_limit,
                       scale=self.scale, adaptive_scale=self.adaptive_scale, normalize=self.normalize, alpha=self.alpha,
                       acceleration_lookback=self.acceleration_lookback,
                       acceleration_interval=self.acceleration_interval,
                       linear_solver=scs.LinearSolver(self.linear_solver))
        answer = made.solve()
        info = answer["info"]
        late = "max_iterations" if info["iter"] >= max_iterations else "time_limit"
        status = {scs.SOLVED: "converged", scs.SOLVED_INACCURATE: late}.get(info["status_val"], "breakdown")
        return given.impulse(answer["x"]), {
            "status": status, "iterations": info["iter"],
            "own_residual": float(max(info["res_pri"], info["res_dual"], abs(info["gap"]))),
            **({} if status == "converged" else {"message": f"SCS says {info['status']}"})}


@solver("PROXQP", name="ProxQP on polygons", peer=_peer("proxsuite"), formulation="model", rolling=False, intervals=True,
        needs_symmetry=True, rotation_invariant=False, citation="Bambade et al., RSS 2022",
        summary="Proximal augmented Lagrangian on the relaxed problem with polygons in place of discs. Exact without "
        "friction and in the plane's relaxed problem; it can't be stopped by time, and starts cold.")
class ProxQp:
    """Options are those of ProxQP's settings."""

    scaled = option(True, doc=_scaled_doc)
    facets = option(8, 4, 256, "of the polygon in each disc of friction, with its vertices on the circle")
    backend = option("sparse", choices=("sparse", "dense"), doc="linear algebra")
    duality_gap = option(False, doc="check_duality_gap: its test looks at it, too")
    infeasibility = option(1e-12, 0.0, 1.0, "eps_primal_inf")
    mu_in = option(0.1, 1e-9, 1e6, "default_mu_in, of inequalities")

    def prepare(self, problem: Problem) -> None:
        self._program = _Program(problem, self.scaled, self.facets) if problem.rows else None

    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array) -> _Answer:
        given = self._program
        if given is None:
            return np.zeros(0), {"status": "converged", "iterations": 0}
        rows = given.A.tocsr()
        equal, least = rows[:given.equal].tocsc(), rows[given.equal:].tocsc()
        bound = given.b[given.equal:]
        dense = self.backend == "dense"
        made = (proxsuite.proxqp.dense if dense else proxsuite.proxqp.sparse).QP(problem.rows, given.equal, given.least)
        made.settings.eps_abs, made.settings.eps_rel = tolerance, 0.0
        made.settings.check_duality_gap, made.settings.eps_duality_gap_abs = self.duality_gap, tolerance
        made.settings.eps_duality_gap_rel = 0.0
        # There is always a feasible point, the apex of the cones; at its default, 1e-4, ProxQP may deny that.
        made.settings.eps_primal_inf = self.infeasibility
        made.settings.max_iter, made.settings.default_mu_in = max_iterations, self.mu_in
        matrices = [matrix.toarray() if dense else matrix for matrix in (given.P, equal, least)]
        made.init(matrices[0], given.q, matrices[1], given.b[:given.equal], matrices[2],
                  np.full(bound.size, -_infinite), bound)
        made.solve()
        info = made.results.info
        status = {proxsuite.proxqp.PROXQP_SOLVED: "converged",
                  proxsuite.proxqp.PROXQP_MAX_ITER_REACHED: "max_iterations"}.get(info.status, "breakdown")
        return given.impulse(made.results.x), {
            "status": status, "iterations": int(info.iter),
            "own_residual": float(max(info.pri_res, info.dua_res, abs(info.duality_gap))),
            **({} if status == "converged" else {"message": f"ProxQP says {info.status.name}"})}
