"""The process of an engine: it measures cells, a request a line on its standard input, and replies on its output."""

import ctypes
import importlib
import importlib.metadata
import importlib.util
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from ..engines import Cannot, Engine
from .catalogue import catalogue
from .judge import judge_film
from .laboratory import Film, Laboratory, NotFinite
from .results import Cell
from .scene import Box, Cylinder, HalfSpace, Hull, Part, Sphere, quaternion

max_points = 400  # of a curve
max_frames = 60  # of a film
# By id: module, extra that brings its package, and dates on which versions were published.
table: Dict[str, Dict[str, Any]] = json.loads((Path(__file__).parent.parent / "engines" / "engines.json").read_text())


def load_engine(name: str) -> Engine:
    """Of engines.json, or of a file of one's own. Raises ImportError for a package that is not installed, ValueError where
    the file holds no engine."""
    if name.endswith(".py"):
        spec = importlib.util.spec_from_file_location("own_engine", name)
        if spec is None or spec.loader is None or not os.path.isfile(name):
            raise ValueError(f"{name}: no such file")
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # as dataclasses look for it
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module("conebench.engines." + table[name]["module"])
    for made in vars(module).values():
        if isinstance(made, type) and made.__module__ == module.__name__ and hasattr(made, "id") and hasattr(
                made, "world") and (name.endswith(".py") or made.id == name):
            engine: Engine = made()
            return engine
    raise ValueError(f"{name}: no class with id, variants and world() (docs/phenomena.md)")


def describe(engine: Engine) -> Dict[str, Any]:
    about = engine.about()
    released = table.get(engine.id, {}).get("released", {}).get(about.get("version"))
    return {"id": engine.id, "package": engine.package, "about": {**about, **({"released": released} if released else {})},
            "variants": engine.variants}


def _part(part: Part) -> Dict[str, Any]:
    shape = part.shape
    kind, size = (("box", list(shape.half)) if isinstance(shape, Box) else
                  ("sphere", [shape.radius]) if isinstance(shape, Sphere) else
                  ("cylinder", [shape.radius, shape.half]) if isinstance(shape, Cylinder) else
                  ("hull", [value for point in shape.points for value in point]) if isinstance(shape, Hull) else
                  ("half-space", []))
    return {"shape": kind, "size": size, "position": list(part.position), "rotation": list(part.rotation)}


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def film_data(film: Film) -> Dict[str, Any]:
    """Shapes, and poses of some states, as the page draws them."""
    chosen = sorted({int(k) for k in np.linspace(0, len(film.states) - 1, min(len(film.states), max_frames))})
    fixed = {body.name: [*body.position, *body.rotation] for body in film.scene.bodies if body.fixed}
    poses = []
    for k in chosen:
        state = film.states[k]
        moving = {body.name: [*state.position[n], *quaternion(state.rotation[n])]
                  for n, body in enumerate(film.scene.moving)}
        poses.append([[round(float(value), 4) for value in {**fixed, **moving}[body.name]]
                      for body in film.scene.bodies])
    return {"bodies": [{"name": body.name, "fixed": body.fixed, "parts": [_part(part) for part in body.parts]}
                       for body in film.scene.bodies],
            "times": [_short(film.states[k].time) for k in chosen], "poses": poses}


def _curve(curve: Tuple[Any, Any]) -> List[List[float]]:
    x, y = (np.asarray(part, float) for part in curve)
    chosen = np.unique(np.linspace(0, len(x) - 1, min(len(x), max_points)).astype(int)) if len(x) else []
    return [[_short(value) for value in part[chosen]] for part in (x, y)]


def measure(engine: Engine, request: Mapping[str, Any]) -> Cell:
    phenomenon = catalogue[request["phenomenon"]]
    cell = Cell(phenomenon.id, request["case"], engine.id, request["variant"], request["time_step"], "failed")
    lab = Laboratory(engine, request["options"], cell.time_step, request["quick"])
    start = time.monotonic()
    try:
        measured = phenomenon.measure(lab, **phenomenon.cases[cell.case])
        cell.outcome = "measured"
        for name in ("value", "exact", "allowed", "scale", "error"):
            setattr(cell, name, float(getattr(measured, name)))
        cell.upper_bound, cell.right = measured.upper_bound, bool(measured.right)
        cell.facts = measured.facts
        cell.curves = {name: _curve(curve) for name, curve in measured.curves.items()}
    except Cannot as lacks:
        cell.outcome, cell.element, cell.message = "cannot", lacks.element, str(lacks)
    except NotFinite as end:
        cell.outcome, cell.message = "not finite", str(end)
    except Exception as error:  # of the engine, whatever it raises
        cell.message = f"{type(error).__name__}: {error}".split("\n")[0][:300]
    cell.seconds = time.monotonic() - start
    if lab.film is not None and cell.outcome in ("measured", "not finite"):
        cell.film = film_data(lab.film)
        if cell.outcome == "measured":
            try:
                cell.verdicts = judge_film(lab.film)
                cell.right = cell.right and _moves_by_its_forces(cell.verdicts, lab.film)
            except Exception as error:
                cell.verdicts, cell.right = {}, False
                cell.facts["not judged"] = f"{type(error).__name__}: {error}".split("\n")[0][:200]
    return cell


def _moves_by_its_forces(verdicts: Mapping[str, Any], film: Film) -> bool:
    """Whether the impulses that an engine shows explain its steps to half of what gravity does in one; an engine that only
    stands still is not right."""
    momentum = verdicts.get("momentum", {})
    if momentum.get("impulses") != "engine":
        return True
    return bool(momentum["median"] <= 0.5 * film.time_step * max(1.0, float(np.linalg.norm(film.scene.gravity))))


def _die_with_parent() -> None:
    """On Linux; elsewhere the worker ends with its standard input."""
    try:
        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
    except (OSError, AttributeError):
        pass


def serve(name: str) -> None:
    """First line: the engine's description, or {"missing": why}. Then a cell for each request."""
    _die_with_parent()
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # engines print
    try:
        engine = load_engine(name)
        first: Dict[str, Any] = describe(engine)
    except (ImportError, OSError) as error:
        extra = table.get(name, {}).get("extra", "")
        first = {"missing": str(error).split("\n")[0] + (f"; pip install 'conebench[{extra}]'" if extra else "")}
    except Exception as error:
        first = {"broken": f"{type(error).__name__}: {error}".split("\n")[0]}
    replies.write(json.dumps(first) + "\n")
    replies.flush()
    for line in sys.stdin:
        replies.write(measure(engine, json.loads(line)).line() + "\n")
        replies.flush()
