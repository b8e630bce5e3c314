"""Results of a run: run.json (engines, settings, machine) and results.jsonl, one cell a line."""

import json
import math
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

Key = Tuple[str, str, str, str, float]

# What became of a cell.
outcomes = {
    "measured": "there is a value",
    "cannot": "the engine lacks an element of the scene, which is named",
    "not finite": "a position or velocity became infinite or not a number",
    "failed": "the engine raised an error",
    "crashed": "the engine's process died",
    "time limit": "the engine's process was killed at its time limit",
    "missing": "a package or program that the engine needs is not installed",
}


@dataclass
class Cell:
    """A phenomenon's case on an engine with one of its variants at a time step. Numbers of the phenomenon in its unit."""

    phenomenon: str
    case: str
    engine: str
    variant: str
    time_step: float  # [s]
    outcome: str
    value: Optional[float] = None
    exact: Optional[float] = None
    allowed: Optional[float] = None  # what the time step explains
    scale: Optional[float] = None  # an error of this size is as wrong as can be
    upper_bound: bool = False  # the exact value is one
    error: Optional[float] = None
    right: Optional[bool] = None
    element: str = ""  # cannot: what the engine lacks
    message: str = ""  # one line: why there is no value
    seconds: float = 0.0  # wall time of the cell
    facts: Dict[str, Any] = field(default_factory=dict)  # other numbers, by name with unit
    verdicts: Dict[str, Any] = field(default_factory=dict)  # of the last film's steps, judged from outside
    curves: Dict[str, Any] = field(default_factory=dict)  # by name: [[x], [y]]
    film: Optional[Dict[str, Any]] = None

    @property
    def key(self) -> Key:
        return (self.phenomenon, self.case, self.engine, self.variant, self.time_step)

    def line(self) -> str:
        return json.dumps(_finite(asdict(self)), separators=(",", ":"))

    @staticmethod
    def of_line(line: str) -> "Cell":
        return Cell(**json.loads(line))


def _finite(value: Any) -> Any:
    """JSON has no infinity: null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return value.item() if hasattr(value, "item") else value


def drop_unfinished(folder: Union[str, "os.PathLike[str]"]) -> None:
    """Of results.jsonl the last line, where a killed run did not finish it."""
    file = Path(folder) / "results.jsonl"
    text = file.read_bytes() if file.exists() else b""
    if text and not text.endswith(b"\n"):
        os.truncate(file, text.rfind(b"\n") + 1)


def read_cells(place: Union[str, "os.PathLike[str]"]) -> List[Cell]:
    """Of a folder's results.jsonl, or of such a file; of a cell's lines the last. A last line that a run has not finished is passed over. Raises
    ValueError for a line that is no cell."""
    file = Path(place) / "results.jsonl" if Path(place).is_dir() else Path(place)
    cells: Dict[Key, Cell] = {}
    if not file.exists():
        return []
    lines = file.read_text().split("\n")
    for number, line in enumerate(lines):
        if not line:
            continue
        try:
            cell = Cell.of_line(line)
        except (ValueError, TypeError) as error:
            if number == len(lines) - 1:
                break
            raise ValueError(f"{file}:{number + 1}: {error}") from None
        cells[cell.key] = cell
    return list(cells.values())
