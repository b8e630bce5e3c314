"""The step that a simulator has just made, as a problem: its matrix, rows and bounds, and its own answer.

Each function takes its engine's objects and needs that engine's package, which is imported when it is called. A row that
can't be held is an Error that names it. docs/capture_ENGINE.md has an engine's conventions."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._problems import Problem

__all__ = ["drake", "mujoco", "newton", "pinocchio"]


def mujoco(model: Any, data: Any, *, pyramid: str = "edges") -> "Problem":
    """The step that mujoco.mj_step(model, data) has made, or that mj_forward has prepared. Rows are MuJoCo's, in its
    order; `answers` has its forces as impulses [N s]. pyramid, of models with pyramidal cones: "edges", MuJoCo's own
    rows, one for each edge, or "cone", the contact's rows n, t1, t2, …

    Raises Error without MuJoCo 3.3.6 or later, with RK4, and for what isn't in MuJoCo's rows (flex in its matrix)."""
    from .._step import problem_of
    from . import _mujoco

    return problem_of(_mujoco.step_of(model, data, pyramid=pyramid))


def pinocchio(*objects: Any, **options: Any) -> "Problem":
    """A step of Pinocchio 4; arguments: docs/capture_pinocchio.md."""
    from .._step import problem_of
    from . import _pinocchio

    return problem_of(_pinocchio.step_of(*objects, **options))


def newton(*objects: Any, **options: Any) -> "Problem":
    """A step of Newton's Kamino; arguments: docs/capture_newton.md."""
    from .._step import problem_of
    from . import _newton

    return problem_of(_newton.step_of(*objects, **options))


def drake(*objects: Any, **options: Any) -> "Problem":
    """A step of Drake; arguments: docs/capture_drake.md."""
    from .._step import problem_of
    from . import _drake

    return problem_of(_drake.step_of(*objects, **options))
