"""A step of Pinocchio 4 with constraints (docs/capture_pinocchio.md)."""

from collections import Counter
from functools import cached_property
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .. import _core
from .._blocks import Array, Integers

Step = Dict[str, Any]
_unknown = -(2**63)
_normal_first = np.array([2, 0, 1])


def step_of(model: Any, q: Any, v: Any, constraint_models: Sequence[Any], time_step: float, *, tau: Any = None,
            forces: Any = None, v_free: Any = None, g: Any = None, delassus: Any = None, result: Any = None,
            settings: Any = None, seconds: Optional[float] = None, identity: Optional[Sequence[int]] = None,
            names: Optional[Sequence[str]] = None, time: Optional[float] = None, step: Optional[int] = None,
            data: Any = None) -> Step:
    """The problem of a step of time_step [s] from (q, v), of constraint_models as they are selected now.

    v_free: v + Δt M⁻¹τ [m/s, rad/s]; None: v + Δt aba(q, v, tau, forces), with tau [N, N m] of n_v and the external
    forces of aba, both 0 by default. g: the free term that the solver got, over Pinocchio's rows [m/s]; None: J v_free.
    delassus: the operator that it got, for its compliance; None: that of the models. result, settings: of its
    ADMM or PGS, after solve(); without a result there is no answer. seconds: of the solver. identity, names: one a
    constraint model. data: a pinocchio.Data that may be written to; it saves its making.

    Needs nothing from the caller's data: positions, Jacobians, limits and bounds are computed from q. Raises Error for
    sizes that don't fit, and for a constraint whose set isn't one of Pinocchio's five."""
    import pinocchio as pin

    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    for word, given, size in (("q", q, model.nq), ("v", v, model.nv), ("tau", tau, model.nv),
                              ("v_free", v_free, model.nv), ("identity", identity, len(constraint_models)),
                              ("names", names, len(constraint_models))):
        if given is not None and np.shape(given) != (size,):
            raise _core.Error(f"pinocchio: {word} has the shape {np.shape(given)}, expected ({size},)")
    if not time_step > 0:
        raise _core.Error(f"pinocchio: time_step = {time_step} must be positive [s]")
    data = model.createData() if data is None else data
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for one in constraint_models:
        models.append(one if isinstance(one, pin.ConstraintModel) else pin.ConstraintModel(one))
        datas.append(models[-1].createData())
    if v_free is None:
        torque = np.zeros(model.nv) if tau is None else np.asarray(tau, dtype=float)
        of_forces = () if forces is None else (forces,)
        v_free = v + time_step * np.array(pin.aba(model, data, q, v, torque, *of_forces))
    upper_part = np.triu(pin.crba(model, data, q, pin.Convention.WORLD))
    data.q_in = q  # limits measure this one
    for one, own in zip(models, datas):
        one.calc(model, data, own)

    rows = _Rows(pin, model, models, datas, names, identity)
    J = np.array(pin.getConstraintsJacobian(model, data, models, datas)) if rows.count else np.zeros((0, model.nv))
    rows.name_joints(J)
    R = np.zeros(rows.count)
    if delassus is not None:
        R = np.array(delassus.getCompliance()).ravel()
    elif rows.count:
        R = np.concatenate([np.array(one.retrieveCompliance()).ravel() for one in models])
    order = rows.order
    made: Step = {
        **rows.described(), "M": upper_part + np.triu(upper_part, 1).T, "metric": "mass", "J": J[order],
        "v_free": np.asarray(v_free, dtype=float), "R": _sized("delassus", R, rows.count)[order], "law": "ncp",
        "velocity": v, "time_step": float(time_step), "description": f"Pinocchio {pin.__version__}"}
    if g is not None:
        made["b"] = (_sized("g", np.asarray(g, dtype=float).ravel(), rows.count) - J @ made["v_free"])[order]
    for word, value in (("time", time), ("step", step)):
        if value is not None:
            made[word] = value
    if result is not None:
        if g is None:
            raise _core.Error("pinocchio: result needs g, the free velocity that its solver got")
        name, answer = _answer(result, settings, rows.count)
        answer["r"] = answer["r"][order]
        made["law"] = answer["law"]
        if seconds is not None:
            answer["seconds"] = float(seconds)
        made["answers"] = {f"Pinocchio {pin.__version__} {name}": answer}
    return made


class _Rows:
    """Blocks of the constraints, in Pinocchio's rows."""

    def __init__(self, pin: Any, model: Any, models: Any, datas: Any, names: Optional[Sequence[str]],
                 identity: Optional[Sequence[int]]) -> None:
        self.joints = list(model.names)
        self.starts, self.widths, self.parents = (list(one) for one in (model.idx_vs, model.nvs, model.parents))
        self.sizes: List[int] = []
        self.cone: List[int] = []
        self.lower: List[float] = []
        self.upper: List[float] = []
        self.mu: List[float] = []
        self.gap: List[float] = []
        self.names: List[str] = []
        self.identity: List[int] = []
        self.bodies: List[Tuple[int, int]] = []
        self.point: List[Array] = []
        self.frame: List[Array] = []
        self._of_joints: List[Tuple[int, int, str]] = []  # block, kind, word
        for k, (one, own) in enumerate(zip(models, datas)):
            concrete, its = one.extract(), own.extract()
            called = (names[k] if names is not None else concrete.name) or ""
            known = _unknown if identity is None else int(identity[k])
            kind = type(concrete.set(its)).__name__ if hasattr(concrete, "set") else ""
            size = one.residualSize()
            if kind == "CoulombFrictionCone":
                mu = float(concrete.getFriction())
                self._add(3, 2, [np.nan] * 3, [np.nan] * 3, [mu, mu, 0.0], float(its.c1Mc2.translation[2]))
                self.point.append(np.array(its.oMc1.translation))
                self.frame.append(np.array(its.oMc1.rotation).T[_normal_first])
            elif kind == "FullSpaceCone":
                self._add(size, 0, [-np.inf] * size, [np.inf] * size, [0.0] * size, np.nan)
            elif kind == "BoxSet":
                bounds = np.array(its.friction_impulse_lower_limit), np.array(its.friction_impulse_upper_limit)
                for lower, upper in zip(*bounds):
                    self._add_joint_row(0, f"{called} friction", lower, upper, np.nan)
                continue
            elif kind == "NonNegativeOrthantCone":
                lower_rows = concrete.lowerResidualSize()
                for row, distance in enumerate(np.array(its.constraint_residual)):
                    side = row >= lower_rows
                    word = f"{called} {'upper' if side else 'lower'} limit"
                    self._add_joint_row(1 + side, word, 0.0, np.inf, float(distance))
                continue
            else:
                raise _core.Error(f"pinocchio: constraint {k} ({one.shortname()} {called!r}) has the set "
                                  f"{kind or 'none'}; known are contacts, anchors, joint friction and limits")
            pair = (int(concrete.joint1_id), int(concrete.joint2_id))
            self.bodies.append(pair)
            self.names.append(called or f"{'contact' if kind[0] == 'C' else 'anchor'} {k}: {self.joints[pair[1]]} on "
                              f"{self.joints[pair[0]]}")
            self.identity.append(known)
        self.count = len(self.lower)

    def _add(self, size: int, cone: int, lower: List[float], upper: List[float], mu: List[float], gap: float) -> None:
        self.sizes.append(size)
        self.cone.append(cone)
        self.lower += lower
        self.upper += upper
        self.mu += mu
        self.gap.append(gap)

    def _add_joint_row(self, kind: int, word: str, lower: float, upper: float, gap: float) -> None:
        self._of_joints.append((len(self.sizes), kind, word.strip()))
        self._add(1, 0, [lower], [upper], [0.0], gap)
        self.names.append("")
        self.bodies.append((0, 0))
        self.identity.append(_unknown)

    def name_joints(self, J: Array) -> None:
        """A joint's row of J has entries in the joint's own velocities alone."""
        if not self._of_joints:
            return
        rows = np.cumsum([0, *self.sizes])[[block for block, _, _ in self._of_joints]]
        columns = (J[rows] != 0).argmax(axis=1)
        joints = np.searchsorted(np.array(self.starts[1:]), columns, side="right").tolist()
        for (block, kind, word), column, joint in zip(self._of_joints, columns.tolist(), joints):
            several = f" (velocity {column - self.starts[joint]})" if self.widths[joint] > 1 else ""
            self.names[block] = f"{self.joints[joint]} {word}{several}"
            self.bodies[block] = (self.parents[joint], joint)
            self.identity[block] = -1 - 3 * column - kind

    @cached_property
    def order(self) -> Integers:
        """Pinocchio's row of each row with a contact's normal first."""
        order = np.arange(self.count)
        starts = np.cumsum([0, *self.sizes])[:-1][np.array(self.cone, dtype=int) > 0]
        order[starts[:, None] + np.arange(3)] = starts[:, None] + _normal_first
        return order

    def described(self) -> Step:
        times = Counter(self.identity)
        listed = np.array([one if times[one] == 1 else _unknown for one in self.identity], dtype=np.int64)
        mu = np.array(self.mu)[self.order] if self.count else np.zeros(0)
        made: Step = {
            "block_rows": np.cumsum([0, *self.sizes], dtype=np.int64),
            "cone": np.array(self.cone, dtype=np.uint8), "lower": np.array(self.lower), "upper": np.array(self.upper),
            "mu": mu, "gap": np.array(self.gap), "identity": listed, "name": self.names,
            "bodies": np.array(self.bodies, dtype=np.int64).reshape(-1, 2), "body_names": self.joints}
        if self.point:
            made["point"], made["frame"] = np.array(self.point), np.array(self.frame)
        return made


def _sized(name: str, values: Array, size: int) -> Array:
    if values.size != size:
        raise _core.Error(f"pinocchio: {name} has {values.size} rows, the constraints {size}; was the selection of "
                          "joint limits changed since?")
    return values


def _answer(result: Any, settings: Any, rows: int) -> Tuple[str, Step]:
    """Its solver and what it says."""
    name = type(result).__name__.replace("SolverResult", "")
    if name not in ("ADMM", "PGS") or not result.isValid():
        raise _core.Error(f"pinocchio: result must be an ADMMSolverResult or PGSSolverResult after solve(), not {name}")
    impulse = _sized("result", np.array(result.retrieveConstraintImpulses()), rows)
    claims = bool(result.converged)
    at_start = name == "ADMM" and result.delassus_decomposition_update_count == 1
    answer = {"r": impulse, "iterations": int(result.iterations) + (claims and not at_start), "law": "ncp",
              "status": "converged" if claims else "max_iterations" if np.isfinite(impulse).all() else "breakdown"}
    if settings is not None:
        answer["tolerance"] = max(settings.absolute_feasibility_tol, settings.absolute_complementarity_tol)
        if name == "ADMM" and not settings.solve_ncp:
            answer["law"] = "ccp"
    return name, answer
