"""What cells are worth, and the rows and columns of tables and of the page."""

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from .results import Cell

Run = Mapping[str, Any]  # run.json

wrong_steps = (0.01, 0.1, 1.0)  # of error / scale, between one grade of wrong and the next


class Grade(IntEnum):
    """Right; wrong by error / scale: below 1 %, 10 %, 100 %, and from there on; without a value."""

    right = 0
    near = 1
    off = 2
    far = 3
    lost = 4
    failed = 5  # not finite, an error, a crash, a time limit
    cannot = 6
    missing = 7


outcome_labels = {"cannot": "cannot", "missing": "missing", "not finite": "NaN", "failed": "error",
                 "crashed": "crashed", "time limit": "time limit"}


def relative_error(cell: Cell) -> float:
    """Error over scale; infinite where there is none."""
    if cell.error is None or not math.isfinite(cell.error):
        return math.inf
    return cell.error / cell.scale if cell.scale else math.inf if cell.error else 0.0


def grade(cell: Cell) -> Grade:
    if cell.outcome == "measured":
        return Grade.right if cell.right else Grade(1 + sum(relative_error(cell) >= step for step in wrong_steps))
    return {"cannot": Grade.cannot, "missing": Grade.missing}.get(cell.outcome, Grade.failed)


def badness(cell: Cell) -> Tuple[int, float]:
    """Sorts from what says nothing against an engine over right and wrong to no value at all."""
    of = grade(cell)
    if of in (Grade.cannot, Grade.missing):
        return (0, 0.0)
    return (1 if of is Grade.right else 3 if of is Grade.failed else 2, relative_error(cell))


def tried(cell: Cell) -> bool:
    """Whether the engine has the scene and is installed: what its right cells are counted against."""
    return grade(cell) not in (Grade.cannot, Grade.missing)


def short(value: Optional[float]) -> str:
    """Three digits, or a power of ten where these would be long."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    size = abs(float(f"{value:.2e}"))
    if not 1e-2 <= size < 1e5:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(size)))}f}"


def with_unit(value: Optional[float], unit: str) -> str:
    return short(value) + (f" {unit}" if unit else "")


def unit_of(phenomenon: Mapping[str, Any]) -> str:
    """Empty where the quantity has no dimension."""
    unit = str(phenomenon.get("unit", ""))
    return "" if unit in ("1", "-", "–") else unit


@dataclass(frozen=True)
class Row:
    """An engine's variant at a time step."""

    engine: str
    variant: str
    time_step: float


class Grid:
    """Cells by row and phenomenon, in the run's order. By default of each engine its default variant and its best."""

    def __init__(self, cells: Sequence[Cell], run: Run, every_variant: bool = False) -> None:
        self.run = run
        self.phenomena = _phenomena(cells, run)
        self.groups = list(dict.fromkeys(one["group"] for one in self.phenomena))
        self._cells: Dict[Row, Dict[str, List[Cell]]] = {}
        for cell in cells:
            row = Row(cell.engine, cell.variant, cell.time_step)
            self._cells.setdefault(row, {}).setdefault(cell.phenomenon, []).append(cell)
        self.main, self.best = self._choose(cells)
        rows = [row for engine in engines_of(cells, run) for row in self._rows_of(engine)]
        self.rows = [row for row in rows if every_variant or (row.engine, row.variant) in self.main]
        self.time_steps = sorted({row.time_step for row in rows}, key=_order(run.get("time_steps", [])))

    def cells(self, row: Row, phenomenon: Optional[str] = None) -> List[Cell]:
        """Of a phenomenon, or of all."""
        found = self._cells.get(row, {})
        return [cell for id, of in found.items() for cell in of if phenomenon in (None, id)]

    def worst(self, row: Row, phenomenon: str) -> Optional[Cell]:
        cells = self.cells(row, phenomenon)
        return max(cells, key=badness) if cells else None

    def exact(self, phenomenon: str) -> Optional[float]:
        """The exact value where it is one for all cases and rows."""
        found = [cell.exact for row in self.rows for cell in self.cells(row, phenomenon) if cell.exact is not None]
        return found[0] if found and all(math.isclose(found[0], one, rel_tol=1e-6) for one in found) else None

    def label(self, row: Row) -> str:
        return f"{row.engine} {row.variant}" + (f", {milliseconds(row.time_step)}" if len(self.time_steps) > 1 else "")

    def _rows_of(self, engine: str) -> List[Row]:
        """Those with a cell that is not missing for want of a package."""
        variants = list(self.run.get("engines", {}).get(engine, {}).get("variants", {}))
        rows = [row for row, found in self._cells.items() if row.engine == engine
                and any(cell.outcome != "missing" for of in found.values() for cell in of)]
        of_variant, of_step = _order(variants), _order(self.run.get("time_steps", []))
        return sorted(rows, key=lambda row: (of_variant(row.variant), of_step(row.time_step)))

    def _choose(self, cells: Sequence[Cell]) -> Tuple[Set[Tuple[str, str]], Set[Tuple[str, str]]]:
        """(engine, variant) of each engine's default and best; the best: "best" by name, else the most right cells."""
        main: Set[Tuple[str, str]] = set()
        best: Set[Tuple[str, str]] = set()
        for engine in engines_of(cells, self.run):
            rows = self._rows_of(engine)
            if not rows:
                continue
            names = list(dict.fromkeys(row.variant for row in rows))
            first = [row for row in rows if row.time_step == rows[0].time_step]
            most = max(first, key=lambda row: sum(grade(cell) is Grade.right for cell in self.cells(row))).variant
            best.add((engine, "best" if "best" in names else most))
            main |= {(engine, "default" if "default" in names else names[0])}
        return main | best, best


def _order(names: Iterable[Any]) -> Callable[[Any], Tuple[int, Any]]:
    """A key that sorts by place in `names`; what is not there comes last, by itself."""
    places = {name: place for place, name in enumerate(names)}
    return lambda name: (places.get(name, len(places)), name)


def _phenomena(cells: Sequence[Cell], run: Run) -> List[Mapping[str, Any]]:
    """Those that have cells, in the catalogue's order, group by group; at the end what it does not know."""
    known = {one["id"]: one for one in run.get("phenomena", [])}
    names = sorted({cell.phenomenon for cell in cells}, key=_order(known))
    found = [known.get(name) or {"id": name, "group": "other", "title": name} for name in names]
    groups = _order(dict.fromkeys(one["group"] for one in found))
    return sorted(found, key=lambda one: groups(one["group"]))


def engines_of(cells: Sequence[Cell], run: Run) -> List[str]:
    return sorted({*run.get("engines", {}), *(cell.engine for cell in cells)})


def milliseconds(time_step: float) -> str:
    return f"{1e3 * time_step:g} ms"
