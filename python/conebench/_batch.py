"""Many problems at once."""

from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Union

import numpy as np

from . import _core
from ._blocks import Array
from ._problems import Problem, load


@dataclass(frozen=True)
class BatchAnswers:
    """One entry a problem. r: impulses [N s] in that problem's rows. solve_s: without the checks of the verdict; NaN where a
    plug-in took all problems in one call. wall_s: of the whole call, checks included [s]."""

    r: List[Array]
    solved: Array
    verdict_value: Array
    status: List[str]
    reason: List[str]
    iterations: Array
    setup_s: Array
    solve_s: Array
    wall_s: float

    def __repr__(self) -> str:
        return f"<BatchAnswers: {int(np.sum(self.solved))} of {len(self.r)} solved, {self.wall_s:.3g} s>"


class Batch:
    """Problems of any sizes, set up by one solver's configuration. An answer does not depend on `threads`, nor on the
    other problems."""

    def __init__(self, problems: Sequence[Union[Problem, str]], solver: str, *, tolerance: float = 1e-6,
                 max_iterations: int = 20000, time_limit: float = 10.0, stop_by: str = "",
                 verdict: str = "natural_map_scaled", threads: int = 1, **options: Any) -> None:
        """`solver`: an id of `conebench list solvers` that needs no process of its own. time_limit: of each problem [s].
        Other arguments as in `solve`."""
        self.problems = [given if isinstance(given, Problem) else load(given) for given in problems]
        self._ends = np.cumsum([given._core.rows for given in self.problems], dtype=int)
        self._core = _core.Batch([given._core for given in self.problems], solver, tolerance, max_iterations, time_limit,
                                 stop_by, verdict, threads, options)

    def solve(self, starts: Optional[Sequence[Any]] = None) -> BatchAnswers:
        """May be called again. starts: an impulse for each problem, in its rows; None: zeros."""
        if starts is None:
            begin = np.zeros(self._ends[-1] if self.problems else 0)
        elif len(starts) != len(self.problems):
            raise _core.Error(f"starts: are {len(starts)}, for {len(self.problems)} problems")
        else:
            begin = np.concatenate([given._own(f"starts[{k}]", r)
                                    for k, (given, r) in enumerate(zip(self.problems, starts))] or [np.zeros(0)])
        found = self._core.solve(begin)
        answers = np.split(found["r"], self._ends[:-1]) if self.problems else []
        for name in ("solved", "verdict_value", "iterations", "setup_s", "solve_s"):
            found[name] = np.array(found[name])
        found["r"] = [given._given(r) for given, r in zip(self.problems, answers)]
        return BatchAnswers(**found)


def solve_many(problems: Sequence[Union[Problem, str]], solver: str, *, starts: Optional[Sequence[Any]] = None,
               **arguments: Any) -> BatchAnswers:
    """Batch(problems, solver, **arguments).solve(starts)."""
    return Batch(problems, solver, **arguments).solve(starts)
