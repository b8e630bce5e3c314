"""A step of MuJoCo as arrays.

MuJoCo minimises over the accelerations a: 1/2 |a - a_smooth|_M^2 + s(J a - a_ref), whose optimality is that of forces f
in cones with J a - a_ref + R f in the dual cones (MuJoCo's documentation, Computation: Constraint model). With impulses
r = h f this is the compliant CCP of sigma = J v+ + b + R r, v+ = v_free + M^-1 J^T r, v_free = v + h a_smooth and
b = -J v - h a_ref. The matrix M is that of the constraints; see docs/capture_mujoco.md for what a step does beside it.

After mj_step the arrays are those of the step, but qvel, qpos and time are of the next. The velocity before is read
from the bodies' velocities (cvel), which are of the step."""

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple
from weakref import WeakKeyDictionary

import mujoco as mj
import numpy as np

from .. import _core
from .._blocks import Array, Integers

Step = Dict[str, Any]

if not hasattr(mj.MjModel, "M_rowadr"):
    raise _core.Error(f"capture.mujoco: MuJoCo {mj.__version__} has no inertia in rows; take 3.3.6 or later: "
                      "pip install 'conebench[mujoco]'")

_equality, _friction_dof, _friction_tendon, _limit_joint, _limit_tendon, _pyramidal = (
    int(getattr(mj.mjtConstraint, "mjCNSTR_" + name)) for name in
    ("EQUALITY", "FRICTION_DOF", "FRICTION_TENDON", "LIMIT_JOINT", "LIMIT_TENDON", "CONTACT_PYRAMIDAL"))
_rk4 = int(mj.mjtIntegrator.mjINT_RK4)
_slide, _ball, _free = (int(getattr(mj.mjtJoint, "mjJNT_" + name)) for name in ("SLIDE", "BALL", "FREE"))
_solvers = {int(getattr(mj.mjtSolver, "mjSOL_" + name.upper())): name for name in ("PGS", "CG", "Newton")}
_solving = int(mj.mjtTimer.mjTIMER_CONSTRAINT)
_full = tuple(int(getattr(mj.mjtWarning, "mjWARN_" + name)) for name in ("CONTACTFULL", "CNSTRFULL"))
_passive = 4  # mjContact.exclude: a force of a flex, without rows
_tangents = ("t1", "t2", "spin", "roll1", "roll2")
_max_slots, _max_edges, _kinds = 256, 16, 8  # of identities: contacts of a pair, edges of a contact
_max_kept = 256  # sets of rows


class _Rows:
    """What depends on which constraints there are, and not on where they are."""

    block_rows: Integers
    cone: Any
    lower: Array
    upper: Array
    mu: Array
    groups: Integers
    identity: Integers  # of contacts: of the first one of a pair
    name: List[str]
    bodies: Integers
    contact: Integers  # of each contact with rows: its number in data.contact
    coned: Integers  # and of those with a cone
    of_block: Integers  # blocks of contacts: which of `contact`
    first_block: int  # that is a contact's
    contact_of_block: Integers
    limits: slice  # blocks
    limit_rows: slice
    no_gap: Array  # NaN
    edges: Integers  # blocks that are edges of a pyramid: each closes at a rate of its own, with no gap
    normal: Integers  # of each of `contact` its normal row, or its first edge
    rivals: Optional[Tuple[Integers, Integers]]  # pairs of contacts of the same two geoms
    pair: Integers  # one of `contact`
    plus: Optional[Integers]  # with pyramids as cones: rows of edges that make each row
    minus: Integers
    plus_share: Array
    minus_share: Array
    compliance_share: Array
    normals: Integers  # rows that are normals of pyramids
    pyramids: Any  # which of `contact` are pyramids
    tangents: Array  # mu of rows that are tangents of pyramids, else 0


class _Plan:
    """What a model's structure says."""

    def __init__(self, model: Any) -> None:
        self.model = model
        nv = int(model.nv)
        if nv == 0:
            raise _core.Error("capture.mujoco: nothing in the model can move; give a body a joint or a freejoint")
        count = np.asarray(model.M_rownnz)
        row = np.repeat(np.arange(nv), count)
        source = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(model.M_rowadr, count)
        column = np.asarray(model.M_colind)[source]
        below = row != column
        rows, columns = np.concatenate([row, column[below]]), np.concatenate([column, row[below]])
        order = np.lexsort((columns, rows))
        self.lower_of = np.concatenate([source, source[below]])[order]
        self.columns = columns[order].astype(np.int32)
        self.starts = np.searchsorted(rows[order], np.arange(nv + 1)).astype(np.int32)
        self.diagonal = np.flatnonzero(rows[order] == self.columns)
        self.row_of_entry = rows[order]
        self.shape = (nv, nv)

        kind = np.asarray(model.jnt_type)[model.dof_jntid]
        of_free, place = kind == _free, np.arange(nv) - np.asarray(model.jnt_dofadr)[model.dof_jntid]
        moves = (kind == _slide) | (of_free & (place < 3))
        self.dof_body, self.parent = np.asarray(model.dof_bodyid), np.asarray(model.body_parentid)
        self.dof_parent = self.parent[self.dof_body]
        self.part = np.concatenate([np.repeat(~moves[:, None], 3, 1), np.repeat(moves[:, None], 3, 1)], 1).astype(float)
        self.free = np.flatnonzero(of_free & (place == 0)).tolist()
        several = np.flatnonzero((model.body_dofnum > 1) & (model.body_jntnum > 1))
        self.several = [(body, model.body_dofadr[body][:, None] + np.arange(size)) for size in
                        np.unique(model.body_dofnum[several])
                        for body in [several[model.body_dofnum[several] == size]]]
        self.sides = int(model.ngeom) + int(model.nflexvert) + int(model.nflexelem) + 1
        self.body_names = [_name(model, "BODY", b) or f"body{b}" for b in range(model.nbody)]
        self.body_names[0] = _name(model, "BODY", 0) or "world"
        self.pairs: Dict[int, Tuple[str, Tuple[int, int]]] = {}  # names and bodies of contacts
        self.rows: Dict[Any, _Rows] = {}


@dataclass
class _Points:
    """Contacts of the step before."""

    rows: _Rows
    points: Array
    slots: Integers
    identity: Integers


class _Memory:
    """Of the last step of a data: points of contacts, for identities, and counts."""

    def __init__(self, plan: _Plan) -> None:
        self.plan = plan
        self.points: Dict[str, _Points] = {}
        self.solves, self.seconds = 0, 0.0
        self.dropped = 0


_plans: "WeakKeyDictionary[Any, _Plan]" = WeakKeyDictionary()
_memories: "WeakKeyDictionary[Any, _Memory]" = WeakKeyDictionary()


def step_of(model: Any, data: Any, *, pyramid: str = "edges") -> Step:
    """The step whose forces stand in data: the one that mj_step(model, data) made, or that mj_forward prepared.

    model, data: mujoco.MjModel and MjData. pyramid: "edges" or "cone" (docs/capture_mujoco.md). Gives the datasets of
    the format's version 4, M and a sparse J as (values, columns, starts, shape) of compressed rows. Raises Error."""
    if not isinstance(model, mj.MjModel) or not isinstance(data, mj.MjData):
        raise _core.Error(f"capture.mujoco: needs a mujoco.MjModel and its MjData, not {type(model).__name__} and "
                          f"{type(data).__name__}")
    memory = _memories.get(data)
    if memory is None or memory.plan.model is not model:
        memory = _memories[data] = _Memory(_plan_of(model))
    plan = memory.plan
    option, nefc = model.opt, data.nefc
    h = option.timestep
    if option.integrator == _rk4:
        raise _core.Error("capture.mujoco: a step of RK4 is made of four, with forces of the last in data; take the "
                          "integrator Euler, implicit, implicitfast or discrete")
    warnings = data.warning.number
    dropped = int(warnings[_full[0]]) + int(warnings[_full[1]])
    if dropped != memory.dropped:
        memory.dropped = dropped
        if dropped > 0:
            raise _core.Error(f"capture.mujoco: at {data.time:g} s contacts or rows did not fit into MuJoCo's memory "
                              "and were left out; enlarge the model's <size memory=…>")
    effective = bool(getattr(data, "efm_active", 0))
    rows = _rows_of(model, data, plan, h, effective, pyramid)
    M: Any = data.M.take(plan.lower_of), plan.columns, plan.starts, plan.shape
    if effective:
        M = _effective(model, data, plan)
    v = _velocity(data, plan, h)
    b: Any = np.empty(nefc)
    R = data.efc_R.copy()
    r: Any = h * data.efc_force
    if nefc > 0:
        mj.mj_mulJacVec(model, data, b, v)
        b += h * data.efc_aref
        np.negative(b, out=b)
    if rows.plus is not None:
        b = rows.plus_share * b[rows.plus] + rows.minus_share * b[rows.minus]
        R = rows.compliance_share * R[rows.plus]
        edges = r
        r = np.where(rows.tangents > 0, rows.tangents * (edges[rows.plus] - edges[rows.minus]), edges[rows.plus])
        r[rows.normals] = np.add.reduceat(edges, rows.normal)[rows.pyramids]
    contact = data.contact
    gap = rows.no_gap.copy()
    gap[rows.limits] = data.efc_pos[rows.limit_rows]
    if len(rows.of_block) > 0:
        gap[rows.first_block:] = contact.dist.take(rows.contact_of_block)
        gap[rows.edges] = np.nan
    step: Step = {
        "block_rows": rows.block_rows, "cone": rows.cone, "lower": rows.lower, "upper": rows.upper, "mu": rows.mu,
        "groups": rows.groups, "M": M, "metric": "effective" if effective else "mass",
        "J": _jacobian(model, data, plan, rows), "v_free": v + h * data.qacc_smooth, "b": b, "R": R, "law": "ccp",
        "velocity": v, "gap": gap, "identity": _identities(contact, memory, rows, pyramid), "name": rows.name,
        "bodies": rows.bodies, "body_names": plan.body_names, "time_step": h, "time": data.time,
        "answers": _answer(data, option, memory, r)}
    if len(rows.edges) > 0:
        step["description"] = ("contacts are the edges of MuJoCo's pyramids, n ± mu t: limits, on which no law says "
                               "anything about Coulomb's; cone=\"elliptic\" in the model makes them cones")
    if len(rows.coned) > 0:
        step["point"] = contact.pos.take(rows.coned, 0)
        step["frame"] = contact.frame.take(rows.coned, 0).reshape(-1, 3, 3)
    return step


def _plan_of(model: Any) -> _Plan:
    plan = _plans.get(model)
    if plan is None:
        plan = _plans[model] = _Plan(model)
    return plan


def _name(model: Any, kind: str, number: int) -> str:
    return mj.mj_id2name(model, getattr(mj.mjtObj, "mjOBJ_" + kind), number) or ""


# --- velocity before the step ---------------------------------------------------------------------------------------

def _velocity(data: Any, plan: _Plan, h: float) -> Array:
    """v [m/s, rad/s] with which the step began: cvel(body) - cvel(parent) = sum of cdof v over the body's dofs. Axes of
    a joint are unit directions at right angles."""
    twists, axes = data.cvel, data.cdof
    twist = twists.take(plan.dof_body, 0)
    twist -= twists.take(plan.dof_parent, 0)
    v: Array = np.einsum("ij,ij,ij->i", plan.part, axes, twist)
    for first in plan.free:  # less what the rotations give
        v[first:first + 3] -= v[first + 3:first + 6] @ axes[first + 3:first + 6, 3:]
    for body, dofs in plan.several:
        # The estimate keeps its value where axes in line leave that open.
        v[dofs] = (data.qvel - h * data.qacc)[dofs]
        axis, sought = axes[dofs], twists[body] - twists[plan.parent[body]]
        for _ in range(2):
            rest = sought - np.matmul(v[dofs][:, None], axis)[:, 0]
            v[dofs] += np.matmul(rest[:, None], np.linalg.pinv(axis, rcond=1e-10))[:, 0]
    return v


# --- matrices -------------------------------------------------------------------------------------------------------

def _effective(model: Any, data: Any, plan: _Plan) -> Any:
    """M + h D + h^2 K, in which the integrator `discrete` solves (MuJoCo's documentation, Computation: Integrators)."""
    if data.efm_active > 1 or data.nefmK > 0 or data.nefmcon > 0:
        flex = _name(model, "FLEX", 0) or "0"
        raise _core.Error(f"capture.mujoco: flex {flex}: its stiffness is in the matrix of the step, which isn't held; "
                          "leave it out")
    lower = data.M + data.efm_fluid if data.efm_fluid.size == data.M.size else data.M
    actuators, tendons, diagonal = data.nefmA, data.nefmT, data.efm_diag
    arms = data.actuator_moment
    if actuators == len(arms) > 0 and data.moment_rownnz.max() == 1:  # each on one velocity of its own
        diagonal = diagonal + np.bincount(data.moment_colind, data.efm_as[:actuators] * arms * arms, plan.shape[0])
        actuators = 0
    if actuators == 0 and tendons == 0:
        values = lower.take(plan.lower_of)
        values[plan.diagonal] += diagonal
        return values, plan.columns, plan.starts, plan.shape
    matrix = np.empty(plan.shape)
    mj.mju_sym2dense(matrix, lower, model.M_rownnz, model.M_rowadr, model.M_colind)
    matrix.ravel()[::len(matrix) + 1] += diagonal
    if actuators > 0:
        moments = np.empty((model.nout, plan.shape[0]))
        mj.mju_sparse2dense(moments, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind)
        moments = moments[model.actuator_outadr[data.efm_aid[:actuators]]]
        matrix += moments.T @ (data.efm_as[:actuators, None] * moments)
    if tendons > 0:
        moments = np.empty((model.ntendon, plan.shape[0]))
        mj.mju_sparse2dense(moments, data.ten_J.ravel(), model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind)
        moments = moments[data.efm_tid[:tendons]]
        matrix += moments.T @ (data.efm_ts[:tendons, None] * moments)
    return matrix


def _check_balance(model: Any, data: Any, plan: _Plan, effective: bool) -> None:
    """That the rows carry all of the constraints' force, and that the matrix is that of the step: a model may have what
    is not known here. To float32, of which MuJoCo-Warp's are."""
    if not data.M.any():
        raise _core.Error("capture.mujoco: data has no step yet; call mujoco.mj_step(model, data) first")
    force = np.zeros(plan.shape[0])
    if data.nefc > 0:
        mj.mj_mulJacTVec(model, data, force, data.efc_force)
    scale = max(1.0, float(np.abs(force).max()), float(np.abs(data.qfrc_smooth).max()))
    missing = np.abs(force - data.qfrc_constraint)
    if not missing.max() <= 1e-5 * scale:
        raise _core.Error(f"capture.mujoco: {_joint_of(model, int(missing.argmax()))} bears a constraint's force that "
                          "no row has (a flex's contact?); leave that element out")
    if effective:
        matrix, pushed = _effective(model, data, plan), data.qfrc_smooth + data.efm_c + data.efm_ca
        if isinstance(matrix, tuple):
            dense = np.zeros(plan.shape)
            dense[plan.row_of_entry, plan.columns] = matrix[0]
            matrix = dense
        missing = np.abs(matrix @ data.qacc_smooth - pushed)
        if not missing.max() <= 1e-5 * max(scale, float(np.abs(pushed).max())):
            raise _core.Error(f"capture.mujoco: the matrix of the integrator discrete has a term at "
                              f"{_joint_of(model, int(missing.argmax()))} that isn't known; take implicitfast")


def _joint_of(model: Any, dof: int) -> str:
    joint = int(model.dof_jntid[dof])
    name = _name(model, "JOINT", joint)
    return f"joint '{name}'" if name else f"joint {joint}"


def _jacobian(model: Any, data: Any, plan: _Plan, rows: _Rows) -> Any:
    count, nv = data.nefc, plan.shape[0]
    if not mj.mj_isSparse(model):
        J = data.efc_J[:count * nv].reshape(count, nv)
        if rows.plus is None:
            return J.copy()
        return rows.plus_share[:, None] * J[rows.plus] + rows.minus_share[:, None] * J[rows.minus]
    first, entries = data.efc_J_rowadr, data.efc_J_rownnz
    total = int(first[-1] + entries[-1]) if count > 0 else 0
    values, columns = data.efc_J[:total], data.efc_J_colind[:total]
    if rows.plus is None:
        starts = np.empty(count + 1, dtype=np.int32)
        starts[:count], starts[count] = first, total
        return values.copy(), columns.copy(), starts, (count, nv)
    # Two edges of a pair have the same columns.
    lengths = entries[rows.plus]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    at = np.arange(starts[-1])
    plus = at + np.repeat(first[rows.plus] - starts[:-1], lengths)
    minus = at + np.repeat(first[rows.minus] - starts[:-1], lengths)
    mixed = np.repeat(rows.plus_share, lengths) * values[plus] + np.repeat(rows.minus_share, lengths) * values[minus]
    return mixed, columns[plus], starts, (len(rows.plus), nv)


# --- rows -----------------------------------------------------------------------------------------------------------

def _rows_of(model: Any, data: Any, plan: _Plan, h: float, effective: bool, pyramid: str) -> _Rows:
    contact = data.contact
    parts = [data.efc_type.tobytes(), data.efc_id.tobytes(), data.efc_frictionloss.tobytes(), contact.geom.tobytes(),
             contact.friction.tobytes()]
    if data.nl > 0:
        first, sparse = data.ne + data.nf, mj.mj_isSparse(model)
        entries = slice(data.efc_J_rowadr[first], data.efc_J_rowadr[first + data.nl - 1] + 1) if sparse else \
            slice(first * plan.shape[0], (first + data.nl) * plan.shape[0])
        parts.append((data.efc_J[entries] < 0).tobytes())  # upper or lower
    if model.nflex > 0:
        passive = np.flatnonzero(contact.exclude == _passive)
        if len(passive) > 0:
            flex = int(contact.flex[passive[0]].max())
            raise _core.Error(f"capture.mujoco: flex {_name(model, 'FLEX', flex) or flex}: its contacts are no rows "
                              "(passive=\"true\"); make them active")
        parts += [contact.flex.tobytes(), contact.elem.tobytes(), contact.vert.tobytes()]
    key = (pyramid, h, effective, *parts)
    rows = plan.rows.get(key)
    if rows is None:
        if pyramid not in ("edges", "cone"):
            raise _core.Error(f"pyramid: must be 'edges' or 'cone', not {pyramid!r}")
        _check_balance(model, data, plan, effective)
        if len(plan.rows) >= _max_kept:
            plan.rows.clear()
        rows = plan.rows[key] = _make_rows(model, data, plan, h, pyramid)
    return rows


def _upper_sides(model: Any, data: Any, plan: _Plan) -> Any:
    """Of each limit's row, whether it is the upper one: then it holds the joint from going up."""
    first = data.ne + data.nf
    at = slice(first, first + data.nl)
    number, of_joint = data.efc_id[at], data.efc_type[at] == _limit_joint
    if mj.mj_isSparse(model):
        upper = data.efc_J[data.efc_J_rowadr[at]] < 0
    else:
        upper = (data.efc_J.reshape(-1, plan.shape[0])[at] < 0).any(1)
    upper[of_joint] |= model.jnt_type[number[of_joint]] == _ball
    tendon = number[~of_joint]
    distance, length, bounds = data.efc_pos[at][~of_joint], data.ten_length[tendon], model.tendon_range[tendon]
    upper[~of_joint] = np.abs(distance - length + bounds[:, 0]) > np.abs(distance - bounds[:, 1] + length)
    return upper


def _make_rows(model: Any, data: Any, plan: _Plan, h: float, pyramid: str) -> _Rows:
    rows = _Rows()
    kind, number, contact = data.efc_type, data.efc_id, data.contact
    equalities, frictions, limits = data.ne, data.nf, data.nl
    first_limit, scalars = equalities + frictions, equalities + frictions + limits
    names: List[str] = []
    bodies: List[Tuple[int, int]] = []
    identity: List[int] = []
    sizes: List[int] = []
    cone: List[int] = []

    def add(size: int, kind: int, code: int, name: str, of: Tuple[int, int], friction: int = 0) -> None:
        sizes.append(size)
        names.append(name)
        bodies.append(of)
        identity.append(code * _kinds + kind)
        cone.append(friction)

    starts = np.flatnonzero(np.diff(number[:equalities], prepend=-1)).tolist()
    for row, end in zip(starts, [*starts[1:], equalities]):
        add(end - row, _equality, int(number[row]), *_equality_of(model, int(number[row])))
    upper = _upper_sides(model, data, plan) if limits > 0 else np.zeros(0, dtype=bool)
    for row in range(equalities, scalars):
        side = int(row >= first_limit and upper[row - first_limit])
        add(1, int(kind[row]), int(number[row]) * 2 + side,
            *_scalar_of(model, plan, int(kind[row]), int(number[row]), side))
    rows.first_block = len(names)
    rows.limits, rows.limit_rows = slice(len(names) - limits, len(names)), slice(first_limit, scalars)

    rows.contact, first = np.unique(number[scalars:], return_index=True)
    rows.normal = first + scalars
    dims, friction = contact.dim.take(rows.contact), contact.friction.take(rows.contact, 0)
    rows.pyramids = kind[rows.normal] == _pyramidal
    rows.pair, labels, sides = _pairs_of(model, data, plan, rows.contact)
    as_edges = rows.pyramids & (pyramid == "edges")
    mu = [0.0] * scalars
    for k, dim in enumerate(dims.tolist()):
        code, of_kind = int(rows.pair[k]) * _max_slots * _max_edges, int(kind[rows.normal[k]])
        if as_edges[k]:
            mu += [0.0] * (2 * dim - 2)
            for edge in range(2 * dim - 2):
                add(1, of_kind, code + edge, f"{labels[k]}, edge {'+-'[edge % 2]}{_tangents[edge // 2]}", sides[k])
        else:
            mu += [0.0, *friction[k, :dim - 1].tolist()]
            add(dim, of_kind, code, labels[k], sides[k], 0 if dim == 1 else 3 if rows.pyramids[k] else 2)
    rows.of_block = np.repeat(np.arange(len(dims)), np.where(as_edges, 2 * dims - 2, 1))
    rows.contact_of_block = rows.contact[rows.of_block]
    rows.edges = rows.first_block + np.flatnonzero(as_edges[rows.of_block])
    rows.coned = rows.contact[(dims > 1) & ~as_edges]
    rows.block_rows = np.cumsum([0, *sizes]).astype(np.int64)
    rows.cone, rows.mu = np.array(cone, dtype=np.uint8), np.array(mu)
    bounded = np.repeat(rows.cone == 0, sizes)
    rows.lower, rows.upper = np.where(bounded, 0.0, np.nan), np.where(bounded, np.inf, np.nan)
    rows.lower[:equalities] = -np.inf
    rows.upper[equalities:first_limit] = h * data.efc_frictionloss[equalities:first_limit]
    rows.lower[equalities:first_limit] = -rows.upper[equalities:first_limit]
    rows.groups = (rows.mu > 0).astype(np.int64)
    rows.no_gap = np.full(len(names), np.nan)
    rows.name, rows.identity = names, np.array(identity, dtype=np.int64)
    rows.bodies = np.array(bodies, dtype=np.int64).reshape(-1, 2)
    same: Any = np.nonzero((rows.pair[:, None] == rows.pair) & ~np.eye(len(rows.pair), dtype=bool))
    rows.rivals = same if len(same[0]) > 0 else None
    rows.plus = None
    if pyramid == "cone" and rows.pyramids.any():
        _join_edges(rows, scalars, dims.tolist(), friction.tolist())
    return rows


def _join_edges(rows: _Rows, scalars: int, dims: List[int], friction: List[List[float]]) -> None:
    """Edges n + mu t and n - mu t of each tangent to rows n, t: sigma_n and sigma_t from the two edges', and
    compliances that bear the same energy where all pairs of edges bear the same force."""
    table = [(row, row, 1.0, 0.0, 1.0, 0.0) for row in range(scalars)]
    normals: List[int] = []
    for row, dim, coefficients, pyramidal in zip(rows.normal.tolist(), dims, friction, rows.pyramids.tolist()):
        if not pyramidal:
            table += [(row + k, row + k, 1.0, 0.0, 1.0, 0.0) for k in range(dim)]
            continue
        normals.append(len(table))
        table.append((row, row + 1, 0.5, 0.5, 0.5 / (dim - 1), 0.0))
        for k, mu in enumerate(coefficients[:dim - 1]):
            table.append((row + 2 * k, row + 2 * k + 1, 0.5 / mu, -0.5 / mu, 0.5 / mu**2, mu))
    columns = np.array(table).T
    rows.plus, rows.minus = columns[:2].astype(np.int64)
    rows.plus_share, rows.minus_share, rows.compliance_share, rows.tangents = columns[2:].copy()
    rows.normals = np.array(normals, dtype=np.int64)


def _equality_of(model: Any, number: int) -> Tuple[str, Tuple[int, int]]:
    """Its name, and its bodies: MuJoCo's row is the first one's velocity less the second's."""
    kind, on_sites = int(model.eq_type[number]), int(model.eq_objtype[number]) == int(mj.mjtObj.mjOBJ_SITE)
    first, second = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
    word = mj.mjtEq(kind).name[5:].lower()
    name = _name(model, "EQUALITY", number) or f"{word} {number}"
    if kind in (int(mj.mjtEq.mjEQ_CONNECT), int(mj.mjtEq.mjEQ_WELD)):
        body = model.site_bodyid if on_sites else np.arange(model.nbody)
        return name, (int(body[second]) if second >= 0 else 0, int(body[first]))
    if kind == int(mj.mjtEq.mjEQ_JOINT):
        return name, (int(model.jnt_bodyid[second]) if second >= 0 else 0, int(model.jnt_bodyid[first]))
    return name, (-1, -1)


def _scalar_of(model: Any, plan: _Plan, kind: int, number: int, side: int) -> Tuple[str, Tuple[int, int]]:
    """Name and bodies of a friction loss or a limit."""
    what = "friction" if kind in (_friction_dof, _friction_tendon) else ("upper limit" if side else "lower limit")
    if kind in (_friction_tendon, _limit_tendon):
        return f"{_name(model, 'TENDON', number) or f'tendon {number}'} {what}", (-1, -1)
    joint = int(model.dof_jntid[number]) if kind == _friction_dof else number
    body = int(model.jnt_bodyid[joint])
    name = _name(model, "JOINT", joint) or f"joint {joint} of {plan.body_names[body]}"
    dof = number - int(model.jnt_dofadr[joint]) if kind == _friction_dof else 0
    several = kind == _friction_dof and int(model.jnt_type[joint]) < int(mj.mjtJoint.mjJNT_SLIDE)
    return f"{name} {f'dof {dof} ' if several else ''}{what}", (int(plan.parent[body]), body)


def _pairs_of(model: Any, data: Any, plan: _Plan,
              numbers: Integers) -> Tuple[Integers, List[str], List[Tuple[int, int]]]:
    """Of contacts: a number of the two shapes, the name, the bodies."""
    contact = data.contact
    geoms = contact.geom.take(numbers, 0).astype(np.int64)
    if model.nflex > 0:
        flex, elem, vert = contact.flex.take(numbers, 0), contact.elem.take(numbers, 0), contact.vert.take(numbers, 0)
        of_vertex = model.ngeom + model.flex_vertadr[flex] + vert
        of_element = model.ngeom + model.nflexvert + model.flex_elemadr[flex] + elem
        geoms = np.where(geoms >= 0, geoms, np.where(vert >= 0, of_vertex, of_element))
    code = geoms[:, 0] * plan.sides + geoms[:, 1]
    labels: List[str] = []
    bodies: List[Tuple[int, int]] = []
    for of, (first, second) in zip(code.tolist(), geoms.tolist()):
        known = plan.pairs.get(of)
        if known is None:
            (name, body), (other_name, other) = _side_of(model, plan, first), _side_of(model, plan, second)
            known = plan.pairs[of] = f"{name} – {other_name}", (body, other)
        labels.append(known[0])
        bodies.append(known[1])
    return code, labels, bodies


def _side_of(model: Any, plan: _Plan, side: int) -> Tuple[str, int]:
    if side < model.ngeom:
        body = int(model.geom_bodyid[side])
        return _name(model, "GEOM", side) or f"geom {side} of {plan.body_names[body]}", body
    index, word = side - int(model.ngeom), "vertex"
    addresses = model.flex_vertadr
    body = int(model.flex_vertbodyid[index]) if index < model.nflexvert else -1
    if index >= model.nflexvert:
        index, word, addresses = index - int(model.nflexvert), "element", model.flex_elemadr
    flex = int(np.flatnonzero(addresses <= index)[-1])
    return f"{_name(model, 'FLEX', flex) or f'flex {flex}'} {word} {index - int(addresses[flex])}", body


def _identities(contact: Any, memory: _Memory, rows: _Rows, pyramid: str) -> Integers:
    """Contacts of the same two shapes are told apart by the nearest point in the step before."""
    before = memory.points.get(pyramid)
    if rows.rivals is None and before is None:
        return rows.identity
    points = contact.pos.take(rows.contact, 0)
    if before is not None and before.rows is rows:
        own, other = rows.rivals or (slice(0), slice(0))
        moved = ((points - before.points)**2).sum(1)
        if (((points[own] - before.points[other])**2).sum(1) > moved[own]).all():
            before.points = points
            return before.identity
    slots = _slots(rows.pair, points, before)
    if rows.rivals is None and not slots.any():
        memory.points.pop(pyramid, None)
        return rows.identity
    identity = rows.identity.copy()
    identity[rows.first_block:] += slots[rows.of_block] * (_max_edges * _kinds)
    memory.points[pyramid] = _Points(rows, points, slots, identity)
    return identity


def _slots(pair: Integers, points: Array, before: Optional[_Points]) -> Integers:
    """Of each contact its number among those of its two shapes: that of the nearest one before, else the least free."""
    slots, shapes = [-1] * len(pair), pair.tolist()
    taken = set()
    if before is not None:
        new, old = np.nonzero(pair[:, None] == before.rows.pair)
        order = np.argsort(((points[new] - before.points[old])**2).sum(1), kind="stable")
        for k, slot in zip(new[order].tolist(), before.slots[old[order]].tolist()):
            if slots[k] < 0 and (shapes[k], slot) not in taken:
                slots[k] = slot
                taken.add((shapes[k], slot))
    for k, of in enumerate(shapes):
        if slots[k] < 0:
            slots[k] = next(slot for slot in range(len(slots) + _max_slots) if (of, slot) not in taken)
            taken.add((of, slots[k]))
    return np.array(slots, dtype=np.int64)


# --- the engine's answer --------------------------------------------------------------------------------------------

def _answer(data: Any, option: Any, memory: _Memory, r: Array) -> Dict[str, Any]:
    iterations = data.solver_niter[:max(1, data.nisland)].tolist()
    answer: Dict[str, Any] = {
        "r": r, "iterations": sum(iterations), "tolerance": option.tolerance, "law": "ccp",
        "status": "converged" if max(iterations) < option.iterations else "max_iterations"}
    if option.noslip_iterations > 0:
        del answer["status"]  # its forces are no optimum, and it claims none
    timer = data.timer
    solves, seconds = int(timer.number[_solving]), float(timer.duration[_solving])
    if solves == memory.solves + 1 and seconds > memory.seconds:
        answer["seconds"] = seconds - memory.seconds
    memory.solves, memory.seconds = solves, seconds
    solver = int(option.solver)
    noslip = option.noslip_iterations
    return {f"MuJoCo {mj.__version__} {_solvers[solver]}{' noslip' if noslip > 0 else ''}": answer}
