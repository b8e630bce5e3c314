"""DART's solvers of boxed LCPs and of exact Coulomb friction (`pip install dartpy`, BSD-2-Clause) on given problems.

dartpy binds `solve` with single numbers where C++ has arrays, so the exported C++ symbol is called. Rows are DART's: a
contact's normal first, and `findex` of its tangents is the normal. A and b: G + R over its mean diagonal and -g over
its largest entry, since DART's tests are absolute."""

import ctypes
from typing import Any, Dict, Tuple

import numpy as np

from .. import _core
from .._blocks import Array
from .._problems import Problem
from .._solver import option, solver

_ids = "DART-DANTZIG, DART-PGS, DART-NSGS, DART-FBF"
try:
    import dartpy
except ImportError:
    raise _core.Error(f"{_ids}: need dartpy: pip install 'conebench[dart]'") from None

_released = {"6.20.0": "2026-10-11"}  # upload time of the wheel in PyPI's index
_described: Dict[str, Any] = {
    "peer": {"version": dartpy.__version__,
             **({"released": _released[dartpy.__version__]} if dartpy.__version__ in _released else {})},
    "citation": "DART, github.com/dartsim/dart; Lee et al., JOSS 3(22), 2018", "joints": True, "limits": True,
    "compliance": True, "intervals": True}
_library = ctypes.PyDLL(dartpy.__file__)
# Dantzig and PGS have no constructor in Python; those of a world are kept with it.
_constraints = dartpy.simulation.World().getConstraintSolver()


def _function(kind: str) -> Any:
    """dart::constraint::KIND::solve(int n, double* A, x, b, int nub, double* lo, hi, int* findex, bool early)."""
    try:
        found = getattr(_library, f"_ZN4dart10constraint{len(kind)}{kind}5solveEiPdS2_S2_iS2_S2_Pib")
    except AttributeError:
        raise _core.Error(f"{_ids}: made for dartpy 6.20, this is {dartpy.__version__}") from None
    pointer = ctypes.c_void_p
    found.restype = ctypes.c_bool
    found.argtypes = [pointer, ctypes.c_int, *3 * [pointer], ctypes.c_int, *3 * [pointer], ctypes.c_bool]
    return found


_functions = {kind: _function(kind) for kind in ("DantzigBoxedLcpSolver", "PgsBoxedLcpSolver", "NsgsFrictionSolver",
                                                 "FbfFrictionSolver")}


def _address(wrapped: Any) -> Any:
    """Of the C++ object: pybind11 keeps it behind the head of the Python object."""
    return ctypes.cast(id(wrapped) + object.__basicsize__, ctypes.POINTER(ctypes.c_void_p))[0]


class _Given:
    """A problem in DART's rows and units: λ[rows] = offset + unit x, with x = 0 in all bounds, which Dantzig needs."""

    def __init__(self, problem: Problem, symmetric: bool) -> None:
        d, first = problem.dimension, problem.rows - problem.dimension * problem.contacts
        if problem.contacts and d not in (2, 3):
            raise _core.Error(f"DART: its contacts have 2 or 3 rows, not {d or 'several sizes'}")
        contacts = np.arange(first, problem.rows).reshape(problem.contacts, max(d, 1))
        self.rows = np.concatenate([np.arange(first), np.roll(contacts, 1, axis=1).ravel()])
        matrix = problem.G.toarray() + np.diag(problem.R)
        matrix = matrix[np.ix_(self.rows, self.rows)]
        if symmetric:
            matrix = (matrix + matrix.T) / 2
        lower, upper = problem.blocks.lower.copy(), problem.blocks.upper.copy()
        lower[first:], upper[first:] = 0, 0
        self.offset = np.clip(0, lower, upper)
        free = problem.g[self.rows] + matrix @ self.offset
        mean = float(np.diagonal(matrix).mean()) if problem.rows else 1.0
        speed = float(np.abs(free).max(initial=0.0)) or 1.0
        self.unit = speed / (mean or 1.0)
        size = problem.rows
        self._matrix = np.zeros((size, ((size - 1) | 3) + 1 if size > 1 else 1))  # rows padded to 4 numbers
        self._matrix[:, :size] = matrix / (mean or 1.0)
        self._free = -free / speed
        self._lower, self._upper = (lower - self.offset) / self.unit, (upper - self.offset) / self.unit
        self._index = np.full(size, -1, dtype=np.int32)
        for k, mu in enumerate(problem.mu):
            normal = first + d * k
            self._lower[normal], self._upper[normal] = 0, np.inf
            self._lower[normal + 1:normal + d], self._upper[normal + 1:normal + d] = -mu, mu
            self._index[normal + 1:normal + d] = normal

    def solve(self, kind: str, wrapped: Any, start: Array) -> Tuple[Array, bool]:
        """λ and what DART returned. It writes into all arrays. With early termination Dantzig
        returns False at its internal errors instead of going on."""
        x = (start[self.rows] - self.offset) / self.unit
        arrays = [part.copy() for part in (self._matrix, self._free, self._lower, self._upper, self._index)]
        matrix, free, lower, upper, index = (part.ctypes.data for part in arrays)
        said = len(x) == 0 or _functions[kind](_address(wrapped), len(x), matrix, x.ctypes.data, free, 0, lower, upper,
                                               index, True)
        r = np.empty(len(x))
        r[self.rows] = self.offset + self.unit * x
        return r, said


class _Base:
    symmetric = True
    _given: _Given

    def prepare(self, problem: Problem) -> None:
        self._given = _Given(problem, self.symmetric)

    def _boxed(self, kind: str, wrapped: Any, start: Array, refused: str) -> Tuple[Array, Dict[str, Any]]:
        r, said = self._given.solve(kind, wrapped, start)
        if not np.isfinite(r).all():
            return r, {"status": "breakdown", "message": f"DART returned {said} with impulses that are not finite"}
        return r, {"status": "converged"} if said else {"status": refused, "message": "DART returned False"}

    def _exact(self, kind: str, wrapped: Any, limit: int, start: Array) -> Tuple[Array, Dict[str, Any]]:
        r, said = self._given.solve(kind, wrapped, start)
        stats = wrapped.getStats()
        reported = {"iterations": stats.numIterations, "own_residual": stats.maxViolation}
        if stats.numConverged or not len(r):
            return r, {"status": "converged", **reported}
        if stats.numFailed:
            return r, {"status": "breakdown", "message": "DART's statistics say failed", **reported}
        return r, {"status": "max_iterations" if stats.numIterations >= limit else "stalled",
                   "message": f"DART returned {said} with its best iterate, violation {stats.maxViolation:.1e}",
                   **reported}


@solver("DART-DANTZIG", name="DART's Dantzig", formulation="LCP", needs_symmetry=True, rotation_invariant=False,
        summary="ODE's pivots; friction's bounds are mu times normal impulses that came before. Dense.", **_described)
class Dantzig(_Base):
    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array
              ) -> Tuple[Array, Dict[str, Any]]:
        return self._boxed("DantzigBoxedLcpSolver", _constraints.getBoxedLcpSolver(), start, "breakdown")


@solver("DART-PGS", name="DART's projected Gauss-Seidel", formulation="LCP", rotation_invariant=False,
        summary="Gauss-Seidel by rows with friction in a box; stops where impulses change little. Dense.", **_described)
class Pgs(_Base):
    symmetric = False

    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array
              ) -> Tuple[Array, Dict[str, Any]]:
        wrapped = _constraints.getSecondaryBoxedLcpSolver()
        options = dartpy.constraint.PgsBoxedLcpSolverOption()
        options.mMaxIteration = max(max_iterations, 1)
        options.mDeltaXThreshold = options.mRelativeDeltaXTolerance = tolerance
        wrapped.setOption(options)
        return self._boxed("PgsBoxedLcpSolver", wrapped, start, "max_iterations")


@solver("DART-NSGS", name="DART's NSGS", formulation="NCP", needs_symmetry=True,
        summary="Gauss-Seidel by contacts, each solved exactly and certified. Dense; symmetric G alone.", **_described)
class Nsgs(_Base):
    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array
              ) -> Tuple[Array, Dict[str, Any]]:
        kind = dartpy.constraint.NsgsFrictionSolver
        options = kind.Options()
        options.maxSweeps, options.tolerance = max_iterations, tolerance
        return self._exact("NsgsFrictionSolver", kind(options), max_iterations, start)


@solver("DART-FBF", name="DART's forward-backward-forward", formulation="NCP", needs_symmetry=True,
        summary="Forward-backward-forward splitting around convex problems. Dense; symmetric G alone.", **_described)
class Fbf(_Base):
    step_scale = option(0.5, 1e-3, 1.0, "stepScale")
    inner_sweeps = option(20, 1, 10000, "maxInnerSweeps")
    inner_factor = option(0.1, 1e-6, 1.0, "innerToleranceFactor: of the inner problem's tolerance over the outer one's")

    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array
              ) -> Tuple[Array, Dict[str, Any]]:
        kind = dartpy.constraint.FbfFrictionSolver
        options = kind.Options()
        options.maxOuterIterations, options.tolerance = max_iterations, tolerance
        options.stepScale, options.maxInnerSweeps, options.innerToleranceFactor = (
            self.step_scale, self.inner_sweeps, self.inner_factor)
        return self._exact("FbfFrictionSolver", kind(options), max_iterations, start)
