"""What changed from one run to another: for an engine's own tests."""

import math
from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Sequence

from .grades import Grade, grade, milliseconds, short
from .results import Cell, Key

grows_by = 1.1  # an error that is wrong before and after has changed beyond this factor

_kinds = {"worse": "Worse", "gone": "Gone", "better": "Better", "new": "New"}  # in the order of the text


@dataclass(frozen=True)
class Change:
    kind: str  # "worse", "better", "new", "gone"
    key: Key
    before: Optional[Cell]
    after: Optional[Cell]

    @property
    def sentence(self) -> str:
        phenomenon, case, engine, variant, time_step = self.key
        words = " → ".join(_state(cell) for cell in (self.before, self.after) if cell is not None)
        return f"{engine} {variant}, {phenomenon}, {case}, {milliseconds(time_step)}: {words}"


def compare(before: Sequence[Cell], after: Sequence[Cell]) -> List[Change]:
    """Cells that got worse or better, are new or gone. Worse: from right to wrong, or from either to no value, or an
    error beyond `allowed` that grew by more than a tenth. A cell for want of a package is none."""
    old, new = _present(before), _present(after)
    changes = []
    for key in [*new, *(key for key in old if key not in new)]:
        kind = "new" if key not in old else "gone" if key not in new else _change(old[key], new[key])
        if kind:
            changes.append(Change(kind, key, old.get(key), new.get(key)))
    return changes


def _present(cells: Sequence[Cell]) -> Dict[Key, Cell]:
    return {cell.key: cell for cell in cells if grade(cell) is not Grade.missing}


def _rank(cell: Cell) -> int:
    """Right, wrong, cannot, failed: from good to bad."""
    of = grade(cell)
    return {Grade.right: 0, Grade.cannot: 2, Grade.failed: 3}.get(of, 1)


def _change(before: Cell, after: Cell) -> str:
    old, new = _rank(before), _rank(after)
    if old != new:
        return "worse" if new > old else "better"
    if new != 1:
        return ""
    first, second = _error(before), _error(after)
    return "worse" if second > grows_by * first else "better" if first > grows_by * second else ""


def _error(cell: Cell) -> float:
    return math.inf if cell.error is None else cell.error


def _state(cell: Cell) -> str:
    if cell.outcome == "measured":
        word = "right" if grade(cell) is Grade.right else "wrong"
        return f"{short(cell.value)} ({word}, error {short(cell.error)}, allowed {short(cell.allowed)})"
    return cell.outcome + (f" ({cell.element})" if cell.element else "")


def comparison_text(changes: Sequence[Change], most: int = 40) -> str:
    """The counts, then each kind's cells, the worse ones first."""
    if not changes:
        return "No cell changed.\n"
    of_kind: Mapping[str, List[Change]] = {kind: [one for one in changes if one.kind == kind] for kind in _kinds}
    lines = [", ".join(f"{len(of_kind[kind])} {kind}" for kind in _kinds)]
    for kind, title in _kinds.items():
        shown = of_kind[kind][:most]
        lines += ["", title, *(f"  {one.sentence}" for one in shown)] if shown else []
        if len(of_kind[kind]) > len(shown):
            lines.append(f"  and {len(of_kind[kind]) - len(shown)} more")
    return "\n".join(lines) + "\n"
