"""A run as a page: index.html with the matrix of engines and phenomena, and a file a cell with its curve and film."""

import functools
import hashlib
import itertools
import json
import math
import os
from pathlib import Path
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .grades import Grid, Row, badness, engines_of, grade, unit_of
from .._arrays import Array
from .results import Cell, read_cells

Folder = Union[str, "os.PathLike[str]"]

_assets = Path(__file__).parent / "page"
_scripts = ("widgets.js", "model.js", "matrix.js", "curve.js", "film.js", "panel.js", "page.js")
_cell_fields = ("outcome", "value", "exact", "allowed", "scale", "upper_bound", "error", "element", "seconds")
_name_letters = 12  # hexadecimal, of a cell's file

most_points = 600  # of a curve
most_frames = 240  # of a film


def write_page(folder: Folder, out: Folder) -> Path:
    """Of run.json and results.jsonl; returns the page. Files of cells that are gone from `out` are removed."""
    run = json.loads((Path(folder) / "run.json").read_text(encoding="utf-8"))
    cells = read_cells(folder)
    place = Path(out) / "cells"
    place.mkdir(parents=True, exist_ok=True)
    written = {_write(place / f"{_name(cell)}.js", _cell_script(cell)).name for cell in cells}
    for file in place.glob("[0-9a-f]" * _name_letters + ".js"):
        if file.name not in written:
            file.unlink()
    return _write(Path(out) / "index.html", _html(cells, run))


def _write(file: Path, text: str) -> Path:
    """At once, so that a reader never sees half a file."""
    partial = file.with_suffix(file.suffix + ".part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
    return file


def _html(cells: Sequence[Cell], run: Mapping[str, Any]) -> str:
    parts = {"style": _asset("page.css"), "script": "\n".join(map(_asset, _scripts)),
             "data": _json(_index(cells, run)).replace("<", "\\u003c")}
    html = _asset("page.html")
    for name, text in parts.items():
        before, after = html.split("{{" + name + "}}")
        html = before + text + after
    return html


def _asset(name: str) -> str:
    return (_assets / name).read_text(encoding="utf-8").rstrip("\n")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _name(cell: Cell) -> str:
    """Of a cell's file: the same for the same cell of any run."""
    return hashlib.sha1(json.dumps(cell.key).encode()).hexdigest()[:_name_letters]


# The index: what the matrix shows

def _index(cells: Sequence[Cell], run: Mapping[str, Any]) -> Dict[str, Any]:
    grid = Grid(cells, run, every_variant=True)
    row_number = {row: number for number, row in enumerate(grid.rows)}
    number = {one["id"]: number for number, one in enumerate(grid.phenomena)}
    shown = [cell for cell in cells if Row(cell.engine, cell.variant, cell.time_step) in row_number]
    rank = {key: place for place, key in enumerate(sorted({badness(cell) for cell in shown}))}
    cases = {one["id"]: _cases(one, cells) for one in grid.phenomena}
    lines = [[row_number[Row(cell.engine, cell.variant, cell.time_step)], number[cell.phenomenon],
              cases[cell.phenomenon].index(cell.case), int(grade(cell)), rank[badness(cell)], _name(cell),
              cell.message[:240], *(getattr(cell, name) for name in _cell_fields)] for cell in shown]
    return {
        "conebench": run.get("conebench", ""), "date": run.get("date", ""), "quick": bool(run.get("quick")),
        "machine": run.get("machine") or {}, "timeSteps": grid.time_steps,
        "engines": [_engine(engine, cells, run) for engine in engines_of(cells, run)], "groups": grid.groups,
        "phenomena": [_phenomenon(one, cases[one["id"]]) for one in grid.phenomena],
        "rows": [{"engine": row.engine, "variant": row.variant, "step": row.time_step,
                  "main": (row.engine, row.variant) in grid.main, "best": (row.engine, row.variant) in grid.best}
                 for row in grid.rows],
        "fields": ["row", "phenomenon", "case", "grade", "rank", "file", "message", *_cell_fields], "cells": lines,
    }


def _cases(phenomenon: Mapping[str, Any], cells: Sequence[Cell]) -> List[str]:
    """Those with cells, in the catalogue's order."""
    found = dict.fromkeys(cell.case for cell in cells if cell.phenomenon == phenomenon["id"])
    return [name for name in phenomenon.get("cases", {}) if name in found] + \
           [name for name in found if name not in phenomenon.get("cases", {})]


def _phenomenon(one: Mapping[str, Any], cases: Sequence[str]) -> Dict[str, Any]:
    return {"id": one["id"], "group": one["group"], "title": one["title"], "law": one.get("law", ""),
            "quantity": one.get("quantity", ""), "unit": unit_of(one), "axes": list(one.get("axes", ("", ""))),
            "cases": [{"name": name, "parameters": one.get("cases", {}).get(name) or {}} for name in cases]}


def _engine(engine: str, cells: Sequence[Cell], run: Mapping[str, Any]) -> Dict[str, Any]:
    one = run.get("engines", {}).get(engine, {})
    variants = one.get("variants") or dict.fromkeys((cell.variant for cell in cells if cell.engine == engine), {})
    return {"id": engine, "file": one.get("file", ""), "package": one.get("package", ""), "about": one.get("about") or {},
            "missing": one.get("missing", ""), "variants": [{"name": name, "options": options or {}}
                                                            for name, options in variants.items()]}


# A cell's file: what its panel shows besides

def _cell_script(cell: Cell) -> str:
    data = {"message": cell.message, "facts": cell.facts, "verdicts": cell.verdicts,
            "curves": {name: thinned(*curve) for name, curve in cell.curves.items()},
            "film": _film(cell.film) if cell.film else None}
    return f"conebenchCell({_json(_name(cell))},{_json(data)});\n"


def thinned(x: Sequence[Any], y: Sequence[Any]) -> List[List[Any]]:
    """At most so many points of a curve: of each stretch its least and its largest, so that no peak is lost."""
    if len(x) <= most_points:
        return [_rounded(x), _rounded(y)]
    ends = np.linspace(0, len(x), most_points // 2 + 1).astype(int)
    kept = {0, len(x) - 1}
    for begin, end in zip(ends[:-1], ends[1:]):
        known = [i for i in range(begin, end) if y[i] is not None] or [begin]
        kept |= {min(known, key=lambda i: y[i] or 0.0), max(known, key=lambda i: y[i] or 0.0)}
    order = sorted(kept)
    return [_rounded([x[i] for i in order]), _rounded([y[i] for i in order])]


def _rounded(values: Iterable[Any]) -> List[Any]:
    """To six digits, which no screen shows."""
    return [None if value is None or not math.isfinite(value) else float(f"{value:.6g}") for value in values]


def _film(film: Mapping[str, Any]) -> Dict[str, Any]:
    """Poses in 10 µm and 1e-4 of a quaternion; of fixed bodies once."""
    bodies, frames = film["bodies"], film["poses"]
    stride = max(1, math.ceil(len(frames) / most_frames))
    kept = sorted({*range(0, len(frames), stride), len(frames) - 1}) if frames else []
    moving = [i for i, body in enumerate(bodies) if not body.get("fixed")]
    return {
        "bodies": [{"name": body["name"], "parts": [_part(part) for part in body["parts"]],
                    **({"pose": _pose(frames[0][i])} if body.get("fixed") and frames else {})}
                   for i, body in enumerate(bodies)],
        "times": _rounded(film["times"][i] for i in kept),
        "poses": [[_pose(frames[k][i]) for i in moving] for k in kept],
    }


def _pose(pose: Sequence[Any]) -> Optional[List[float]]:
    """None where a number is missing, which was not finite."""
    if any(value is None or not math.isfinite(value) for value in pose):
        return None
    return [round(value, 5) for value in pose[:3]] + [round(value, 4) for value in pose[3:]]


def _part(part: Mapping[str, Any]) -> Dict[str, Any]:
    found = {name: part[name] for name in ("shape", "size", "position", "rotation") if name in part}
    if part["shape"] == "hull":
        points = np.asarray(part["size"], float).reshape(-1, 3)
        found["size"] = [_rounded(point) for point in points]
        found["faces"] = hull_faces(tuple(map(tuple, points.tolist())))
    return found


@functools.lru_cache(maxsize=1000)  # engines share their scenes
def hull_faces(corners: Sequence[Tuple[float, ...]]) -> List[List[int]]:
    """The polygons of a convex hull by numbers of points, counter-clockwise from outside; none of a flat one. Tries the
    plane of every three points, of which scenes have few."""
    points = np.array(corners)
    size = float(np.ptp(points, axis=0).max())
    found: Dict[FrozenSet[int], Array] = {}
    for three in itertools.combinations(range(len(points)), 3):
        a, b, c = points[list(three)]
        normal = np.cross(b - a, c - a)
        length = float(np.linalg.norm(normal))
        if length <= 1e-9 * size**2:
            continue
        height = (points - a) @ normal / length
        on = np.flatnonzero(np.abs(height) <= 1e-6 * size)
        if len(on) == len(points):
            return []
        if height.min() >= -1e-6 * size or height.max() <= 1e-6 * size:
            found[frozenset(on.tolist())] = normal if height.max() <= 1e-6 * size else -normal
    # A point of fewer than three faces lies within a face or an edge.
    corner = {point for point in range(len(points)) if sum(point in face for face in found) >= 3}
    return [_around(points, sorted(face & corner), normal) for face, normal in found.items()]


def _around(points: Array, face: List[int], normal: Array) -> List[int]:
    """The corners of a face by their angle about its normal."""
    centre = points[face].mean(0)
    first = points[face[0]] - centre
    second = np.cross(normal, first)
    return sorted(face, key=lambda i: math.atan2((points[i] - centre) @ second, (points[i] - centre) @ first))
