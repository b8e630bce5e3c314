"""Solving and judging."""

from dataclasses import dataclass, fields
from typing import Any, Dict, Optional, Type, TypeVar, Union

from . import _core
from ._blocks import Array
from ._problems import Problem, load
from ._solver import is_solver, run_here
from .peers import PEERS, load as load_peer


@dataclass(frozen=True)
class Judgement:
    """What the judge says of r, which has the problem's rows. `residuals`: by name; None: can't be computed for this
    problem. Counts of contacts that are open, stick and slip, and of what else there is."""

    r: Array
    solved: bool
    tolerance: float
    verdict: str
    verdict_value: Optional[float]
    residuals: Dict[str, Optional[float]]
    open: int
    stick: int
    slip: int
    moment_stick: int  # groups of torsion or rolling apart from sliding
    moment_slip: int
    inside: int  # intervals
    at_lower: int
    at_upper: int


@dataclass(frozen=True)
class Answer(Judgement):
    """And what the solver says. Counters of -1: not counted. Times in seconds, by this package's clock; own_setup_s and
    own_solve_s as a class with @solver tells them, None where it does not."""

    status: str
    reason: str
    claimed: bool
    iterations: int
    factorizations: int
    operator_products: int
    own_residual: Optional[float]
    setup_s: float
    solve_s: float
    own_setup_s: Optional[float]
    own_solve_s: Optional[float]
    judge_s: float

    def __repr__(self) -> str:
        verdict = "not known" if self.verdict_value is None else f"{self.verdict_value:.2g}"
        return (f"<conebench.Answer: {'solved' if self.solved else 'not solved'} at {self.tolerance:g}, {self.status} after "
                f"{self.iterations} iterations, {self.verdict} {verdict}>")


Made = TypeVar("Made", bound=Judgement)


def _made(kind: Type[Made], record: Dict[str, Any]) -> Made:
    return kind(**{field.name: record[field.name] for field in fields(kind)})


def _problem(given: Union[Problem, str]) -> Problem:
    return given if isinstance(given, Problem) else load(given)


def judge(problem: Union[Problem, str], r: Any, tolerance: float = 1e-6,
          verdict: str = "natural_map_scaled") -> Judgement:
    """Residuals of an answer from anywhere, from the problem's data alone. r: in the order of the problem's rows."""
    given = _problem(problem)
    record = _core.judge(given._core, given._own("r", r), tolerance, verdict)
    record["r"] = given._given(record["r"])
    return _made(Judgement, record)


def solve(problem: Union[Problem, str], solver: Union[str, type], *, tolerance: float = 1e-6,
          max_iterations: int = 20000, time_limit: float = 10.0, stop_by: str = "",
          verdict: str = "natural_map_scaled", start: Any = None, **options: Any) -> Answer:
    """Solves in this process and judges. `solver`: an id of `conebench list solvers`, or a class that @solver marks; that,
    and a peer in Python, stops by its own test whatever `stop_by` says. By default that is "judge", "judge_timed" for
    another peer. What does not converge is an answer, no exception."""
    given = _problem(problem)
    own = None if start is None else given._own("start", start)
    if isinstance(solver, str) and solver in PEERS:
        solver = load_peer(solver)
    if is_solver(solver):
        reported = run_here(given.ordered, solver, judge, tolerance, max_iterations, time_limit, verdict, own, options)
        reported["r"] = given._given(reported["r"])
        return Answer(**reported)
    if not isinstance(solver, str):
        raise _core.Error(f"solver: {solver!r} is neither an id nor a class with @conebench.solver")
    record = _core.solve(given._core, solver, tolerance, max_iterations, time_limit, stop_by, verdict, own, options)
    record["r"] = given._given(record["r"])
    record["setup_s"], record["solve_s"] = record["setup_median_s"], record["solve_median_s"]
    if not record["own_residual_known"]:
        record["own_residual"] = None
    return _made(Answer, record)
