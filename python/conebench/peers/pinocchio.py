"""Pinocchio's constraint solvers (`pip install pin`, BSD-2-Clause), on problems that come without a robot.

Pinocchio asks a constraint's model for its set alone, so that models of a chain of pins stand for a problem's rows:

| rows | model | set |
| --- | --- | --- |
| joints, three at a time | PointAnchor | FullSpaceCone |
| limits, intervals without an end | JointLimit | NonNegativeOrthantCone |
| intervals | JointFriction | BoxSet |
| contacts (t1, t2, n) | PointContact | CoulombFrictionCone |

Rows that fill the last three joint rows up have 1 on the diagonal and couple with nothing. An interval of one infinite
end is written as a limit, since Pinocchio's complementarity of a box, (λ − l) σ, is infinite there. Other intervals are
moved to hold 0: ADMM's first test takes its start, 0, for a point of every set.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

from .. import _core
from .._blocks import Array, Integers
from .._problems import Problem
from .._solver import option, solver

try:
    import pinocchio as pin
except ImportError:
    raise _core.Error("PINOCCHIO-ADMM, PINOCCHIO-PGS: need pin: pip install 'conebench[pinocchio]'") from None

if not hasattr(pin, "ADMMConstraintSolver"):
    raise _core.Error(f"PINOCCHIO-ADMM, PINOCCHIO-PGS: need pin 4.1 or newer, this is {pin.__version__}: "
                      "pip install -U 'conebench[pinocchio]'")

_released = {"4.1.0": {"released": "2026-07-08"}}  # of the files in PyPI's wheel
_described: Dict[str, Any] = {
    "peer": {"version": pin.__version__, **_released.get(pin.__version__, {})},
    "citation": "Pinocchio, github.com/stack-of-tasks/pinocchio; paper Carpentier24",
    "formulation": "NCP", "two_dimensional": False, "rolling": False, "intervals": True, "needs_symmetry": True,
    "scale_invariant": True}


class _Posed:
    """A problem in Pinocchio's rows and sets: λ = offset + sign · unit · x[place], without units if `scaled`."""

    def __init__(self, problem: Problem, scaled: bool) -> None:
        contacts = problem.contacts
        first = problem.rows - 3 * contacts
        if contacts and problem.dimension != 3:
            sizes = problem.dimension or "several sizes"
            raise _core.Error(f"Pinocchio: its cones have 3 rows; these contacts have {sizes}")
        lower, upper = problem.blocks.lower[:first], problem.blocks.upper[:first]
        below, above = np.isfinite(lower), np.isfinite(upper)
        kinds = [np.flatnonzero(chosen) for chosen in (~below & ~above, below ^ above, below & above)]
        joints, limits, boxes = map(len, kinds)
        filled = joints + -joints % 3
        self.place: Integers = np.arange(problem.rows) + filled - joints
        self.place[np.concatenate(kinds)] = np.r_[0:joints, filled : filled + limits + boxes]
        self.size = problem.rows + filled - joints

        self.sign, self.offset = np.ones(problem.rows), np.zeros(problem.rows)
        half, whole = kinds[1], kinds[2]
        self.offset[whole] = np.clip(0.0, lower[whole], upper[whole])
        self.sign[half] = np.where(below[half], 1.0, -1.0)
        self.offset[half] = np.where(below[half], lower[half], upper[half])

        matrix = problem.G.tocoo()
        diagonal = problem.G.diagonal() + problem.R
        free = self.sign * (problem.g + problem.G @ self.offset + problem.R * self.offset)
        mass = diagonal[diagonal > 0].mean() if scaled and (diagonal > 0).any() else 1.0
        speed = (np.abs(problem.g).max(initial=0.0) or 1.0) if scaled else 1.0
        self.unit = speed / mass
        self._entries = (self.sign[matrix.row] * self.sign[matrix.col] * matrix.data / mass, self.place[matrix.row],
                         self.place[matrix.col])
        self._free, self._compliance = np.zeros(self.size), np.zeros(self.size)
        self._free[self.place] = free / speed
        self._compliance[self.place] = problem.R / mass
        self._fill = np.arange(joints, filled)
        self._models, self._datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        low, high = ((end - self.offset[:first])[whole] / self.unit for end in (lower, upper))
        self._add(filled, limits, low, high, problem.mu)

    def _add(self, joints: int, limits: int, lower: Array, upper: Array, mu: Array) -> None:
        chain, parent = pin.Model(), 0
        for k in range(max(limits, len(lower), 1)):
            parent = chain.addJoint(parent, pin.JointModelRX(), pin.SE3.Identity(), f"pin{k}")
        listed: List[Any] = [pin.PointAnchorConstraintModel(chain, 1) for _ in range(joints // 3)]
        if limits:
            listed.append(pin.JointLimitConstraintModel(chain, _joints(limits), np.zeros(chain.nq),
                                                        np.full(chain.nq, np.inf), np.full(chain.nq, np.inf)))
        if len(lower):
            friction = pin.JointFrictionConstraintModel(chain, _joints(len(lower)))
            friction.setFrictionLowerLimit(lower)
            friction.setFrictionUpperLimit(upper)
            listed.append(friction)
        for coefficient in mu:
            contact = pin.PointContactConstraintModel(chain, 1)
            contact.setFriction(float(coefficient))
            listed.append(contact)
        for one in listed:
            self._models.append(pin.ConstraintModel(one))
            self._datas.append(self._models[-1].createData())

    def operator(self, sparse: bool) -> Any:
        """A new one, since a solver leaves its damping in the one that it was given."""
        import scipy.sparse

        values, rows, columns = self._entries
        matrix = scipy.sparse.coo_matrix((np.r_[values, np.ones(len(self._fill))],
                                          (np.r_[rows, self._fill], np.r_[columns, self._fill])),
                                         shape=(self.size, self.size)).tocsc()
        matrix = (matrix + matrix.T) / 2
        made = (pin.DelassusOperatorSparse(matrix.tocsc()) if sparse
                else pin.DelassusOperatorDense(np.asfortranarray(matrix.toarray())))
        made.updateCompliance(self._compliance)
        return made

    def solve(self, name: str, settings: Any, sparse: bool, max_iterations: int, start: Array
              ) -> Tuple[Array, Dict[str, Any], Any]:
        """λ, what to say of it, and Pinocchio's own result."""
        result = getattr(pin, name + "SolverResult")()
        if not self.size:
            return np.zeros(0), {"status": "converged", "iterations": 0}, result
        if np.any(start):
            guess = np.zeros(self.size)
            guess[self.place] = self.sign * (start - self.offset) / self.unit
            result.setConstraintImpulseGuess(guess)
        settings.max_iterations = max(max_iterations, 1) - 1  # it does one more
        matrix, iterate = self.operator(sparse), getattr(pin, name + "ConstraintSolver")()
        given = matrix, self._free, self._models, self._datas, settings, result
        try:
            claims = _with_stack(2**20 + 8 * self.size**2, lambda: bool(iterate.solve(*given)))
        except (RuntimeError, ValueError) as error:
            return start, {"status": "breakdown", "message": str(error).strip().splitlines()[-1]}, result
        x = np.array(result.retrieveConstraintImpulses())
        r = self.offset + self.sign * self.unit * x[self.place]
        reported: Dict[str, Any] = {
            "status": "converged" if claims else "max_iterations", "iterations": result.iterations + claims,
            "own_residual": max(result.primal_feasibility, result.dual_feasibility, abs(result.complementarity))}
        if not np.isfinite(x).all():
            reported.update(status="breakdown", message="Pinocchio went on with impulses that are not finite")
        return r, reported, result


def _with_stack(size: int, call: Callable[[], bool]) -> bool:
    """Pinocchio's PGS copies the matrix to the stack: 1,000 rows fill the usual 8 MB."""
    if size < 2**22:
        return call()
    before = threading.stack_size(-(-size // 2**12) * 2**12)
    try:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(call).result()
    finally:
        threading.stack_size(before)


def _joints(count: int) -> Any:
    chosen = pin.StdVec_Index()
    chosen.extend(range(1, count + 1))
    return chosen


class _Base:
    scaled = True
    _posed: _Posed

    def prepare(self, problem: Problem) -> None:
        self._posed = _Posed(problem, self.scaled)

    @staticmethod
    def _tighten(settings: Any, tolerance: float) -> None:
        settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = tolerance
        settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0


_scaled_doc = "G over its mean diagonal, g over its largest entry: tests, penalty and proximal term are absolute"


@solver("PINOCCHIO-ADMM", name="Pinocchio's ADMM", joints=True, limits=True, compliance=True,
        summary="ADMM with a choice of penalty's rules and Anderson acceleration; symmetric G alone.", **_described)
class Admm(_Base):
    rule = option("osqp", choices=("osqp", "spectral", "linear", "constant"), doc="how the penalty moves")
    anderson = option(0, 0, 50, "iterates that Anderson acceleration combines; 0: none")
    proximal = option(1e-6, 1e-12, 1.0, "mu_prox")
    tau = option(0.5, 1e-3, 1.0, "scales the penalty; paper Carpentier24 has none (1)")
    penalty = option(0.0, 0.0, 1e6, "at the start; 0: sqrt(L m) (L/m)^power")
    power = option(0.2, 0.0, 1.0, "of the penalty at the start")
    factor = option(0.05, 1e-3, 1.0, "by which the power moves (spectral)")
    linear_factor = option(2.0, 1.001, 100.0, "by which the penalty moves (linear)")
    ratio = option(10.0, 1.0, 1e3, "of the residuals, above which it moves")
    delassus = option("sparse", choices=("sparse", "dense"), doc="which of Pinocchio's operators holds G")
    scaled = option(True, doc=_scaled_doc)

    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array
              ) -> Tuple[Array, Dict[str, Any]]:
        settings = pin.ADMMSolverSettings()
        settings.admm_update_rule = getattr(pin.ADMMUpdateRule, self.rule.upper())
        settings.anderson_capacity = self.anderson
        settings.mu_prox, settings.tau = self.proximal, self.tau
        if self.penalty > 0:
            settings.rho_init = self.penalty
        settings.spectral_rho_power_init, settings.spectral_rho_power_factor = self.power, self.factor
        settings.linear_update_rule_factor, settings.ratio_primal_dual = self.linear_factor, self.ratio
        self._tighten(settings, tolerance)
        r, reported, result = self._posed.solve("ADMM", settings, self.delassus == "sparse", max_iterations, start)
        factorizations = result.delassus_decomposition_update_count
        if reported["status"] == "converged" and factorizations == 1:
            reported["iterations"] = 0  # the start passed
        return r, {**reported, "factorizations": factorizations}


@solver("PINOCCHIO-PGS", name="Pinocchio's projected Gauss-Seidel", joints=True, limits=True, compliance=True,
        summary="Projected Gauss-Seidel. Its test looks at each contact just after its own update and claims too much.",
        **_described)
class Pgs(_Base):
    relaxation = option(1.0, 0.1, 1.9, "over_relaxation")
    scaled = option(True, doc=_scaled_doc)

    def solve(self, problem: Problem, tolerance: float, max_iterations: int, start: Array
              ) -> Tuple[Array, Dict[str, Any]]:
        settings = pin.PGSSolverSettings()
        settings.over_relaxation = self.relaxation
        self._tighten(settings, tolerance)
        r, reported, _ = self._posed.solve("PGS", settings, False, max_iterations, start)
        return r, reported
