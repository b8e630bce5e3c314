"""A step of a simulation as data: arrays by the names of the sample format, version 4 (docs/sample_format.md), in
blocks of rows, the normal of each contact first. What is not known is absent."""

from typing import Any, Dict

import numpy as np

from . import _core
from ._problems import Problem, problem

Step = Dict[str, Any]
_table = ("block_rows", "lower", "upper", "cone", "mu", "groups", "shift")
_same = ("M", "J", "v_free", "R", "metric", "law", "velocity", "gap", "point", "frame", "identity", "bodies",
         "body_names", "time_step", "time", "step", "answers")
_names = (*_table, *_same, "G", "b", "name", "description")


def problem_of(step: Step) -> Problem:
    """Of a step by M, J and v_free, or by G, beside which b is the free velocity. Raises conebench.Error as problem()
    does, and for a name that the format lacks."""
    for name in step:
        if name not in _names:
            raise _core.Error(f"step: {name!r} is not one of {', '.join(_names)}")
    given: Dict[str, Any] = {name: step[name] for name in _same if name in step}
    if step.get("J") is None and step.get("G") is not None:
        given["g"] = np.zeros(int(np.ravel(step.get("block_rows", 0))[-1])) if step.get("b") is None else step["b"]
    else:
        given["b"] = step.get("b")
    return problem(step.get("G"), blocks={name: step[name] for name in _table if name in step}, normal="first",
                   names=step.get("name"), description=step.get("description", ""), **given)


def step_of(made: Problem) -> Step:
    """The step that problem_of() makes the same problem of. Matrices are (values, columns, row starts, shape)."""
    given = getattr(made, "_written", None)
    parts, known = (_ordered(made), made._known) if given is None else (given.parts, given.known)
    step = {name: parts[name] for name in (*_table, "M", "J", "v_free", "R", "G") if name in parts}
    if "J" not in parts:
        step["b"] = parts["g"]
    elif "b" in parts:
        step["b"] = parts["b"]
    step.update({"name" if name == "names" else name: value for name, value in known.items()})
    return step


def _ordered(made: Problem) -> Dict[str, Any]:
    """The parts of a problem in Conebench's order."""
    table = made.blocks
    order = table.order()
    parts: Dict[str, Any] = {name: getattr(table, name) for name in _table}
    for name in ("lower", "upper", "mu", "groups"):
        parts[name] = parts[name][order]

    def compressed(matrix: Any) -> Any:
        return matrix.data, matrix.indices, matrix.indptr, matrix.shape

    if made.J is None:
        parts.update(G=compressed(made.G[order][:, order]), g=made.g[order])
    else:
        parts.update(M=compressed(made.M), J=compressed(made.J[order]), v_free=made.v_free)
        bias = made.g - made.J @ made.v_free if made.b is None else made.b
        if made.b is not None or np.any(bias):
            parts["b"] = bias[order]
    if np.any(made.R):
        parts["R"] = made.R[order]
    return parts
