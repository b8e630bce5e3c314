"""Steps that Chrono wrote as text (docs/capture_chrono.md)."""

from os import PathLike, fspath
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import Array, Entries, Integers, array_of, bad_input
from ._blocks import Block, Given, bilateral, friction, unilateral
from ._problems import Problem, problem

_dense_size = 300  # below it numpy solves fast, and scipy need not be imported
_tangent, _unilateral = -1.0, -3.0  # flags of PREFIX_fric.dat; -2 is bilateral


class _Files:
    """PREFIX_NAME.dat of one step."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def path(self, name: str) -> Path:
        return Path(f"{self._prefix}_{name}.dat")

    def has(self, *names: str) -> bool:
        return all(self.path(name).is_file() for name in names)

    def table(self, name: str, columns: int) -> Array:
        """The numbers of a file, lines × columns."""
        path = self.path(name)
        try:
            lines = path.read_text(encoding="ascii").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise bad_input(f"{path}: {getattr(error, 'strerror', None) or 'is no text of numbers'}") from None
        kept = [(k, line.split()) for k, line in enumerate(lines, 1) if line.strip()]
        values = np.empty((len(kept), columns))
        for row, (k, words) in enumerate(kept):
            try:
                values[row] = [float(word) for word in words]
            except ValueError:
                raise bad_input(f"{path}, line {k}: expected {columns} number{'s'[:columns > 1]}") from None
            if not np.isfinite(values[row]).all():
                raise bad_input(f"{path}, line {k}: has a number that is not finite")
        return values

    def vector(self, name: str) -> Array:
        return self.table(name, 1)[:, 0]

    def matrix(self, name: str, shape: Tuple[int, int], base: int) -> Entries:
        """Lines are row, column, value. The last may be a 0 that only says how large the matrix is."""
        table = self.table(name, 3)
        row, column = (table[:, k].astype(np.int64) - base for k in (0, 1))
        if (table[:, :2] != np.rint(table[:, :2])).any():
            raise bad_input(f"{self.path(name)}: has indices that are not whole")
        for k in np.flatnonzero((row < 0) | (column < 0) | (row >= shape[0]) | (column >= shape[1])):
            raise bad_input(f"{self.path(name)}: entry {row[k]}, {column[k]} (from 0) is outside of {shape[0]} by "
                            f"{shape[1]}; are the files of one step?")
        return Entries(row, column, table[:, 2], shape)

    def base(self, name: str) -> int:
        """Of indices: M has an entry in its first row, which is 0 or 1."""
        rows = self.table(name, 3)[:, 0]
        return 0 if rows.size and rows.min() == 0 else 1


def _part(whole: Entries, rows: slice, columns: slice) -> Entries:
    inside = ((whole.row >= rows.start) & (whole.row < rows.stop) & (whole.column >= columns.start)
              & (whole.column < columns.stop))
    return Entries(whole.row[inside] - rows.start, whole.column[inside] - columns.start, whole.values[inside],
                   (rows.stop - rows.start, columns.stop - columns.start))


def _compressed(entries: Entries) -> Tuple[Array, Integers, Integers, Tuple[int, int]]:
    order = np.argsort(entries.row, kind="stable")
    starts = np.searchsorted(entries.row[order], np.arange(entries.shape[0] + 1))
    return entries.values[order], entries.column[order], starts, entries.shape


def _solve(mass: Entries, right: Array) -> Array:
    try:
        if mass.shape[0] <= _dense_size:
            return np.asarray(np.linalg.solve(mass.dense, right))
        from scipy.sparse.linalg import splu

        return np.asarray(splu(mass.csr.tocsc()).solve(right))
    except (np.linalg.LinAlgError, RuntimeError):
        raise bad_input("M: is singular; it must be positive definite") from None


def _read(files: _Files) -> Dict[str, Any]:
    """M, J, E, f and b of either set of files."""
    mass = "H" if files.has("H") else "M"
    if files.has(mass, "Cq", "E", "f", "b"):
        f, b = files.vector("f"), files.vector("b")
        base, n_v, n = files.base(mass), f.size, b.size
        return {"M": files.matrix(mass, (n_v, n_v), base), "J": files.matrix("Cq", (n, n_v), base),
                "E": files.matrix("E", (n, n), base), "f": f, "b": b}
    if files.has("Z", "rhs", "v_pre"):
        right, n_v = files.vector("rhs"), files.vector("v_pre").size
        size = right.size
        if n_v > size:
            raise bad_input(f"{files.path('v_pre')}: has {n_v} velocities, {files.path('rhs')} only {size} rows")
        whole = files.matrix("Z", (size, size), files.base("Z"))
        first, last = slice(0, n_v), slice(n_v, size)
        return {"M": _part(whole, first, first), "J": _part(whole, last, first), "E": _part(whole, last, last),
                "f": right[:n_v], "b": -right[n_v:]}
    raise bad_input(f"{files.path('*')}: needs H (or M), Cq, E, f and b of WriteMatrixBlocks, or Z, rhs and v_pre of "
                    "EnableSolverMatrixWrite")


def _compliance(files: _Files, entries: Entries) -> Optional[Array]:
    """Chrono 10 writes −E, older ones E: compliance is never negative."""
    values = entries.values
    if (values[entries.row != entries.column] != 0).any():
        raise bad_input(f"{files.path('E')}: is not diagonal")
    if (values > 0).any() and (values < 0).any():
        raise bad_input(f"{files.path('E')}: has compliance of both signs")
    if not values.any():
        return None
    diagonal = np.zeros(entries.shape[0])
    np.add.at(diagonal, entries.row, np.abs(values))
    return diagonal


def _flagged_blocks(path: Path, flags: Array, limits: Sequence[int]) -> List[Block]:
    """Of the friction of normals, -1 of tangents, -2 of bilateral rows and -3 of unilateral ones."""
    blocks: List[Block] = []
    k = 0
    while k < flags.size:
        if flags[k] >= 0:
            if flags[k + 1:k + 3].tolist() != [_tangent, _tangent]:
                raise bad_input(f"{path}: row {k} is a contact's normal, whose two tangents (-1) don't follow")
            blocks.append(friction(flags[k]))
            k += 3
        elif flags[k] == _tangent:
            raise bad_input(f"{path}: row {k} is a tangent (-1) without its normal in front")
        else:
            if any(block.cone for block in blocks):
                raise bad_input(f"{path}: row {k} stands behind contacts and is none: rolling friction, of which "
                                "blocks=[…] must be given")
            blocks.append(unilateral() if flags[k] == _unilateral or k in limits else bilateral())
            k += 1
    return blocks


def _blocks(files: _Files, rows: int, mu: Any, contacts: Optional[int], limits: Sequence[int]) -> List[Block]:
    if mu is None and contacts is None and files.has("fric"):
        flags = files.vector("fric")
        if flags.size != rows:
            raise bad_input(f"{files.path('fric')}: has {flags.size} rows, b {rows}")
        return _flagged_blocks(files.path("fric"), flags, limits)
    if mu is None:
        raise _core.Error(f"mu: {files.path('fric')} is not there, and the other files don't have the friction; say "
                          "mu=[…], one a contact, or a number and contacts=N, or mu=[] without contacts")
    given = array_of("mu", mu)
    if given.ndim == 0:
        if contacts is None:
            raise _core.Error("contacts: say how many have this mu; they are the last rows, three each")
        given = np.repeat(given, contacts)
    given = given.ravel()
    if contacts is not None and given.size != contacts:
        raise _core.Error(f"mu: has {given.size} entries, contacts is {contacts}")
    before = rows - 3 * given.size
    if before < 0:
        raise _core.Error(f"mu: {given.size} contacts need {3 * given.size} rows, the files have {rows}")
    return [unilateral() if k in limits else bilateral() for k in range(before)] + [friction(value) for value in given]


def chrono(prefix: Union[str, "PathLike[str]"], blocks: Optional[Given] = None, *, mu: Any = None,
           contacts: Optional[int] = None, unilateral: Sequence[int] = (), **known: Any) -> Problem:
    """A step that Chrono's ChSystemDescriptor::WriteMatrixBlocks or ChSystem::EnableSolverMatrixWrite has written to
    PREFIX_*.dat, in its rows: bilateral and unilateral ones, then contacts (n, u, v), whose normal is first.

      mu          one a contact, or a number and `contacts`, how many there are. Without it PREFIX_fric.dat is read: a
                  line a row, mu on normals, -1 on tangents, -2 on bilateral and -3 on unilateral rows
      unilateral  rows, from 0, that only push: limits of links, which the files don't tell from bilateral rows
      blocks      instead: of all rows, as problem() takes them; contacts with rolling friction need it
      known       what problem() takes of time_step [s], time, step, gap, names, …

    v_free = M^-1 f [m/s, rad/s], b [m/s] as written and R = |E| [m/s per N s]. The step's velocity is read from
    PREFIX_v_pre.dat, Chrono's answer [N s] from PREFIX_Dl.dat (or _L.dat), where they are there.

    Raises Error: wrong_usage where blocks or friction are missing or of another size, bad_input with the file and the
    line for what is no matrix of the step."""
    files = _Files(fspath(prefix))
    parts = _read(files)
    rows, n_v = parts["b"].size, parts["f"].size
    compliance = _compliance(files, parts["E"])
    limits = [int(k) for k in unilateral]
    for k in limits:
        if not 0 <= k < rows:
            raise _core.Error(f"unilateral: {k} is none of the {rows} rows")
    if blocks is None:
        blocks = _blocks(files, rows, mu, contacts, limits)
    elif mu is not None or contacts is not None or limits:
        raise _core.Error("mu, contacts, unilateral: blocks say these")
    if files.has("v_pre") and "velocity" not in known:
        velocity = files.vector("v_pre")
        if velocity.size == n_v:
            known["velocity"] = velocity
    if "answers" not in known:
        for name in ("Dl", "L"):
            if files.has(name):
                known["answers"] = {"Chrono": files.vector(name)}
                break
    known.setdefault("law", "ccp")
    known.setdefault("name", Path(fspath(prefix)).name)
    return problem(M=_compressed(parts["M"]), J=_compressed(parts["J"]), v_free=_solve(parts["M"], parts["f"]),
                   b=parts["b"], R=compliance, blocks=blocks, normal="first", **known)
