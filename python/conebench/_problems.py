"""Problems as arrays."""

from functools import cached_property
from os import PathLike, fspath
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arrays import (Array, Entries, Integers, array_of, bad_input, check_delassus, check_mass, entries_of, vector_of)
from ._blocks import Blocks, Given, blocks_of, counted_blocks, table_names
from ._known import EngineAnswer, answers_of, in_order, in_rows, known_of


def _sparse(parts: Any) -> Any:
    """Of what is given, or of the core's (values, columns, row starts, shape)."""
    if parts is None or isinstance(parts, Entries):
        return None if parts is None else parts.csr
    import scipy.sparse

    values, columns, starts, shape = parts
    return scipy.sparse.csr_matrix((values, columns, starts), shape=shape)


class Problem:
    """K ∋ r ⟂ s + Γ(s) ∈ K*, with s = (G + R) r + g. Matrices are scipy.sparse.csr_matrix, R is given by its diagonal.
    What a problem does not have is None; M, J and v_free are there where it is given in velocities.

    Rows and contacts of a problem that problem() made, and of a file by blocks (normals first), are in the order in
    which they were given. All others have Conebench's order: joints, limits, intervals, contacts as (t1, t2, n).
    `blocks.normal_row` has the row of each normal."""

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
        return _sparse(self._core.mass)

    @cached_property
    def J(self) -> Any:
        return _sparse(self._core.jacobian)

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

    @cached_property
    def _known(self) -> Dict[str, Any]:
        first = self._core.joints + self._core.limits + self._core.intervals
        return in_order(self._core.known, self._core.joints, first + self._core.contacts, self._core.contacts)

    @property
    def metric(self) -> Optional[str]:
        """What M is: "mass", or "effective" with the derivatives of forces of an implicit integrator."""
        return self._known.get("metric")

    @property
    def law(self) -> Optional[str]:
        """What the engine meant: "ncp", Coulomb's law, or "ccp", its convex relaxation."""
        return self._known.get("law")

    @property
    def velocity(self) -> Optional[Array]:
        """v before the step, n_v [m/s, rad/s]."""
        return self._known.get("velocity")

    @property
    def time_step(self) -> Optional[float]:
        """Of the step [s]."""
        return self._known.get("time_step")

    @property
    def time(self) -> Optional[float]:
        """Of the simulation [s]."""
        return self._known.get("time")

    @property
    def step(self) -> Optional[int]:
        """Number of the step in its simulation, from 1."""
        return self._known.get("step")

    @property
    def gap(self) -> Optional[Array]:
        """Distance, one a block, NaN where not known [m]."""
        return self._known.get("gap")

    @property
    def point(self) -> Optional[Array]:
        """Of each contact in the world, contacts × 3 [m]."""
        return self._known.get("point")

    @property
    def frame(self) -> Optional[Array]:
        """Axes n, t1, t2 of each contact as rows, in the world, contacts × 3 × 3."""
        return self._known.get("frame")

    @property
    def identity(self) -> Optional[Integers]:
        """One a block, the same number for the same constraint in the next step; -2**63 where not known."""
        return self._known.get("identity")

    @property
    def names(self) -> Optional[List[str]]:
        """One a block."""
        return self._known.get("names")

    @property
    def bodies(self) -> Optional[Integers]:
        """Blocks × 2 indices of body_names, -1 for the world. J v is the velocity of the second body relative to the
        first."""
        return self._known.get("bodies")

    @property
    def body_names(self) -> Optional[List[str]]:
        return self._known.get("body_names")

    @property
    def description(self) -> str:
        return str(self._known.get("description", ""))

    @cached_property
    def answers(self) -> Dict[str, EngineAnswer]:
        """What engines answered, by their names; empty where none is known."""
        return {}

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

    def _step(self) -> Dict[str, Any]:
        """As data by the names of the sample format, the normal of each contact first (_step.py)."""
        from ._step import step_of

        return step_of(self)

    def __repr__(self) -> str:
        return f"<conebench.Problem {self.name}: {self.contacts} contacts, {self.rows} rows>"


def load(text: Union[str, "PathLike[str]"]) -> Problem:
    """A file (looked for below CONEBENCH_DATA, too), a step of a recording ("robot.hdf5/000012"), or a scene with its
    options ("box-stack boxes=5 seed=2"). The rows of a file by blocks are the file's; those of an FCLIB file and of a
    scene are in Conebench's order. Raises conebench.Error, with the code bad_input where the file is wrong."""
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
        self._order = order

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
        if self._parts.get("G") is not None:
            return _sparse(self._parts["G"])
        import scipy.sparse
        from scipy.sparse.linalg import splu

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
        return _sparse(self._parts.get("M"))

    @cached_property
    def J(self) -> Any:
        return _sparse(self._parts.get("J"))

    @cached_property
    def v_free(self) -> Optional[Array]:
        return self._part("v_free")

    @cached_property
    def guess(self) -> Optional[Array]:
        return self._part("guess")

    @cached_property
    def reference(self) -> Optional[Array]:
        return self._part("reference")

    @cached_property
    def _known(self) -> Dict[str, Any]:
        return self._written.known

    @cached_property
    def answers(self) -> Dict[str, EngineAnswer]:
        return in_rows(answers_of(self._known.get("answers", {}), self.rows), np.argsort(self._order))

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


def problem(G: Any = None, g: Any = None, mu: Any = None, *, blocks: Optional[Given] = None,
            normal: Optional[str] = None, M: Any = None, J: Any = None, v_free: Any = None, b: Any = None,
            R: Any = None, joints: int = 0, limits: int = 0, dimension: int = 3, mu_rolling: Any = None,
            guess: Any = None, metric: Optional[str] = None, law: Optional[str] = None, velocity: Any = None,
            time_step: Optional[float] = None, time: Optional[float] = None, step: Optional[int] = None,
            gap: Any = None, point: Any = None, frame: Any = None, identity: Any = None,
            names: Optional[Sequence[Optional[str]]] = None, bodies: Any = None,
            body_names: Optional[Sequence[str]] = None, answers: Optional[Mapping[str, Any]] = None,
            name: str = "from Python", description: str = "") -> Problem:
    """A problem from arrays, checked. Vectors and matrices are copied, and may be lists, numpy or scipy.sparse of any
    kind and any real type, a matrix also (values, columns, row starts, shape). n rows, n_b blocks, n_c contacts, n_v
    velocities.

    What the rows are
      blocks       a list of bilateral(), unilateral(), interval() and friction(), in any order, or arrays by the names
                   of the sample format (block_rows, lower, upper, cone, mu, groups, shift; normal_row for `normal`)
      normal       where the normal stands among the rows of each contact, "first" or "last". It must be said
                   wherever there are contacts, and is not guessed: an engine's (n, t1, t2) is "first"; "last" is
                   Conebench's own order (t1, t2, n) of scenes, FCLIB files and `ordered`
      joints, limits, mu, dimension, mu_rolling
                   instead of blocks: rows are the joints, the limits (r >= 0), then a contact for each coefficient in
                   mu [1] with dimension - 1 tangents, and two moments where mu_rolling [m] is given

    What is solved: s = (G + R) r + g, r [N s], s [m/s]
      G, g         n x n [m/s per N s], n [m/s]; or
      M, J, v_free n_v x n_v [kg, kg m^2], symmetric with both triangles and positive definite; n x n_v; n_v [m/s,
                   rad/s], the velocity without these impulses: G = J M^-1 J', g = J v_free + b
      b            n, bias [m/s]; None: 0
      R            compliance >= 0, a number or the n of a diagonal [m/s per N s]; None: 0
      guess        n, impulses to start from [N s]

    What else is known, for warm starts and reports; None: not known
      metric       what M is: "mass" or "effective", with the derivatives of implicit forces
      law          what the engine meant, "ncp" or "ccp"; problems are solved and judged as NCP all the same
      velocity     n_v, before the step [m/s, rad/s]
      time_step, time, step          Δt [s], time [s], number of the step from 1
      gap          n_b, distance, negative in penetration, or NaN [m]
      point, frame n_c x 3 [m]; n_c x 3 x 3, rows the axes n, t1, t2, orthonormal; in the world
      identity     n_b integers, the same for the same constraint in the next step, None where not known
      names        n_b texts
      bodies       n_b pairs of indices of body_names, or of names; -1, None and "" are the world. J is the velocity of
                   the second relative to the first, and normals point from the first to the second
      body_names   texts
      answers      {"MuJoCo 4.0.1 Newton": r} or {…: {"r": r, "iterations": …, "seconds": …, "tolerance": …,
                   "status": …, "law": …}}, r of n impulses [N s]

    All rows keep the caller's order: those of the Problem, its answers, and r of solve() and judge().
    Raises conebench.Error, one line with the argument and the entry; code wrong_usage for a wrong shape or name,
    bad_input for wrong values."""
    known = {"metric": metric, "law": law, "velocity": velocity, "time_step": time_step, "time": time, "step": step,
             "gap": gap, "point": point, "frame": frame, "identity": identity, "names": names, "bodies": bodies,
             "body_names": body_names, "answers": answers}
    if (M is None) != (J is None) or (J is None) != (v_free is None):
        raise _core.Error("M, J, v_free: all three of them, or none")
    if J is None and (G is None or g is None):
        raise _core.Error("problem: needs G and g, or M, J and v_free" if G is None else "g: is missing beside G")
    if blocks is None:
        if mu is None and not joints and not limits:
            raise _core.Error("problem: say what the rows are: blocks=[…], or joints, limits and mu")
        table = counted_blocks(joints, limits, mu, mu_rolling, dimension, normal)
    elif mu is not None or mu_rolling is not None or joints or limits or dimension != 3:
        raise _core.Error("mu, mu_rolling, joints, limits, dimension: blocks say these")
    else:
        table = blocks_of(blocks, normal)
    rows = "the blocks {} rows" if blocks is not None else "joints, limits and mu make {} rows"
    own: Dict[str, Any] = {}
    if R is not None:
        R = np.full(table.rows, array_of("R", R)) if np.ndim(R) == 0 and not hasattr(R, "tocoo") else R
        if hasattr(R, "tocoo") or (np.ndim(R) == 2 and min(np.shape(R)) > 1):
            raise _core.Error("R: is a matrix, give its diagonal")
    for word, vector in (("g", g), ("b", b), ("R", R), ("guess", guess)):
        if vector is not None:
            own[word] = vector_of(word, vector, table.rows, rows)
    for k in np.flatnonzero(own.get("R", np.zeros(0)) < 0):
        raise bad_input(f"R: entry {k} is {own['R'][k]:g}, which must not be negative")
    velocities = None
    if J is not None:
        own["v_free"] = vector_of("v_free", v_free)
        velocities = own["v_free"].size
        own["J"] = entries_of("J", J, (table.rows, velocities))
        own["M"] = entries_of("M", M, (velocities, velocities))
        check_mass(own["M"])
    if G is not None:
        own["G"] = entries_of("G", G, (table.rows, table.rows))
        if J is not None:
            check_delassus(own["G"], own["M"], own["J"])
    checked = known_of(table, velocities, known)
    ours = blocks is None and mu_rolling is None and normal != "first" and J is None
    if ours and b is None and not description and not any(value is not None for value in known.values()):
        matrix: Entries = own["G"]
        return Problem(_core.make(int(joints), int(limits), dimension, array_of("mu", () if mu is None else mu),
                                  matrix.row, matrix.column, matrix.values, own["g"], own.get("R"), own.get("guess"),
                                  None, name))
    order = table.order()
    place = np.argsort(order)
    parts: Dict[str, Any] = {
        **checked, "block_rows": table.block_rows, "cone": table.cone, "shift": table.shift, "name": name,
        "description": description, "lower": table.lower[order], "upper": table.upper[order],
        "mu": table.mu[order], "groups": table.groups[order]}
    parts["answers"] = {title: vars(answer) for title, answer in in_rows(checked["answers"], order).items()}
    for word, value in own.items():
        if isinstance(value, Entries):
            parts[word] = (value.row if word == "M" else place[value.row],
                           place[value.column] if word == "G" else value.column, value.values, value.shape)
        else:
            parts[word] = value if word == "v_free" else value[order]
    for word in ("frame", "point", "bodies"):
        if word in parts:
            parts[word] = np.ravel(parts[word])
    core, given = _core.make_of_blocks(parts)
    return _GivenProblem(core, table, order, own, given)


def save(problem: Problem, file: Union[str, "PathLike[str]"]) -> None:
    """Writes a problem with all that is known of it. One of blocks is written in its blocks and rows, but the normal of
    each contact first; so is what problem() has more of than G, g and mu with normal="last". Any other is written in
    FCLIB's layout where that has a place for it, else by blocks in Conebench's order, which then is the file's."""
    _core.save(problem._core, getattr(problem, "_written", None), fspath(file))
