"""Problems as arrays."""

from functools import cached_property
from os import PathLike, fspath
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _core

Array = NDArray[np.float64]


def _sparse(parts: Any) -> Any:
    import scipy.sparse

    values, columns, starts, shape = parts
    return scipy.sparse.csr_matrix((values, columns, starts), shape=shape)


class Problem:
    """K ∋ r ⟂ s + Γ(s) ∈ K*, with s = (G + R) r + g. Matrices are scipy.sparse.csr_matrix, R is given by its diagonal.
    What a problem does not have is None; M, J and v_free are there where it is given in velocities."""

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
    def contacts(self) -> int:
        return self._core.contacts

    @property
    def dimension(self) -> int:
        """Rows of a contact: 2, 3, or 5 with rolling friction."""
        return self._core.dimension

    @cached_property
    def mu(self) -> Array:
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

    def __repr__(self) -> str:
        return f"<conebench.Problem {self.name}: {self.contacts} contacts, {self.rows} rows>"


def load(text: Union[str, "PathLike[str]"]) -> Problem:
    """An FCLIB file (looked for below CONEBENCH_DATA, too), or a scene with its options: "box-stack boxes=5 seed=2"."""
    return Problem(_core.load(fspath(text)))


def problem(G: Any, g: Any, mu: Any, *, R: Any = None, joints: int = 0, limits: int = 0, dimension: int = 3,
            mu_rolling: Any = None, guess: Any = None, name: str = "from Python") -> Problem:
    """A problem from arrays, checked. G: dense, or scipy.sparse; R: the diagonal of the compliance, None for 0."""
    if hasattr(G, "tocoo"):
        entries = G.tocoo()
        row, column, value = entries.row, entries.col, entries.data
        shape = entries.shape
    else:
        dense = np.asarray(G, dtype=float)
        shape = dense.shape
        row, column = np.nonzero(dense)
        value = dense[row, column]
    g = np.asarray(g, dtype=float)
    if shape != (g.size, g.size):
        raise _core.Error(f"G: is {' by '.join(map(str, shape))}, g has {g.size} entries")
    return Problem(_core.make(joints, limits, dimension, mu, row, column, value, g, R, guess, mu_rolling, name))



def save(problem: Problem, file: Union[str, "PathLike[str]"]) -> None:
    """Writes FCLIB's layout."""
    _core.save(problem._core, fspath(file))
