"""Blocks of a problem: rows with bounds, and contacts."""

from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arrays import Array as Array, Integers as Integers, array_of, bad_input

_shapes = {"discs": 1, "ellipsoid": 2, "pyramid": 3}


@dataclass(frozen=True)
class Block:
    """Rows of one set, as bilateral(), unilateral(), interval() and friction() make them."""

    lower: Tuple[float, ...] = ()  # [N s] of every row with bounds
    upper: Tuple[float, ...] = ()
    cone: int = 0  # of a contact: 1 groups apart, 2 one ellipsoid, 3 a pyramid
    mu: Tuple[float, ...] = ()  # of its tangential rows [1, of moments m]
    groups: Tuple[int, ...] = ()  # sizes
    shift: float = 0.0  # adhesion [N s]

    @property
    def rows(self) -> int:
        return 1 + len(self.mu) if self.cone else len(self.lower)


def bilateral(rows: int = 1) -> Block:
    """Rows that may push and pull: joints, welds, loop closures."""
    return Block((-np.inf,) * rows, (np.inf,) * rows)


def unilateral(rows: int = 1) -> Block:
    """Rows that push alone, r >= 0: limits, contacts without friction."""
    return Block((0.0,) * rows, (np.inf,) * rows)


def interval(lower: Any, upper: Any) -> Block:
    """lower <= r <= upper [N s], numbers or one of each for several rows: dry friction of a joint is (-c dt, c dt)."""
    low, high = np.broadcast_arrays(np.atleast_1d(array_of("lower", lower)), np.atleast_1d(array_of("upper", upper)))
    for k in np.flatnonzero(~(low <= high)):
        raise _core.Error(f"interval: {low[k]:g} and {high[k]:g} must be numbers with lower <= upper")
    return Block(tuple(low.tolist()), tuple(high.tolist()))


def friction(mu: Any, *, groups: Optional[Sequence[Any]] = None, shape: Optional[str] = None,
             shift: float = 0.0) -> Block:
    """A contact: a normal row, and tangential rows with these coefficients [1, of moments m].

    mu=0.8: two tangents. A list has one a row: [0.8] in the plane, [0.8, 0.4] orthotropic, [mu, mu, torsion] with
    torsion, all in one ellipsoid. groups=[2, 1]: so many rows in each of several groups, whose friction is bounded
    apart. shape="pyramid": their sum is bounded. shift: adhesion, the contact holds up to this pull [N s]."""
    given = array_of("mu", mu)
    coefficients = np.repeat(given, 2) if given.ndim == 0 else given.ravel()
    for k in np.flatnonzero(~(np.isfinite(coefficients) & (coefficients >= 0))):
        raise _core.Error(f"friction: mu[{k}] = {coefficients[k]:g} must be finite and not negative")
    if not 0 <= shift < np.inf:
        raise _core.Error(f"friction: shift = {shift:g} must be finite and not negative")
    sizes = [len(coefficients)] if groups is None else np.ravel(np.asarray(groups, dtype=np.int64)).tolist()
    if sum(sizes) != len(coefficients) or (min(sizes, default=1) < 1 and groups is not None):
        raise _core.Error(f"friction: groups {sizes} must be sizes that sum to the {len(coefficients)} tangential rows")
    name = shape or ("discs" if len(sizes) > 1 else "ellipsoid")
    if name not in _shapes:
        raise _core.Error(f"friction: shape = {name!r} must be one of {', '.join(_shapes)}")
    if name != "discs" and len(sizes) > 1:
        raise _core.Error(f"friction: {len(sizes)} groups can't be one {name}")
    return Block(cone=_shapes[name], mu=tuple(coefficients.tolist()), groups=tuple(sizes), shift=float(shift))


@dataclass(frozen=True)
class Blocks:
    """The blocks of a problem over its rows, as files of version 4 have them (docs/sample_format.md)."""

    block_rows: Integers  # the first row of each, and the number of rows
    lower: Array  # one a row [N s]; NaN on a contact's rows
    upper: Array
    cone: NDArray[np.uint8]  # one a block: 0 bounds, 1 groups apart, 2 one ellipsoid, 3 a pyramid
    mu: Array  # one a row; 0 where it is no tangential row
    groups: Integers  # one a row: the group of a tangential row, from 1; else 0
    shift: Array  # one a block [N s]
    normal_row: Integers  # one a block: the row of a contact's normal; else its first row

    def __len__(self) -> int:
        return len(self.cone)

    @property
    def rows(self) -> int:
        return int(self.block_rows[-1])

    @property
    def block_of(self) -> Integers:
        """The block of each row."""
        return np.repeat(np.arange(len(self)), np.diff(self.block_rows))

    @property
    def plain(self) -> bool:
        """Whether all contacts have Coulomb's isotropic friction and equally many rows."""
        contact = self.cone > 0
        sizes = np.unique(np.diff(self.block_rows)[contact])
        if sizes.size == 0:
            return True
        first = np.full(len(self), np.nan)
        tangential = self.groups > 0
        of = self.block_of[tangential]
        first[of[::-1]] = self.mu[tangential][::-1]
        return bool(sizes.size == 1 and sizes[0] in (2, 3) and (self.cone[contact] == 2).all()
                    and (self.mu[tangential] == first[of]).all())

    def order(self) -> Integers:
        """Its rows, the normal of each contact first."""
        rows = np.arange(self.rows)
        order: Integers = np.lexsort((rows, rows != self.normal_row[self.block_of], self.block_of))
        return order


Given = Union[Sequence[Block], Mapping[str, Any], Blocks, Tuple[Any, ...]]
table_names = ("block_rows", "lower", "upper", "cone", "mu", "groups", "shift", "normal_row")


def check_normal(normal: Optional[str]) -> None:
    if normal not in (None, "first", "last"):
        raise _core.Error(f"normal: must be 'first' or 'last', not {normal!r}")


def blocks_of(given: Given, normal: Optional[str]) -> Blocks:
    """Of a list of blocks, or of arrays by name or in the order of Blocks."""
    check_normal(normal)
    if isinstance(given, Block):
        given = [given]
    if isinstance(given, Blocks):
        return _of_arrays(vars(given), normal)
    if isinstance(given, Mapping):
        for name in given:
            if name not in table_names:
                raise _core.Error(f"blocks: {name!r} is not one of {', '.join(table_names)}")
        return _of_arrays(given, normal)
    listed = list(given)
    wrong = [block for block in listed if not isinstance(block, Block)]
    if listed and len(wrong) == len(listed) and isinstance(given, tuple) and 5 <= len(listed) <= len(table_names):
        return _of_arrays(dict(zip(table_names, listed)), normal)
    if wrong:
        raise _core.Error(f"blocks: {wrong[0]!r} is none of bilateral(), unilateral(), interval() and friction()")
    return _of_list(listed, normal)


def _ask_for_normal(normal: Optional[str]) -> bool:
    """Whether it is first."""
    if normal is None:
        raise _core.Error("normal: say normal='first' or normal='last', where a contact's normal stands among its rows")
    return normal == "first"


def counted_blocks(joints: int, limits: int, mu: Any, mu_rolling: Any, dimension: int, normal: Optional[str]) -> Blocks:
    """So many blocks of one row each, then a contact for each coefficient."""
    check_normal(normal)
    for name, count in (("joints", joints), ("limits", limits)):
        if not isinstance(count, (int, np.integer)) or count < 0:
            raise _core.Error(f"{name}: is {count!r}, expected a number of rows")
    if dimension not in (2, 3) or (mu_rolling is not None and dimension != 3):
        raise _core.Error(f"dimension: is {dimension!r}, expected 3, or 2 in the plane without mu_rolling")
    sliding = array_of("mu", () if mu is None else mu).ravel()
    rolling = None if mu_rolling is None else array_of("mu_rolling", mu_rolling).ravel()
    for name, entries in (("mu", sliding), ("mu_rolling", np.zeros(0) if rolling is None else rolling)):
        for k in np.flatnonzero(~(np.isfinite(entries) & (entries >= 0))):
            raise bad_input(f"{name}: entry {k} is {entries[k]:g}, which must be finite and not negative")
    if rolling is not None and rolling.size != sliding.size:
        raise _core.Error(f"mu_rolling: has {rolling.size} entries, mu {sliding.size}")
    contacts, bounded = len(sliding), int(joints) + int(limits)
    tangents = np.repeat(sliding[:, None], dimension - 1, axis=1)
    numbers = [1] * (dimension - 1)
    if rolling is not None:
        tangents, numbers = np.column_stack([tangents, rolling, rolling]), numbers + [2, 2]
    first = _ask_for_normal(normal) if contacts else True
    at, size = (0, len(numbers) + 1) if first else (len(numbers), len(numbers) + 1)
    around = np.zeros(bounded)
    cones = np.full(contacts * size, np.nan)
    return _of_arrays({
        "block_rows": np.concatenate([np.arange(bounded), bounded + size * np.arange(contacts + 1)]),
        "lower": np.concatenate([np.full(int(joints), -np.inf), np.zeros(int(limits)), cones]),
        "upper": np.concatenate([np.full(bounded, np.inf), cones]),
        "cone": [0] * bounded + [2 if rolling is None else 1] * contacts,
        "mu": np.concatenate([around, np.insert(tangents, at, 0.0, axis=1).ravel()]),
        "groups": np.concatenate([around, np.tile(np.insert(numbers, at, 0), contacts)])}, normal)


def _of_list(blocks: List[Block], normal: Optional[str]) -> Blocks:
    lower: List[float] = []
    upper: List[float] = []
    mu: List[float] = []
    groups: List[int] = []
    starts, normals = [0], []
    for block in blocks:
        if block.cone == 0:
            normals.append(len(lower))
            lower += block.lower
            upper += block.upper
            mu += [0.0] * block.rows
            groups += [0] * block.rows
        else:
            first = _ask_for_normal(normal)
            normals.append(len(lower) if first else len(lower) + len(block.mu))
            numbers = [k + 1 for k, size in enumerate(block.groups) for _ in range(size)]
            lower += [np.nan] * block.rows
            upper += [np.nan] * block.rows
            mu += [0.0, *block.mu] if first else [*block.mu, 0.0]
            groups += [0, *numbers] if first else [*numbers, 0]
        starts.append(len(lower))
    return Blocks(np.array(starts, dtype=np.int64), np.array(lower, dtype=float), np.array(upper, dtype=float),
                  np.array([block.cone for block in blocks], dtype=np.uint8), np.array(mu, dtype=float),
                  np.array(groups, dtype=np.int64), np.array([block.shift for block in blocks], dtype=float),
                  np.array(normals, dtype=np.int64))


def _of_arrays(given: Mapping[str, Any], normal: Optional[str]) -> Blocks:
    def array(name: str, size: int, default: Optional[float] = None) -> Array:
        if given.get(name) is None:
            if default is None:
                raise _core.Error(f"blocks: {name} is missing")
            return np.full(size, default)
        values = array_of(name, given[name]).ravel()
        if size >= 0 and values.size != size:
            raise _core.Error(f"blocks: {name} has {values.size} entries, expected {size}")
        return values

    begins = array("block_rows", -1)
    starts = np.where(np.isfinite(begins), begins, -1).astype(np.int64)
    if starts.size == 0 or starts[0] != 0 or (np.diff(starts) < 0).any() or (starts != begins).any():
        raise _core.Error("blocks: block_rows must start with 0 and ascend")
    count, rows = len(starts) - 1, int(starts[-1])
    cone = array("cone", count)
    for k in np.flatnonzero(~np.isin(cone, (0, 1, 2, 3))):
        raise _core.Error(f"blocks: cone[{k}] = {cone[k]:g} must be 0, 1, 2 or 3")
    contact = cone > 0
    if given.get("normal_row") is not None:
        normals = array("normal_row", count).astype(np.int64)
        outside = (normals < starts[:-1]) | (normals >= starts[1:])
        for k in np.flatnonzero(outside & (np.diff(starts) > 0)):
            raise _core.Error(f"blocks: normal_row[{k}] = {normals[k]} is no row of block {k}")
    else:
        first = _ask_for_normal(normal) if contact.any() else True
        normals = np.where(contact & (not first), starts[1:] - 1, starts[:-1])
    block_of = np.repeat(np.arange(count), np.diff(starts))
    tangential = contact[block_of] & (np.arange(rows) != normals[block_of])
    if given.get("groups") is not None:
        apart = cone[block_of] == 1
        groups = np.where(tangential, np.where(apart, array("groups", rows), 1), 0).astype(np.int64)
    else:
        # Discs are the first two tangential rows and the rest.
        before = np.concatenate([[0], np.cumsum(tangential)])
        number = before[:-1] - before[starts[:-1]][block_of]
        groups = np.where(tangential, np.where((cone[block_of] == 1) & (number >= 2), 2, 1), 0)
    mu = array("mu", rows, None if contact.any() else 0.0)
    for k in np.flatnonzero(tangential & ~(np.isfinite(mu) & (mu >= 0))):
        raise bad_input(f"blocks: mu[{k}] = {mu[k]:g} must be finite and not negative")
    for k in np.flatnonzero(~tangential & (mu != 0)):
        where = ("is the normal's of block {}; does it stand elsewhere?" if contact[block_of[k]]
                 else "is of block {}, which has bounds and no friction")
        raise bad_input(f"blocks: mu[{k}] = {mu[k]:g} must be 0, it {where.format(block_of[k])}")
    return Blocks(starts, array("lower", rows), array("upper", rows), cone.astype(np.uint8), mu, groups,
                  array("shift", count, 0.0), normals)
