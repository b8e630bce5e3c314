"""Newton's Kamino: its dual problem as it stands after SolverKamino.step (docs/capture_newton.md)."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple
from weakref import WeakKeyDictionary

import numpy as np

from .. import _core
from .._blocks import Array, Integers

Step = Dict[str, Any]
_unknown = -(2**63)
_solvers = {"padmm": "P-ADMM", "dvi": "DVI"}


class _Joints(NamedTuple):
    """Blocks of a world's joints, which stay the same: bilateral ones, then a row each of friction, of drives."""

    rows: List[int]
    names: List[str]
    bodies: List[Tuple[int, int]]


_known: "WeakKeyDictionary[Any, Dict[int, Tuple[int, _Joints]]]" = WeakKeyDictionary()


def step_of(solver: Any, state_in: Any = None, *, world: int = 0) -> Step:
    """The last step of a newton.solvers.SolverKamino with P-ADMM or DVI, to be called after solver.step().

    state_in: the newton.State that the step started from, for `velocity`; leave it out where the step wrote into it.
    world: which of the model's worlds. Rows: bilateral rows of joints, joint friction, effort-limited drives, limits,
    contacts (n, t1, t2); velocities are 6 a body, linear of the centre of mass and angular, in the world [m/s, rad/s].
    Bodies of infinite mass have no columns. Raises Error where the solver has no dual problem or made no step, and
    where this Newton keeps its arrays elsewhere."""
    version = getattr(__import__("newton"), "__version__", "?")
    try:
        return _step_of(solver, state_in, world, version)
    except AttributeError as error:
        raise _core.Error(f"newton: {error}; the capture was made for Newton 1.8, this is {version}") from None


def _step_of(solver: Any, state_in: Any, world: int, version: str) -> Step:
    if not hasattr(solver, "_solver_kamino"):
        raise _core.Error(f"newton: takes a SolverKamino, not {type(solver).__name__}")
    kamino = solver._solver_kamino
    kind, model, data = kamino.config.dynamics_solver, kamino._model, kamino.data
    if kind not in _solvers:
        raise _core.Error(f"newton: Kamino's {kind} has no dual problem; use dynamics_solver padmm or dvi")
    if not 0 <= world < model.size.num_worlds:
        raise _core.Error(f"newton: world {world} must be from 0 to {model.size.num_worlds - 1}")
    steps = int(data.time.steps.numpy()[world])
    if steps == 0:
        raise _core.Error("newton: the solver has made no step yet")
    problem, solved = kamino.problem_fd.data, kamino.solver_fd.data

    rows, row = _at(problem.dim, world), _at(problem.vio, world)
    joint_rows, intervals = _at(problem.njc, world), _at(problem.nbc, world)
    limits, contacts = _at(problem.nl, world), _at(problem.nc, world)
    first = rows - 3 * contacts
    own = slice(row, row + rows)
    scale = problem.P.numpy()[own].astype(float)

    body, end = model.info.bodies_offset.numpy()[world : world + 2].tolist()
    inverse_mass = model.bodies.inv_m_i.numpy()[body:end].astype(float)
    inverse_inertia = data.bodies.inv_I_i.numpy()[body:end].astype(float)
    moved = inverse_mass > 0
    _check_inertia(model, body, moved, inverse_inertia)
    blocks, columns, starts = _jacobian(kamino._jacobians, world, rows, end - body)
    free = problem.u_f.numpy()[body:end].astype(float)

    # Restitution's share of v_f is no longer known after the step but as the rest of v_f, in float32.
    bias = problem.v_b.numpy()[own].astype(float)
    row_of = np.repeat(np.arange(rows), np.diff(starts))
    product = np.bincount(row_of, np.einsum("kd,kd->k", blocks, free[columns]), rows)
    bounces = problem.v_i.numpy()[own] != 0
    bias[bounces] = (problem.v_f.numpy()[own] / scale - product)[bounces]
    still = ~moved[columns]
    bias += np.bincount(row_of[still], np.einsum("kd,kd->k", blocks[still], free[columns[still]]), rows)

    compliance = np.zeros(rows) if problem.compliance is None else problem.compliance.numpy()[own].astype(float)
    info = model.info
    for count, offset, at, values in (
            (info.num_joint_dynamic_cts, info.joint_dynamic_cts_offset, 0, data.joints.inv_m_j),
            (info.num_joint_effort_cts, info.joint_effort_cts_offset,
             joint_rows + _at(info.num_joint_friction_cts, world), data.joints.inv_m_a)):
        number, start = _at(count, world), _at(offset, world)
        if number:
            compliance[at : at + number] += values.numpy()[start : start + number]

    lower, upper = np.full(rows, -np.inf), np.full(rows, np.inf)
    bounded, start = slice(joint_rows, joint_rows + intervals), _at(problem.bcio, world)
    lower[bounded] = problem.bound_lower.numpy()[start : start + intervals] * scale[bounded]
    upper[bounded] = problem.bound_upper.numpy()[start : start + intervals] * scale[bounded]
    lower[joint_rows + intervals : first] = 0.0
    lower[first:] = upper[first:] = np.nan
    coefficient = problem.mu.numpy()[_at(problem.cio, world) :][:contacts].astype(float)
    mu = np.zeros(rows)
    mu[first:] = np.repeat(coefficient, 3) * np.tile([0.0, 1.0, 1.0], contacts)

    # Kamino's contacts have the normal last.
    order = np.arange(rows)
    order[first:] = first + 3 * np.repeat(np.arange(contacts), 3) + np.tile([2, 0, 1], contacts)
    impulse = solved.solution.lambdas.numpy()[own].astype(float)
    _check_delassus(kamino, world, blocks, row_of, inverse_mass[columns], inverse_inertia[columns], compliance, scale)

    listed = _joints(solver, model, world, joint_rows + intervals, body)
    gaps, names, bodies, identities = [np.nan] * len(listed.rows), list(listed.names), list(listed.bodies), [
        -1 - k for k in range(len(listed.rows))]
    if limits:
        reached = kamino._limits
        chosen = _of_world(reached, reached.lid, world, limits, "limits")
        gaps += reached.r_q.numpy()[chosen].tolist()
        bodies += [_local(pair, body) for pair in reached.bids.numpy()[chosen]]
        of = (getattr(reached, name).numpy()[chosen].tolist() for name in ("jid", "dof", "side"))
        for joint, dof, side in zip(*of):
            names.append(f"{model.joints.label[joint]}: {'lower' if side > 0 else 'upper'} limit, dof {dof}")
            identities.append(-(2**40) - 2 * dof - (side > 0))
    step: Step = {}
    if contacts:
        touching = solver._contacts_kamino
        chosen = _of_world(touching, touching.cid, world, contacts, "contacts")
        gaps += touching.gapfunc.numpy()[chosen, 3].astype(float).tolist()
        bodies += [_local(pair, body) for pair in touching.bid_AB.numpy()[chosen]]
        names += [" / ".join(_label(model.geoms.label, shape) for shape in pair)
                  for pair in touching.gid_AB.numpy()[chosen]]
        identities += _keys(touching.key.numpy()[chosen])
        ends = touching.position_A.numpy()[chosen], touching.position_B.numpy()[chosen]
        step["point"] = 0.5 * (ends[0] + ends[1]).astype(float)
        step["frame"] = _axes(touching.frame.numpy()[chosen].astype(float))[:, [2, 0, 1]]

    kept = np.flatnonzero(moved)
    place = np.cumsum(moved) - 1
    status = solved.status.numpy()[world]
    config = getattr(kamino.config, kind)
    tolerance = config.tolerance if kind == "dvi" else max(config.primal_tolerance, config.dual_tolerance,
                                                           config.compl_tolerance)
    said = "diverged" if not np.isfinite(impulse).all() else "converged" if status["converged"] else "max_iterations"
    step.update({
        "block_rows": np.concatenate([[0], np.cumsum(listed.rows + [1] * limits + [3] * contacts)]).astype(np.int64),
        "cone": np.repeat([0, 2], [len(listed.rows) + limits, contacts]).astype(np.uint8),
        "lower": lower, "upper": upper, "mu": mu,
        "M": _mass(inverse_mass[kept], inverse_inertia[kept]), "metric": "mass",
        "J": _rows_of(blocks[~still], place[columns[~still]], row_of[~still], order, 6 * len(kept)),
        "v_free": free[kept].ravel(), "b": bias[order], "R": compliance[order], "law": "ncp",
        "gap": np.array(gaps), "identity": np.array(identities, dtype=np.int64), "name": names,
        "bodies": np.array(bodies, dtype=np.int64).reshape(-1, 2), "body_names": list(model.bodies.label[body:end]),
        "time_step": float(model.time.dt.numpy()[world]), "time": float(data.time.time.numpy()[world]), "step": steps,
        "description": f"Newton {version}, Kamino, {kamino.config.integrator} steps",
        "answers": {f"Newton {version} Kamino {_solvers[kind]}": {
            "r": impulse[order], "iterations": int(status["iterations"]), "tolerance": float(tolerance), "status": said,
            "law": "ncp"}}})
    if state_in is not None:
        step["velocity"] = state_in.body_qd.numpy()[body:end][kept].astype(float).ravel()
    return step


def _at(array: Any, world: int) -> int:
    """The first number where an entry is a vector."""
    return int(np.ravel(array.numpy()[world])[0])


def _label(labels: List[str], k: int) -> str:
    return labels[k] if k >= 0 else "world"


def _local(pair: Any, first: int) -> Tuple[int, int]:
    """Bodies of a world as places in its list; the world stays -1."""
    a, b = (int(k) for k in pair)
    return (a - first if a >= 0 else -1, b - first if b >= 0 else -1)


def _check_inertia(model: Any, first: int, moved: Any, inverse: Array) -> None:
    turned = np.abs(inverse).max(axis=(1, 2)) > 0
    wrong = np.flatnonzero((moved != turned) | (moved & (np.linalg.matrix_rank(inverse, hermitian=True) < 3)))
    if wrong.size:
        raise _core.Error(f"newton: body {model.bodies.label[first + wrong[0]]} has an inverse mass or inertia that is "
                          "singular; M can't hold it")


def _jacobian(jacobians: Any, world: int, rows: int, bodies: int) -> Tuple[Array, Integers, Integers]:
    """Blocks of 1 x 6, their bodies, and the first block of each row. Zeros in a block are kept: one pattern a pair."""
    if hasattr(jacobians, "_J_cts"):
        parts = jacobians._J_cts.bsm
        start, count = _at(parts.nzb_start, world), _at(parts.num_nzb, world)
        at, column = parts.nzb_coords.numpy()[start : start + count].astype(np.int64).T
        order = np.lexsort((column, at))
        blocks = parts.nzb_values.numpy()[start : start + count].reshape(count, 6)[order].astype(float)
        at, column = at[order], column[order] // 6
    else:
        start = _at(jacobians.data.J_cts_offsets, world)
        dense = jacobians.data.J_cts_data.numpy()[start : start + 6 * rows * bodies].reshape(rows, bodies, 6)
        at, column = np.nonzero((dense != 0).any(axis=2))
        blocks = dense[at, column].astype(float)
    return blocks, column, np.searchsorted(at, np.arange(rows + 1))


def _check_delassus(kamino: Any, world: int, blocks: Array, row_of: Integers, mass: Array, inertia: Array,
                    compliance: Array, scale: Array) -> None:
    """Kamino's own diagonal is that of J M⁻¹ Jᵀ + R. A sparse Kamino never makes D."""
    if kamino.config.sparse_dynamics:
        return
    problem = kamino.problem_fd.data
    rows, start = len(scale), _at(problem.mio, world)
    # The solver has scaled D on both sides and P-ADMM has added its penalty.
    added = float(np.ravel(kamino.solver_fd.data.state.sigma.numpy()[world])[0])
    given = problem.D.numpy()[start : start + rows * rows : rows + 1].astype(float)
    each = mass * np.einsum("kd,kd->k", blocks[:, :3], blocks[:, :3])
    each += np.einsum("kd,kde,ke->k", blocks[:, 3:], inertia, blocks[:, 3:])
    made = (np.bincount(row_of, each, rows) + compliance) * scale**2 + added
    wrong = np.flatnonzero(~(np.abs(given - made) <= 1e-5 * np.abs(made)))
    if wrong.size:
        k = wrong[0]
        raise _core.Error(f"newton: D[{k}, {k}] of Kamino is {given[k]:.7g} in its units, J M^-1 J^T + R is "
                          f"{made[k]:.7g}; was the model changed after the step?")


def _joints(solver: Any, model: Any, world: int, rows: int, body: int) -> _Joints:
    cached = _known.setdefault(solver, {}).get(world)
    if cached and cached[0] == rows:
        return cached[1]
    joints, first = model.joints, _at(model.info.total_cts_offset, world)
    worlds = joints.wid.numpy()
    found: List[Tuple[int, int, str, Tuple[int, int]]] = []  # first row, rows, name, bodies
    for what, single in (("dynamic", False), ("kinematic", False), ("friction", True), ("effort", True)):
        counts, starts = (getattr(joints, name).numpy() for name in (f"num_{what}_cts", f"{what}_cts_offset_total_cts"))
        for k in np.flatnonzero((worlds == world) & (counts > 0)):
            pair = _local((joints.bid_B.numpy()[k], joints.bid_F.numpy()[k]), body)
            size = 1 if single else int(counts[k])
            found += [(int(starts[k]) - first + at, size, f"{joints.label[k]}: {what}", pair)
                      for at in range(0, int(counts[k]), size)]
    found.sort()
    if sum(size for _, size, _, _ in found) != rows:
        raise AttributeError(f"joints have {sum(size for _, size, _, _ in found)} rows, the problem has {rows}")
    made = _Joints([one[1] for one in found], [one[2] for one in found], [one[3] for one in found])
    _known[solver][world] = (rows, made)
    return made


def _of_world(listed: Any, number: Any, world: int, count: int, what: str) -> Integers:
    """Places of a world's limits or contacts in the order of its rows."""
    active = int((listed.model_active_limits if what == "limits" else listed.model_active_contacts).numpy()[0])
    at = np.flatnonzero(listed.wid.numpy()[:active] == world)
    at = at[np.argsort(number.numpy()[at])]
    if len(at) != count:
        raise _core.Error(f"newton: {len(at)} {what} are listed, {count} have rows; were they cleared after the step?")
    return at


def _keys(keys: Any) -> List[int]:
    """Kamino's keys, which are those of pairs of shapes, where a pair has one contact."""
    same, where, times = np.unique(keys, return_inverse=True, return_counts=True)
    plain = (times[where] == 1) & (keys < np.uint64(2**63))
    return [int(key) if known else _unknown for key, known in zip(keys, plain)]


def _axes(quaternions: Array) -> Array:
    """Axes of frames (t1, t2, n) as rows, of quaternions (x, y, z, w)."""
    x, y, z, w = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    axes: Array = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w),
                            2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w),
                            2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)], axis=1)
    return axes.reshape(-1, 3, 3)


def _mass(inverse_mass: Array, inverse_inertia: Array) -> Tuple[Array, Integers, Integers, Tuple[int, int]]:
    """Compressed rows of M: a mass three times and an inertia, for each body."""
    bodies = len(inverse_mass)
    inertia = np.linalg.inv(0.5 * (inverse_inertia + inverse_inertia.transpose(0, 2, 1)))
    inertia = 0.5 * (inertia + inertia.transpose(0, 2, 1))
    values = np.concatenate([np.repeat(1.0 / inverse_mass, 3).reshape(-1, 3), inertia.reshape(-1, 9)], axis=1)
    columns = 6 * np.arange(bodies)[:, None] + np.array([0, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5])
    starts = 12 * np.arange(bodies)[:, None] + np.array([0, 1, 2, 3, 6, 9])
    return values.ravel(), columns.ravel(), np.append(starts.ravel(), 12 * bodies), (6 * bodies, 6 * bodies)


def _rows_of(blocks: Array, columns: Integers, row_of: Integers, order: Integers,
             velocities: int) -> Tuple[Array, Integers, Integers, Tuple[int, int]]:
    """Compressed rows of J in another order of rows."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    sorted_ = np.argsort(place[row_of], kind="stable")
    starts = 6 * np.searchsorted(place[row_of][sorted_], np.arange(len(order) + 1))
    return (blocks[sorted_].ravel(), (6 * columns[sorted_][:, None] + np.arange(6)).ravel(), starts,
            (len(order), velocities))
