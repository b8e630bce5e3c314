"""Arrays as users have them: numpy, scipy.sparse, lists, of any type of numbers."""

from typing import Any, NamedTuple, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _core

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
_dense_size = 300  # below it numpy's dense factors are fast, and scipy need not be imported


def bad_input(message: str) -> _core.Error:
    """Of values that no problem can have; slips of a call are _core.Error itself, with the code wrong_usage."""
    error = _core.Error(message)
    error.code = "bad_input"
    return error


def array_of(name: str, value: Any) -> Array:
    """As float64, whatever it is."""
    try:
        given = np.asarray(value)
        if given.dtype.kind == "c":
            raise _core.Error(f"{name}: has complex numbers, expected real ones")
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, _core.Error):
            raise
        raise _core.Error(f"{name}: {' '.join(str(error).split())}") from None


def vector_of(name: str, value: Any, size: Optional[int] = None, of: str = "the blocks {} rows", *,
              unknown: bool = False) -> Array:
    """A copy with `size` finite entries; NaN is one, too, where it may be `unknown`. `of`: what has that size."""
    entries = np.array(array_of(name, value), dtype=np.float64).ravel()
    if size is not None and entries.size != size:
        raise _core.Error(f"{name}: has {entries.size} entries, {of.format(size)}")
    for k in np.flatnonzero(np.isinf(entries) if unknown else ~np.isfinite(entries)):
        raise bad_input(f"{name}: entry {k} is {entries[k]:g}, which must be finite" + (" or NaN" if unknown else ""))
    return entries


class Entries(NamedTuple):
    """Of a matrix; those at one place add up."""

    row: Integers
    column: Integers
    values: Array
    shape: Tuple[int, int]
    single: bool = False  # it was given in float32

    @property
    def csr(self) -> Any:
        import scipy.sparse

        return scipy.sparse.csr_matrix((self.values, (self.row, self.column)), shape=self.shape)

    @property
    def dense(self) -> Array:
        matrix = np.zeros(self.shape)
        np.add.at(matrix, (self.row, self.column), self.values)
        return matrix


def entries_of(name: str, matrix: Any, expected: Tuple[Optional[int], Optional[int]] = (None, None)) -> Entries:
    """Of a dense or sparse matrix, or of (values, columns, row starts, shape); None: any number of rows or columns."""
    single = getattr(matrix, "dtype", None) in (np.dtype("float16"), np.dtype("float32"))
    if isinstance(matrix, tuple) and len(matrix) == 4 and isinstance(matrix[3], tuple):
        made = _of_rows(name, *matrix)
    elif hasattr(matrix, "tocoo"):
        sparse = matrix.tocoo()
        if len(sparse.shape) != 2:
            raise _core.Error(f"{name}: has {len(sparse.shape)} dimensions, expected 2")
        made = Entries(np.array(sparse.row, dtype=np.int64), np.array(sparse.col, dtype=np.int64),
                       np.array(array_of(name, sparse.data)), (int(sparse.shape[0]), int(sparse.shape[1])), single)
    else:
        dense = array_of(name, matrix)
        if dense.ndim != 2:
            raise _core.Error(f"{name}: has {dense.ndim} dimensions, expected 2")
        row, column = np.nonzero(dense)
        made = Entries(row, column, dense[row, column], (dense.shape[0], dense.shape[1]), single)
    if any(size not in (None, have) for size, have in zip(expected, made.shape)):
        rows, columns = ("any" if size is None else size for size in expected)
        raise _core.Error(f"{name}: is {made.shape[0]} by {made.shape[1]}, expected {rows} by {columns}")
    for k in np.flatnonzero(~np.isfinite(made.values)):
        raise bad_input(f"{name}: row {made.row[k]}, column {made.column[k]} is {made.values[k]:g}, "
                        "which must be finite")
    return made


def _of_rows(name: str, values: Any, columns: Any, starts: Any, shape: Any) -> Entries:
    stored = np.array(array_of(name, values)).ravel()
    column, start = np.array(columns, dtype=np.int64).ravel(), np.asarray(starts, dtype=np.int64).ravel()
    rows, width = int(shape[0]), int(shape[1])
    if start.size != rows + 1 or start[0] != 0 or start[-1] != stored.size or (np.diff(start) < 0).any() \
            or column.size != stored.size or (column < 0).any() or (column >= width).any():
        raise _core.Error(f"{name}: {rows} rows by {width} columns need {rows + 1} ascending starts from 0 to the "
                          f"{stored.size} values, and as many columns from 0 to {width - 1}")
    single = getattr(values, "dtype", None) == np.dtype("float32")
    return Entries(np.repeat(np.arange(rows, dtype=np.int64), np.diff(start)), column, stored, (rows, width), single)


def check_mass(mass: Entries) -> None:
    """Symmetric and positive definite, or an error that names an entry."""
    tolerance = 1e-5 if mass.single else 1e-9
    size = mass.shape[0]
    at: Any = mass.dense if size <= _dense_size else mass.csr
    diagonal = np.abs(at.diagonal())
    if size <= _dense_size:
        rows, columns = np.nonzero(np.abs(at - at.T) > tolerance * np.sqrt(np.outer(diagonal, diagonal)))
    else:
        apart = abs(at - at.T).tocoo()
        wrong = apart.data > tolerance * np.sqrt(diagonal[apart.row] * diagonal[apart.col])
        rows, columns = apart.row[wrong], apart.col[wrong]
    for i, j in zip(rows, columns):
        raise bad_input(f"M: row {i}, column {j} is {at[i, j]:.9g}, row {j}, column {i} is {at[j, i]:.9g}; M must be "
                        "symmetric, with both triangles")
    for k in np.flatnonzero(~(at.diagonal() > 0)):
        raise bad_input(f"M: row {k}, column {k} is {at[k, k]:g}; M must be positive definite")
    if size <= _dense_size:
        try:
            np.linalg.cholesky(at)
        except np.linalg.LinAlgError:
            values, motions = np.linalg.eigh(at)
            raise bad_input(f"M: has the eigenvalue {values[0]:g}, mostly of velocity "
                            f"{np.argmax(np.abs(motions[:, 0]))}; M must be positive definite") from None
        return
    factor = _factor(mass)
    pivots = None if factor is None else factor.U.diagonal()
    if pivots is None or not (pivots > 0).all():
        where = "" if pivots is None else f" at velocity {int(np.argsort(factor.perm_c)[np.argmin(pivots)])}"
        raise bad_input(f"M: has no positive pivot{where}; M must be positive definite")


def _factor(mass: Entries) -> Any:
    """L U with pivots on the diagonal; None where M is singular."""
    from scipy.sparse.linalg import splu

    try:
        return splu(mass.csr.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                    options={"SymmetricMode": True})
    except RuntimeError:
        return None


def check_delassus(delassus: Entries, mass: Entries, jacobian: Entries) -> None:
    """G = J M^-1 J', tried on a vector without pattern."""
    z = np.cos(1.0 + 2.0 * np.arange(delassus.shape[0]))

    def times(matrix: Entries, x: Array) -> Array:
        return np.bincount(matrix.row, matrix.values * x[matrix.column], matrix.shape[0]).astype(np.float64)

    push = np.bincount(jacobian.column, jacobian.values * z[jacobian.row], jacobian.shape[1])
    moved = np.linalg.solve(mass.dense, push) if mass.shape[0] <= _dense_size else _factor(mass).solve(push)
    expected = times(jacobian, moved)
    apart = np.abs(times(delassus, z) - expected)
    if not np.linalg.norm(apart) <= (1e-4 if delassus.single else 1e-6) * np.linalg.norm(expected):
        raise bad_input(f"G: row {np.argmax(apart)} is not that of J M^-1 J'; leave out G, or M, J and v_free")
