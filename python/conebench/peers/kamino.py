"""Kamino's P-ADMM and DVI of Newton (`pip install newton`, Apache-2.0) on problems that come without a robot.

Kamino's solvers ask its `DualProblem` alone, (D, v_f, mu, bounds), which is filled here: bilateral rows | intervals |
limits | contacts (t1, t2, n). LOX, its third solver, has no such problem: it solves for the velocities of bodies, with
their masses.

All is float32. D and v_f are made free of units (mean diagonal 1, largest |v_f| 1), since Kamino's tests are absolute.
What an iteration costs is mostly the launching of kernels: iterations are to be compared, times are not.

Importing this module compiles Kamino's kernels into Warp's cache (WARP_CACHE_PATH), so that no solve does: 20 s the
first time, 3 s later. What was compiled stays when it is interrupted.
"""

import time
from types import SimpleNamespace
from typing import Any, Dict, Tuple, Type

import numpy as np

from .. import _core
from .._blocks import Array
from .._problems import Problem
from .._solver import option, solver

try:
    import warp as wp

    _level, wp.config.log_level = wp.config.log_level, wp.LOG_WARNING  # it would list all kernels
    import newton
except ImportError:
    raise _core.Error("KAMINO-PADMM, KAMINO-DVI: need newton: pip install 'conebench[newton]'") from None

try:
    from newton._src.solvers.kamino._src.core.model import ModelKamino
    from newton._src.solvers.kamino._src.core.size import SizeKamino
    from newton._src.solvers.kamino._src.dynamics.delassus import DelassusOperator
    from newton._src.solvers.kamino._src.dynamics.dual import DualProblem, DualProblemConfigStruct, DualProblemData
    from newton._src.solvers.kamino._src.linalg.core import DenseLinearOperatorData, DenseSquareMultiLinearInfo
    from newton._src.solvers.kamino._src.linalg.linear import LLTBlockedSolver
    from newton._src.solvers.kamino._src.solvers.common import WarmStartMode
    from newton._src.solvers.kamino._src.solvers.dvi import DVISolver
    from newton._src.solvers.kamino._src.solvers.padmm import PADMMSolver, PADMMWarmStartMode
except ImportError as error:
    raise _core.Error(f"KAMINO-PADMM, KAMINO-DVI: made for Newton 1.8, this is {newton.__version__}: {error}") from None

_device = "cpu"
_largest_block = 512  # rows from which on Kamino's kernels are the same for all sizes
_released = {"1.8.0": "2026-11-11"}  # upload time of the wheel in PyPI's index
_described: Dict[str, Any] = {
    "peer": {"version": newton.__version__,
             **({"released": _released[newton.__version__]} if newton.__version__ in _released else {})},
    "citation": "Newton, github.com/newton-physics/newton; Tsounis et al., arXiv:2504.19771",
    "formulation": "NCP", "two_dimensional": False, "rolling": False, "intervals": True, "needs_symmetry": True}


def _array(values: Any, dtype: Any = np.float32) -> Any:
    """On the device, with one entry at least, since kernels refuse empty arrays."""
    given = np.atleast_1d(np.asarray(values, dtype=dtype)).ravel()
    return wp.array(given if given.size else np.zeros(1, dtype=dtype), dtype=wp.dtype_from_numpy(dtype), device=_device)


class _Given:
    """A problem in Kamino's rows and units: λ = offset + sign · unit · x[place]."""

    def __init__(self, problem: Problem, preconditioned: bool) -> None:
        contacts = problem.contacts
        first = problem.rows - 3 * contacts
        if contacts and problem.dimension != 3:
            raise _core.Error("Kamino: its cones have 3 rows; this problem's contacts have "
                              f"{problem.dimension or 'several sizes'}")
        lower, upper = problem.blocks.lower[:first], problem.blocks.upper[:first]
        below, above = np.isfinite(lower), np.isfinite(upper)
        joints, boxes, limits = (np.flatnonzero(kind) for kind in (~below & ~above, below & above, below ^ above))
        self._rows = np.concatenate([joints, boxes, limits, np.arange(first, problem.rows)])
        sign, self._offset = np.ones(problem.rows), np.zeros(problem.rows)
        sign[limits] = np.where(below[limits], 1.0, -1.0)  # an interval of one infinite end is a limit
        self._offset[limits] = np.where(below[limits], lower[limits], upper[limits])

        matrix = problem.G.toarray() + np.diag(problem.R)
        free = problem.g + matrix @ self._offset
        mean = np.diagonal(matrix).mean() if problem.rows else 1.0
        speed = np.abs(free).max(initial=0.0) or 1.0
        self._factor = sign * speed / (mean or 1.0)
        even = 0.5 / (mean or 1.0) * sign[:, None] * (matrix + matrix.T) * sign
        self._matrix = even[np.ix_(self._rows, self._rows)]
        self._free = (sign * free / speed)[self._rows]
        self._lower, self._upper = lower[boxes] / self._factor[boxes], upper[boxes] / self._factor[boxes]
        self._mu = problem.mu
        self._counts = (len(joints), len(boxes), len(limits), contacts)
        self._make(problem.rows, preconditioned)

    def _make(self, rows: int, preconditioned: bool) -> None:
        joints, boxes, limits, contacts = self._counts
        size = SizeKamino()
        for name, value in (("num_worlds", 1), ("sum_of_max_total_cts", rows), ("max_of_max_total_cts", rows),
                            ("sum_of_max_contacts", contacts), ("max_of_max_contacts", contacts),
                            ("sum_of_max_limits", limits), ("max_of_max_limits", limits),
                            ("sum_of_num_bounded_joint_cts", boxes), ("max_of_num_bounded_joint_cts", boxes),
                            ("sum_of_num_bilateral_joint_cts", joints), ("max_of_num_bilateral_joint_cts", joints),
                            ("sum_of_max_inequalities", boxes + limits + contacts),
                            ("max_of_max_inequalities", boxes + limits + contacts)):
            if not hasattr(size, name):
                raise _core.Error(f"Kamino: Newton {newton.__version__} has no SizeKamino.{name}; made for Newton 1.8")
            setattr(size, name, value)
        self.model = ModelKamino.__new__(ModelKamino)
        self.model.size, self.model._device = size, wp.get_device(_device)
        self.model.info = SimpleNamespace(
            num_worlds=1, **{name: _array(value, np.int32) for name, value in (
                ("num_joint_bilateral_cts", joints), ("num_joint_bounded_cts", boxes), ("max_limits", limits),
                ("max_contacts", contacts), ("total_cts_offset", 0))})
        nothing = _array(0, np.int32)
        self.model.joints = SimpleNamespace(**{name: nothing for name in (
            "wid", "bid_B", "bid_F", "num_friction_cts", "num_effort_cts", "friction_cts_offset_total_cts",
            "effort_cts_offset_total_cts")})
        self.model.bodies = SimpleNamespace(inv_m_i=_array(1.0))

        operator = DenseLinearOperatorData[wp.float32, wp.int32]()
        operator.info = DenseSquareMultiLinearInfo[wp.float32, wp.int32]()
        operator.info.finalize(dimensions=[rows], dtype=wp.float32, itype=wp.int32, device=_device)
        operator.mat = wp.zeros(rows * rows, dtype=wp.float32, device=_device)
        delassus = DelassusOperator()
        delassus._operator, delassus._size, delassus._num_worlds, delassus._device = operator, size, 1, _device
        delassus._world_maxdims, delassus._world_maxsize = [rows], [rows * rows]
        delassus._model_maxdims, delassus._model_maxsize = rows, rows * rows
        delassus._max_of_max_total_D_size = rows * rows
        delassus._solver = LLTBlockedSolver(operator=operator, device=_device)

        config = DualProblem.Config()
        config.dynamics.preconditioning = preconditioned
        bias = _array(np.zeros(rows))
        self._data = DualProblemData(
            num_worlds=1, max_of_maxdims=rows, **{name: _array(value, np.int32) for name, value in (
                ("njc", joints), ("nbc", boxes), ("nl", limits), ("nc", contacts), ("bcio", 0), ("lio", 0), ("cio", 0),
                ("iio", 0), ("bcgo", joints), ("lcgo", joints + boxes), ("ccgo", joints + boxes + limits))},
            maxdim=operator.info.maxdim, dim=operator.info.dim, mio=operator.info.mio, vio=operator.info.vio,
            D=operator.mat, v_f=_array(self._free), v_b=bias, v_i=bias, v_b_friction=bias, mu=_array(self._mu),
            bound_lower=_array(self._lower), bound_upper=_array(self._upper), P=_array(np.ones(rows)),
            config=wp.array([config.to_struct()], dtype=DualProblemConfigStruct, device=_device))
        self.dual = DualProblem.__new__(DualProblem)
        for name, value in (("_device", wp.get_device(_device)), ("_size", size), ("_config", [config]),
                            ("_delassus", delassus), ("_data", self._data), ("_sparse", False)):
            setattr(self.dual, name, value)
        self._preconditioned = preconditioned
        self.fill()

    def fill(self) -> None:
        """D, v_f and bounds anew: a solve adds to D's diagonal."""
        joints, boxes = self._counts[:2]
        self._data.D.assign(self._matrix.astype(np.float32).ravel())
        if not self._preconditioned:
            return
        self._data.P.fill_(1.0)
        self._data.v_f.assign(self._free.astype(np.float32))
        self.dual._build_dual_preconditioner()
        self.dual._apply_dual_preconditioner_to_dual()
        if boxes:
            scale = self._data.P.numpy()[joints : joints + boxes]
            self._data.bound_lower.assign((self._lower / scale).astype(np.float32))
            self._data.bound_upper.assign((self._upper / scale).astype(np.float32))

    def guess(self, start: Array) -> Tuple[Any, Any]:
        """λ and D λ + v_f of an r of the problem's rows, in Kamino's rows and units."""
        impulse = ((start - self._offset) / self._factor)[self._rows]
        return (impulse.astype(np.float32), (self._matrix @ impulse + self._free).astype(np.float32))

    def answer(self, impulse: Any) -> Array:
        """r of the problem's rows."""
        r = self._offset.copy()
        r[self._rows] += self._factor[self._rows] * impulse.numpy()[: len(self._rows)].astype(float)
        return r


class _TimedPADMM(PADMMSolver):  # type: ignore[misc]
    """It ends at a time [s, of time.perf_counter]."""

    deadline = np.inf

    def _step(self, problem: Any) -> None:
        super()._step(problem)
        self._look()

    def _step_accel(self, problem: Any) -> None:
        super()._step_accel(problem)
        self._look()

    def _look(self) -> None:
        if time.perf_counter() > self.deadline:
            self._data.state.done.zero_()


def _reported(status: Any, r: Array, iterations: int, max_iterations: int,
              residual: float) -> Tuple[Array, Dict[str, Any]]:
    finite = bool(np.isfinite(r).all())
    ended = "converged" if status["converged"] and finite else "diverged" if not finite else (
        "max_iterations" if iterations >= max_iterations else "time_limit")
    return r, {"status": ended, "iterations": iterations, "own_residual": residual}


@solver("KAMINO-PADMM", name="Kamino's P-ADMM", **_described,
        summary="Kamino's proximal ADMM, float32; compare iterations, not CPU time")
class Padmm:
    """Options are those of Newton's PADMMSolverConfig. Its penalty_update_method "balanced" is refused by Newton itself
    for a dense D."""

    rho = option(1.0, 1e-6, 1e6, "penalty rho_0, kept: Newton has no other rule for a given matrix")
    eta = option(1e-5, 1e-12, 1.0, "proximal term")
    acceleration = option(True, doc="Nesterov's, with restarts")
    restart = option(0.999, 0.0, 0.999999, "restart where the residual falls by less than this factor")
    preconditioner = option(True, doc="diagonal scaling, one factor a contact, as Newton has it by default")

    def prepare(self, problem: Problem) -> None:
        self._given = _Given(problem, self.preconditioner) if problem.rows else None

    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array,
              time_limit: float) -> Tuple[Array, Dict[str, Any]]:
        begin, given = time.perf_counter(), self._given
        if given is None:
            return np.zeros(0), {"status": "converged", "iterations": 0}
        config = PADMMSolver.Config(primal_tolerance=tolerance, dual_tolerance=tolerance, compl_tolerance=tolerance,
                                    max_iterations=max(max_iterations, 1), rho_0=self.rho, eta=self.eta,
                                    use_acceleration=self.acceleration, restart_tolerance=self.restart,
                                    warmstart_scale=1.0)
        warm = bool(np.any(start))
        made = _TimedPADMM(model=given.model, config=[config], use_acceleration=self.acceleration,
                           warmstart=PADMMWarmStartMode.INTERNAL if warm else PADMMWarmStartMode.NONE)
        made.deadline = begin + time_limit
        if warm:
            impulse, velocity = given.guess(start)
            made.data.solution.lambdas.assign(impulse)
            made.data.solution.v_plus.assign(velocity)
            made.warmstart(given.dual, given.model, None)
        else:
            made.coldstart()
        made.solve(given.dual)
        status = made.data.status.numpy()[0]
        given.fill()
        return _reported(status, given.answer(made.data.solution.lambdas), int(status["iterations"]), max_iterations,
                         float(max(status["r_p"], status["r_d"], status["r_c"])))


class _OrderedDVI(DVISolver):  # type: ignore[misc]
    """Newton colours inequalities by the bodies that they share, and a sweep updates those of one colour at once.
    Without bodies each has a colour of its own: Gauss–Seidel in the problem's order."""

    def _prepare_inequality_coloring(self, problem: Any) -> None:
        count = self._size.sum_of_max_inequalities
        state = self._data.state
        state.inequality_num_colors.fill_(count)
        state.inequality_ids_by_color.assign(np.arange(max(count, 1), dtype=np.int32))
        state.inequality_color_starts.assign(np.arange(max(count + 1, 1), dtype=np.int32))


@solver("KAMINO-DVI", name="Kamino's DVI", **_described,
        summary="Kamino's DVI: bilateral rows solved at once, projected Gauss–Seidel or APGD on the rest, float32; "
        "compare iterations, not CPU time")
class Dvi:
    """Options are those of Newton's DVISolverConfig. On a CPU its PGS has no stopping test: it does all sweeps of its
    budget and judges the last. Here it is called with that budget again and again, warm from its own answer as from
    step to step in Newton, until it says converged. `iterations` counts sweeps as Newton does. Without bilateral rows
    it does 1.5 times as many, two thirds of them on normals alone."""

    unilateral = option("pgs", choices=("pgs", "apgd"), doc="on intervals, limits and contacts")
    blocks = option(24, 1, 100000, "max_alternating_iterations of a call")
    sweeps = option(2, 1, 1000, "inequality_sweeps_per_iteration")
    schur = option("auto", choices=("auto", "on", "off"),
                   doc="eliminate bilateral rows; auto: where there are intervals")
    omega = option(1.0, 1e-3, 2.0, "relaxation of PGS")
    regularization = option(1e-6, 1e-12, 1.0, "added to the diagonal in PGS, whose fixed points stay the same")
    corrections = option(20, 1, 10000, "APGD: De Saxcé corrections of a call; Newton's default is 1")

    def prepare(self, problem: Problem) -> None:
        self._given = _Given(problem, False) if problem.rows else None

    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array,
              time_limit: float) -> Tuple[Array, Dict[str, Any]]:
        begin, given = time.perf_counter(), self._given
        if given is None:
            return np.zeros(0), {"status": "converged", "iterations": 0}
        joints, boxes, limits, contacts = given._counts
        blocks = max(1, min(self.blocks, max_iterations // self.sweeps))
        config = DVISolver.Config(
            unilateral_solver=self.unilateral, tolerance=tolerance, regularization=self.regularization,
            omega=self.omega, max_alternating_iterations=blocks, inequality_sweeps_per_iteration=self.sweeps,
            use_schur_complement=boxes > 0 if self.schur == "auto" else self.schur == "on")
        config.apgd.tolerance, config.apgd.max_nonlinear_corrections = tolerance, self.corrections
        none_listed = SimpleNamespace(model_max_limits_host=0, model_max_contacts_host=0)
        made = _OrderedDVI(model=given.model, limits=none_listed, contacts=none_listed, config=[config],
                           warmstart=WarmStartMode.INTERNAL)
        made.coldstart()
        if np.any(start):
            impulse, velocity = given.guess(start)
            made.data.solution.lambdas.assign(impulse)
            made.data.solution.v_plus.assign(velocity)
        iterations, calls = 0, 0
        while True:
            if calls or np.any(start):
                made.warmstart(given.dual, given.model, None)
            made.solve(given.dual)
            status = made.data.status.numpy()[0]
            iterations, calls = iterations + max(int(status["iterations"]), 1), calls + 1
            direct = boxes + limits + contacts == 0
            if (status["converged"] or direct or iterations >= max_iterations or not np.isfinite(status["r_d"])
                    or time.perf_counter() > begin + time_limit):
                break
        residual = float(max(status["r_p"], status["r_d"], status["r_c"], status["r_b"]))
        r, said = _reported(status, given.answer(made.data.solution.lambdas), iterations, max_iterations, residual)
        if direct and said["status"] == "time_limit":
            said["status"] = "stalled"
        if calls > 1:
            said["message"] = f"{calls} calls"
        return r, said


def _compile() -> None:
    """Kernels of all sizes of P-ADMM with its default options, and of both DVIs."""
    def tiny(rows: int, kinds: Tuple[int, int, int, int]) -> Any:
        joints, boxes, limits, contacts = kinds
        bounds = [(-np.inf, np.inf)] * joints + [(0.0, np.inf)] * limits + [(-1.0, 1.0)] * boxes
        matrix = SimpleNamespace(toarray=lambda: np.eye(rows))
        low, high = (np.array([bound[k] for bound in bounds] + [np.nan] * 3 * contacts) for k in (0, 1))
        return SimpleNamespace(rows=rows, contacts=contacts, dimension=3, blocks=SimpleNamespace(lower=low, upper=high),
                               G=matrix, R=np.zeros(rows), g=np.full(rows, -1.0), mu=np.full(contacts, 0.5))

    rows = 2
    while rows <= _largest_block:
        _once(Padmm, tiny(rows, (rows, 0, 0, 0)))
        rows *= 2
    mixed = tiny(6, (1, 1, 1, 1))
    _once(Padmm, mixed)
    for unilateral in ("pgs", "apgd"):
        for kinds in ((1, 1, 1, 1), (1, 0, 0, 1), (0, 0, 0, 1)):
            _once(Dvi, tiny(3 * kinds[3] + sum(kinds[:3]), kinds), unilateral=unilateral)


def _once(marked: Type[Any], problem: Any, **options: Any) -> None:
    """From nothing, and from a guess."""
    made = marked(**options)
    made.prepare(problem)
    for start in (0.0, 0.1):
        made.solve(problem, 1e-4, 50, np.full(problem.rows, start), 10.0)


_compile()
wp.config.log_level = _level
