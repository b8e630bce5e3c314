"""Simulations with any solver in their loop (docs/simulation.md)."""

import json
import re
from math import inf
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import _core
from ._answers import Judgement, judge
from ._blocks import Array
from ._problems import Problem
from ._solver import run
from .peers import PEERS, load as load_peer

_Call = Callable[["_core.Core", Array, float, int], Tuple[Array, Dict[str, Any]]]


@dataclass(frozen=True, repr=False)
class Step:
    """A time step: its problem, the impulses that the loop went on with, and where they lead."""

    step: int  # 1, 2, …
    time: float  # at its end [s]
    position: Array  # q at its end
    velocity: Array  # v at its end [m/s, rad/s]
    problem: Problem  # its `guess`: the last impulses of the same contacts
    impulse: Array  # of the problem's rows [N s]
    solved: bool  # the residual is within the tolerance; with stop_by="solver": the solver converged
    status: str  # the solver's
    message: str
    fallback: str  # unused, frictionless or failed, as in trajectory.csv
    residual: float  # natural_map_scaled of the impulse
    iterations: int
    tolerance: float

    @cached_property
    def answer(self) -> Judgement:
        """The impulse with all of its residuals and with what its contacts do."""
        return judge(self.problem, self.impulse, self.tolerance)

    def __repr__(self) -> str:
        return (f"<conebench.Step {self.step} at {self.time:g} s: {self.problem.contacts} contacts, {self.problem.rows} "
                f"rows, {'solved' if self.solved else 'not solved'}>")


class Simulation(Iterator[Step]):
    """Steps one after the other, as simulate() makes them."""

    def __init__(self, core: "_core.Loop", steps: Optional[int]) -> None:
        self._core = core
        self._left = core.steps if steps is None else steps

    def __next__(self) -> Step:
        if self._left <= 0:
            raise StopIteration
        self._left -= 1
        fields = self._core.step()
        fields["problem"], fields["tolerance"] = Problem(fields["problem"]), self._core.tolerance
        return Step(**fields)

    def push(self, body: str, force: Sequence[float], torque: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """From the next step on, a force at the body's centre of mass [N] and a torque [N m], along the world's axes; in
        place of the last ones. Raises Error for a body that the model does not have."""
        self._core.push(body, force, torque)

    @property
    def contacts(self) -> List[Dict[str, Any]]:
        """Of the last step, at its start: `bodies` (names), `point` [m], `frame` (t1, t2, n; n from the first body to the
        second), `gap` [m], `row`: its first in the problem, and how many `rows` it has, the normal's last."""
        return self._core.contacts()

    @property
    def time_step(self) -> float:
        """Of each step [s]."""
        return self._core.time_step

    @property
    def notes(self) -> List[str]:
        """What is left out of the model and what went wrong so far, a line each."""
        return self._core.notes


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return repr(float(value)) if isinstance(value, float) else str(value)


def _own(solver: Any) -> Tuple[str, _Call]:
    """What a solver of one's own takes, as JSON, and the function that runs it."""
    made = solver() if isinstance(solver, type) else solver
    if not hasattr(made, "solve"):
        if not callable(made):
            raise _core.Error(f"solver: {solver!r} is neither an id nor a class, object or function that solves")
        made = _Function(made)
    name = re.sub(r"[^A-Za-z0-9._-]", "", getattr(solver, "__name__", type(solver).__name__))
    description = getattr(made, "conebench", {"id": name or "OWN", "name": name or "OWN", "intervals": True,
                                              "friction_cones": True, "rolling": True, "protocol": 2})

    def call(core: "_core.Core", start: Array, tolerance: float, max_iterations: int) -> Tuple[Array, Dict[str, Any]]:
        r, reported, _ = run(description["id"], made, Problem(core), tolerance, max_iterations, start, inf, None)
        return r, reported

    return json.dumps(description), call


class _Function:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.solve = function


def simulate(scene: Union[str, "PathLike[str]"], solver: Any = None, *, steps: Optional[int] = None,
             time_step: Optional[float] = None, seed: int = 1, options: Optional[Dict[str, Any]] = None,
             **more: Any) -> Simulation:
    """Steps a scene (`conebench list scenes`) or the model of an MJCF or URDF file through time in this process.

    `solver`: an id of `conebench list solvers`, a class that @solver marks, an object with its solve(), or a function
    solve(problem, tolerance, max_iterations, start) that gives (r, {"status": …}); None: the scene's own. A class is
    made once; `start` is the last impulses of the same contacts. Where the judge decides (not with stop_by="solver"), it
    is called with a tolerance ten times tighter until that accepts. `steps`: None for the scene's number; `time_step`:
    [s], None for the model's. `options`, `more`: others of the scene and its loop (docs/scenes.md), as speed=2,
    tolerance=1e-6 or fallback="stop".

    Raises Error for an unknown scene, solver or option, and while it runs where the simulation blows up, the solver does
    not take a problem, or, with fallback="stop", after a step that is not solved. What a solver of one's own raises
    comes out as it is."""
    given = {**(options or {}), **more}
    if time_step is not None:
        given["time_step"] = time_step
    own = None
    if isinstance(solver, str) and solver in PEERS:
        solver = load_peer(solver)
    if isinstance(solver, str):
        given["solver"] = solver
    elif solver is not None:
        own = _own(solver)
    texts = [f"{name}={_text(value)}" for name, value in given.items()]
    return Simulation(_core.simulation(fspath(scene), texts, seed, own), steps)
