"""Problems as arrays."""

from functools import cached_property
from os import PathLike, fspath
from typing import Any, Dict, Optional, Tuple, Union

import numpy as np

from . import _core
from ._blocks import Array, Blocks, Given, Integers, array_of, blocks_of, table_names


def _sparse(parts: Any) -> Any:
    import scipy.sparse

    values, columns, starts, shape = parts
    return scipy.sparse.csr_matrix((values, columns, starts), shape=shape)


class Problem:
    """K ∋ r ⟂ s + Γ(s) ∈ K*, with s = (G + R) r + g. Matrices are scipy.sparse.csr_matrix, R is given by its diagonal.
    What a problem does not have is None; M, J and v_free are there where it is given in velocities. Of a problem that
    problem(blocks=…) made, and of a file by blocks, rows and contacts are in the order in which they were given."""

    def __init__(self, core: "_core.Core") -> None:
        self._core = core

    @property
    def rows(self) -> int:
        return self._core.rows

    @property
    def joints(self) -> int:
        return self._core.joints

    @property
    def limits(self) -> int:
        return self._core.limits

    @property
    def intervals(self) -> int:
        return self._core.intervals

    @property
    def contacts(self) -> int:
        return self._core.contacts

    @property
    def dimension(self) -> int:
        """Rows of a contact: 2, 3, 5 with rolling friction, …; 0 where they differ."""
        return self._core.dimension

    @cached_property
    def blocks(self) -> Blocks:
        """Bounds and cones of all rows."""
        return Blocks(**self._core.blocks)

    @cached_property
    def mu(self) -> Array:
        """One a contact, of its first tangential row; `blocks` has those of all rows."""
        return self._core.mu

    @cached_property
    def mu_rolling(self) -> Array:
        """One a contact [m]; empty without rolling friction."""
        return self._core.mu_rolling

    @cached_property
    def G(self) -> Any:
        """The Delassus matrix [m/s per N s], made where M and J are given."""
        return _sparse(self._core.delassus)

    @cached_property
    def R(self) -> Array:
        return self._core.compliance

    @cached_property
    def g(self) -> Array:
        """Free velocity [m/s]."""
        return self._core.g

    @cached_property
    def b(self) -> Optional[Array]:
        """What of g is not J v_free [m/s]."""
        return self._core.bias

    @cached_property
    def M(self) -> Any:
        return None if self._core.mass is None else _sparse(self._core.mass)

    @cached_property
    def J(self) -> Any:
        return None if self._core.jacobian is None else _sparse(self._core.jacobian)

    @cached_property
    def v_free(self) -> Optional[Array]:
        return self._core.free_velocity

    @cached_property
    def guess(self) -> Optional[Array]:
        return self._core.guess

    @cached_property
    def reference(self) -> Optional[Array]:
        """The answer that its file has."""
        return self._core.reference

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def family(self) -> str:
        return self._core.family

    @property
    def hash(self) -> str:
        """Of its data, as stores have it."""
        return self._core.hash

    @property
    def ordered(self) -> "Problem":
        """The same problem in Conebench's order of rows, as solvers written in Python get it."""
        return self

    def _own(self, name: str, r: Any) -> Array:
        """An impulse of the rows here as one of ordered.rows."""
        return array_of(name, r)

    def _given(self, r: Array) -> Array:
        """And back; zeros where there is no answer."""
        return r if r.size else np.zeros(self.rows)

    def __repr__(self) -> str:
        return f"<conebench.Problem {self.name}: {self.contacts} contacts, {self.rows} rows>"


def load(text: Union[str, "PathLike[str]"]) -> Problem:
    """A file (looked for below CONEBENCH_DATA, too), or a scene with its options: "box-stack boxes=5 seed=2". The rows
    of a file by blocks are the file's; those of an FCLIB file and of a scene are in Conebench's order."""
    core, given = _core.load(fspath(text))
    if given is None:
        return Problem(core)
    parts = given.parts
    table = blocks_of({name: parts[name] for name in table_names if name in parts}, "first")
    return _GivenProblem(core, table, np.arange(table.rows), parts, given)


def load_ordered(file: str) -> Problem:
    """load(file).ordered."""
    return Problem(_core.load(file)[0])


class _GivenProblem(Problem):
    """In the rows of whoever gave it."""

    def __init__(self, core: "_core.Core", blocks: Blocks, order: Integers, parts: Dict[str, Any],
                 given: "_core.Given") -> None:
        super().__init__(core)
        self._parts = parts
        self._written = given
        self.blocks = blocks
        known = core.given_rows
        row, shift = (np.arange(blocks.rows), np.zeros(blocks.rows)) if known is None else known
        self._row = np.empty(blocks.rows, dtype=np.int64)
        self._shift = np.empty(blocks.rows)
        self._row[order], self._shift[order] = row, shift

    @property
    def rows(self) -> int:
        return self.blocks.rows

    def _bounded(self, joints: bool, limits: bool) -> int:
        lower, upper = self.blocks.lower, self.blocks.upper
        joint = np.isneginf(lower) & np.isposinf(upper)
        limit = (lower == 0) & np.isposinf(upper)
        return int(np.sum(joint if joints else limit if limits else ~(joint | limit | np.isnan(lower))))

    @property
    def joints(self) -> int:
        return self._bounded(True, False)

    @property
    def limits(self) -> int:
        return self._bounded(False, True)

    @property
    def intervals(self) -> int:
        return self._bounded(False, False)

    @property
    def contacts(self) -> int:
        return int(np.sum(self.blocks.cone > 0))

    def _first_mu(self, group: int) -> Array:
        """One a contact; 0 without such a group."""
        first = np.zeros(len(self.blocks))
        own = np.flatnonzero(self.blocks.groups == group)[::-1]
        first[self.blocks.block_of[own]] = self.blocks.mu[own]
        return first[self.blocks.cone > 0]

    @cached_property
    def mu(self) -> Array:
        return self._first_mu(1)

    @cached_property
    def mu_rolling(self) -> Array:
        return self._first_mu(2) if self._core.mu_rolling.size else np.zeros(0)

    @cached_property
    def G(self) -> Any:
        import scipy.sparse
        from scipy.sparse.linalg import splu

        if self._parts.get("G") is not None:
            return _compressed(self._parts["G"])
        return scipy.sparse.csr_matrix(self.J @ splu(self.M.tocsc()).solve(self.J.T.toarray()))

    @cached_property
    def R(self) -> Array:
        given = self._part("R")
        return np.zeros(self.rows) if given is None else given

    @cached_property
    def g(self) -> Array:
        given = self._part("g")
        if given is not None:
            return given
        pushed: Array = self.J @ self.v_free
        return pushed if self.b is None else pushed + self.b

    @cached_property
    def b(self) -> Optional[Array]:
        return self._part("b")

    @cached_property
    def M(self) -> Any:
        return _compressed(self._parts.get("M"))

    @cached_property
    def J(self) -> Any:
        return _compressed(self._parts.get("J"))

    @cached_property
    def v_free(self) -> Optional[Array]:
        return self._part("v_free")

    @cached_property
    def guess(self) -> Optional[Array]:
        return self._part("guess")

    @cached_property
    def reference(self) -> Optional[Array]:
        return self._part("reference")

    @property
    def ordered(self) -> Problem:
        return Problem(self._core)

    def _part(self, name: str) -> Optional[Array]:
        return None if self._parts.get(name) is None else array_of(name, self._parts[name])

    def _own(self, name: str, r: Any) -> Array:
        values = array_of(name, r)
        if values.shape != (self.rows,):
            raise _core.Error(f"{name}: has {values.size} entries, the problem {self.rows} rows")
        for k in np.flatnonzero((self._row < 0) & (values != 0)):
            raise _core.Error(f"{name}: row {k} has mu = 0, where no force acts, and {values[k]:g} in it; set it to 0")
        own = np.zeros(self._core.rows)
        acts = self._row >= 0
        own[self._row[acts]] = (values + self._shift)[acts]
        return own

    def _given(self, r: Array) -> Array:
        return np.where(self._row < 0, 0.0, r[self._row] - self._shift) if r.size else np.zeros(self.rows)


def _compressed(matrix: Any) -> Any:
    import scipy.sparse

    if isinstance(matrix, tuple):
        return _sparse(matrix)
    return None if matrix is None else scipy.sparse.csr_matrix(matrix, dtype=np.float64)


def _entries(name: str, matrix: Any) -> Tuple[Integers, Integers, Array, Tuple[int, int]]:
    """Rows, columns, values and shape of a dense or sparse matrix."""
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        return entries.row.astype(np.int64), entries.col.astype(np.int64), array_of(name, entries.data), entries.shape
    dense = array_of(name, matrix)
    if dense.ndim != 2:
        raise _core.Error(f"{name}: has {dense.ndim} dimensions, expected 2")
    row, column = np.nonzero(dense)
    return row, column, dense[row, column], (dense.shape[0], dense.shape[1])


def problem(G: Any = None, g: Any = None, mu: Any = None, *, blocks: Optional[Given] = None,
            normal: Optional[str] = None, M: Any = None, J: Any = None, v_free: Any = None, b: Any = None,
            R: Any = None, joints: int = 0, limits: int = 0, dimension: int = 3, mu_rolling: Any = None,
            guess: Any = None, gap: Any = None, time_step: Optional[float] = None, name: str = "from Python") -> Problem:
    """A problem from arrays, checked. Matrices: dense, or of scipy.sparse; R: the diagonal of the compliance, None for 0.

    Either G and g, or M, J and v_free with g = J v_free + b. `blocks` says what the rows are, in any order: a list of
    bilateral(), unilateral(), interval() and friction(), or arrays by the names of files. `normal`: "first" or "last"
    among a contact's rows. `gap`: one a block [m]. Without blocks, rows stand in Conebench's order: joints, limits,
    contacts (t1, t2, n) with the coefficients mu."""
    if blocks is None:
        for word, value in (("normal", normal), ("M", M), ("J", J), ("v_free", v_free), ("b", b), ("gap", gap),
                            ("time_step", time_step)):
            if value is not None:
                raise _core.Error(f"{word}: needs blocks")
        if G is None or g is None or mu is None:
            raise _core.Error("problem: needs G, g and mu, or blocks")
        row, column, values, shape = _entries("G", G)
        g = array_of("g", g)
        if shape != (g.size, g.size):
            raise _core.Error(f"G: is {' by '.join(map(str, shape))}, g has {g.size} entries")
        return Problem(_core.make(joints, limits, dimension, mu, row, column, values, g, R, guess, mu_rolling, name))
    if mu is not None or mu_rolling is not None or joints or limits or dimension != 3:
        raise _core.Error("mu, mu_rolling, joints, limits, dimension: blocks say these")
    table = blocks_of(blocks, normal)
    order = table.order()
    place = np.argsort(order)
    if (M is None) != (J is None) or (J is None) != (v_free is None):
        raise _core.Error("M, J, v_free: all three of them, or none")
    if G is None and J is None:
        raise _core.Error("problem: needs G and g, or M, J and v_free")
    if g is None and J is None:
        raise _core.Error("g: is missing beside G")
    if R is not None:
        R = np.broadcast_to(array_of("R", R), (table.rows,)) if np.ndim(R) == 0 else array_of("R", R)
    parts = {"block_rows": table.block_rows, "cone": table.cone, "shift": table.shift, "gap": gap, "name": name,
             "time_step": None if time_step is None else [float(time_step)], "lower": table.lower[order],
             "upper": table.upper[order], "mu": table.mu[order], "groups": table.groups[order]}
    for word, value in (("g", g), ("b", b), ("R", R), ("guess", guess)):
        if value is None:
            continue
        entries = array_of(word, value).ravel()
        if entries.size != table.rows:
            raise _core.Error(f"{word}: has {entries.size} entries, the blocks {table.rows} rows")
        for k in np.flatnonzero(~np.isfinite(entries) | ((entries < 0) & (word == "R"))):
            raise _core.Error(f"{word}: row {k} has {entries[k]:g}, which must be finite"
                              + (" and not negative" if word == "R" else ""))
        parts[word] = entries[order]
    if v_free is not None:
        parts["v_free"] = array_of("v_free", v_free).ravel()
    for word, value in (("G", G), ("J", J), ("M", M)):
        if value is None:
            continue
        row, column, values, shape = _entries(word, value)
        velocities = 0 if v_free is None else len(parts["v_free"])
        expected = {"G": (table.rows, table.rows), "J": (table.rows, velocities), "M": (velocities, velocities)}[word]
        if shape != expected:
            raise _core.Error(f"{word}: is {shape[0]} by {shape[1]}, expected {expected[0]} by {expected[1]}")
        if word != "M":
            row = place[row]
        parts[word] = (row, place[column] if word == "G" else column, values, expected)
    own = {"G": G, "g": g, "M": M, "J": J, "v_free": v_free, "b": b, "R": R, "guess": guess}
    core, given = _core.make_of_blocks(parts)
    return _GivenProblem(core, table, order, own, given)


def save(problem: Problem, file: Union[str, "PathLike[str]"]) -> None:
    """Writes a problem that was given by blocks in its blocks and rows, but the normal of each contact first. Writes
    any other in FCLIB's layout where that has a place for it, else by blocks in Conebench's order, which then is that
    of the file."""
    _core.save(problem._core, getattr(problem, "_written", None), fspath(file))
