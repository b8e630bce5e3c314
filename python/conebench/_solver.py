"""Solvers written in Python, for `solve` here and for sweeps (docs/program_protocol.md)."""

import inspect
import json
import os
import runpy
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, TextIO, Tuple

import numpy as np

from . import _core
from ._blocks import Array
from ._problems import Problem, load_ordered

_types = {bool: "flag", int: "integer", float: "real", str: "text"}
_classes: List[type] = []
_least_limit = 1e-3  # s, reported where nothing is left
_statuses = ("converged", "max_iterations", "time_limit", "stalled", "diverged", "breakdown")


@dataclass(frozen=True)
class Option:
    """An attribute of a solver's class that users may set."""

    default: Any
    minimum: Optional[float] = None
    maximum: Optional[float] = None
    doc: str = ""
    unit: str = ""
    choices: Sequence[str] = ()

    def described(self, name: str) -> Dict[str, Any]:
        reported: Dict[str, Any] = {"name": name, "type": _types[type(self.default)], "default": self.default,
                                "doc": self.doc or name.replace("_", " ")}
        for key, value in (("minimum", self.minimum), ("maximum", self.maximum), ("unit", self.unit),
                           ("choices", list(self.choices))):
            if value not in (None, "", []):
                reported[key] = value
        return reported


def option(default: Any, minimum: Optional[float] = None, maximum: Optional[float] = None, doc: str = "", *,
           unit: str = "", choices: Sequence[str] = ()) -> Any:
    """Declares an option: its default's type (bool, int, float, str) is the option's."""
    if type(default) not in _types:
        raise TypeError(f"option: a default is a bool, int, float or str, not {default!r}")
    return Option(default, minimum, maximum, doc, unit, tuple(choices))


def solver(id: str, **description: Any) -> Callable[[type], type]:
    """Makes a class a solver. Its method solve(problem, tolerance, max_iterations, start) gives r and a dictionary with
    `status` and what else docs/program_protocol.md names (iterations, …); it may also take `time_limit` [s], which
    prepare() has left, and `memory_limit` [MB, None: no limit]. prepare(problem), where there is one, is timed as
    set-up. Rows stand in Conebench's order, whatever order they were given in; problem.blocks describes them.
    `description`: what that page lists for *describe*; intervals=True, friction_cones=True: it takes these, too."""

    def mark(marked: type) -> type:
        options = {name: value for base in reversed(marked.__mro__) for name, value in vars(base).items()
                   if isinstance(value, Option)}

        def construct(self: Any, **values: Any) -> None:
            for name in values:
                if name not in options:
                    raise _core.Error(f"{id}: has no option {name}; it has {', '.join(options) or 'none'}")
            for name, declared in options.items():
                setattr(self, name, _checked(id, name, declared, values.get(name, declared.default)))

        marked.__init__ = construct  # type: ignore[misc]
        marked.conebench = {  # type: ignore[attr-defined]
            "id": id, "name": id, "serve": True, "protocol": 2, **description,
            "options": [declared.described(name) for name, declared in options.items()]}
        _classes.append(marked)
        return marked

    return mark


def _checked(id: str, name: str, declared: Option, value: Any) -> Any:
    kind = type(declared.default)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise _core.Error(f"{id}: {name} = {value!r} must be of type {_types[kind]}")
    if (declared.minimum is not None and value < declared.minimum) or (
            declared.maximum is not None and value > declared.maximum):
        raise _core.Error(f"{id}: {name} = {value} must be from {declared.minimum} to {declared.maximum}")
    if declared.choices and value not in declared.choices:
        raise _core.Error(f"{id}: {name} = {value} must be one of {', '.join(declared.choices)}")
    return value


def is_solver(given: Any) -> bool:
    return isinstance(given, type) and hasattr(given, "conebench")


def run(id: str, made: Any, problem: Problem, tolerance: float, max_iterations: int, start: Any, time_limit: float,
        memory_limit: Optional[int]) -> Tuple[Array, Dict[str, Any], Dict[str, float]]:
    """r, what the object says, and the clock's setup_s and solve_s."""
    wanted = inspect.signature(made.solve).parameters
    begin = time.perf_counter()
    if hasattr(made, "prepare"):
        made.prepare(problem)
    prepared = time.perf_counter()
    limits = {"time_limit": max(time_limit - (prepared - begin), _least_limit), "memory_limit": memory_limit}
    given = made.solve(problem, tolerance, max_iterations, start,
                       **{name: limit for name, limit in limits.items() if name in wanted})
    times = {"setup_s": prepared - begin, "solve_s": time.perf_counter() - prepared}
    return (*_answered(id, problem, given), times)


def _answered(id: str, problem: Problem, given: Any) -> Tuple[Array, Dict[str, Any]]:
    """r and what the object says, with a message where r has an entry that is not finite."""
    if not (isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], dict)):
        raise _core.Error(f'{id}: solve must return (r, {{"status": …}}), not {type(given).__name__}')
    r, reported = np.asarray(given[0], dtype=float), {"status": "converged", **given[1]}
    if r.shape != (problem.rows,):
        raise _core.Error(f"{id}: solve returned r of shape {r.shape}, not ({problem.rows},)")
    if reported["status"] not in _statuses:
        raise _core.Error(f"{id}: the status {reported['status']!r} must be one of {', '.join(_statuses)}")
    wrong = np.flatnonzero(~np.isfinite(r))
    if wrong.size and not reported.get("message"):
        reported["message"] = f"r[{wrong[0]}] is {r[wrong[0]]}, counted from 0"
    return r, reported


def _check_taken(description: Dict[str, Any], problem: Problem) -> None:
    rolls = problem.mu_rolling.size > 0 and description.get("rolling", False)
    for flag, needed, what in (
            ("intervals", problem.intervals > 0, "no rows with bounds"),
            ("friction_cones", not problem.blocks.plain and not rolls,
             "Coulomb's isotropic friction alone, on contacts of one size")):
        if needed and not description.get(flag, False):
            raise _core.Error(f"{description['id']}: takes {what}; where it takes more, declare {flag}=True in "
                              "@conebench.solver")


def run_here(problem: Problem, marked: Any, judge: Any, tolerance: float, max_iterations: int, time_limit: float,
             verdict: str, start: Any, options: Dict[str, Any]) -> Dict[str, Any]:
    """The fields of an Answer."""
    _check_taken(marked.conebench, problem)
    first = np.zeros(problem.rows) if start is None else np.asarray(start, dtype=float)
    id = marked.conebench["id"]
    r, reported, times = run(id, marked(**options), problem, tolerance, max_iterations, first, time_limit, None)
    begin = time.perf_counter()
    judged = judge(problem, r, tolerance, verdict)
    status, reason = reported["status"], reported.get("message", "")
    passed = times["setup_s"] + times["solve_s"]
    if passed > time_limit:
        if status != "time_limit":
            reason = f"came back after {passed:.3g} s, {time_limit:g} s allowed"
        if judged.solved:
            reason = "passes, but came too late" + (f"; {reason}" if reason else "")
        status = "time_limit"
    return {**vars(judged), **times, "solved": judged.solved and passed <= time_limit,
            "status": status, "reason": reason, "claimed": status == "converged",
            "iterations": reported.get("iterations", 0), "factorizations": reported.get("factorizations", -1),
            "operator_products": reported.get("operator_products", -1), "own_residual": reported.get("own_residual"),
            "own_setup_s": reported.get("setup_s"), "own_solve_s": reported.get("solve_s"),
            "judge_s": time.perf_counter() - begin}


def _plain(value: Any) -> Any:
    """A number of numpy's as json takes it."""
    return value.item()


class _Server:
    """Answers requests for one class; the last problem is kept, since a sweep asks for one problem again and again."""

    def __init__(self, marked: Any) -> None:
        self.marked = marked
        self.key: Any = None
        self.problem: Any = None

    def answer(self, request: Dict[str, Any]) -> Dict[str, Any]:
        if request["request"] == "describe":
            return dict(self.marked.conebench)
        begin = time.perf_counter()
        stat = os.stat(request["problem"])
        key = (request["problem"], stat.st_mtime_ns, stat.st_ino)
        if key != self.key:
            self.key, self.problem = key, load_ordered(request["problem"])
        start = self.problem.guess if request["start"] == "guess" else np.zeros(self.problem.rows)
        left = request["time_limit_s"] - (time.perf_counter() - begin)
        r, reported, times = run(self.marked.conebench["id"], self.marked(**request["options"]), self.problem,
                                 request["tolerance"], request["max_iterations"], start, left,
                                 request.get("memory_limit_mb"))
        np.save(request["answer"] + ".npy", self.problem._core.in_file_order(r))
        return {**times, **reported}


def _own_channel() -> Tuple[TextIO, TextIO]:
    """Requests and replies, which nobody else reads or writes from now on: what solvers and their libraries print goes
    to standard error, and their input is empty."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return requests, replies


def class_of_file(file: str, id: Optional[str]) -> Any:
    """Runs a file; its class that @solver marks, with this id where it has several."""
    runpy.run_path(file)
    found = [marked for marked in _classes if id in (None, marked.conebench["id"])]  # type: ignore[attr-defined]
    if len(found) != 1:
        raise _core.Error(f"{file}: has {len(found)} classes with @conebench.solver"
                          + (f" and the id {id}" if id else "; name one behind the file" if found else ""))
    return found[0]


def answer_requests(load: Callable[[], Any], source: str) -> None:
    """Does with the class that `load` gives what the request in the file `source` says, or with "-" those that come line
    by line."""
    requests, replies = _own_channel() if source == "-" else (None, None)
    import scipy.sparse  # noqa: F401, here and not in the times of a solver that looks at G

    server = _Server(load())
    if requests and replies:
        for line in requests:
            request = json.loads(line)
            print(json.dumps({**server.answer(request), "number": request["number"]}, default=_plain), file=replies,
                  flush=True)
        return
    with open(source, encoding="utf-8") as opened:
        request = json.load(opened)
    with open(request["reply"], "w", encoding="utf-8") as opened:
        json.dump(server.answer(request), opened, default=_plain)


def answer_or_exit(load: Callable[[], Any], source: str, file: str) -> None:
    """answer_requests(), which ends this program with one line where something is wrong in `file` or below."""
    try:
        answer_requests(load, source)
    except _core.Error as error:
        sys.exit(f"conebench: {error}")
    except SyntaxError as error:
        sys.exit(f"{type(error).__name__}: {error.msg} ({error.filename}:{error.lineno})")
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        location = ([one for one in frames if one.filename == file] or frames)[-1]
        sys.exit(f"{type(error).__name__}: {error} ({location.filename}:{location.lineno})")
