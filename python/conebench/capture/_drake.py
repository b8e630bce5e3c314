"""Drake's discrete step (`pip install drake`, BSD-3-Clause) as a problem: docs/capture_drake.md."""

from functools import lru_cache
from importlib.metadata import version
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from .. import _core
from .._blocks import Array

Step = Dict[str, Any]

_near_rigid = 1 / (4 * np.pi**2)  # Castro et al., arXiv:2110.10107, section V: R >= beta^2 / (4 pi^2) w
_sigma = 1e-3  # ibid.: R_t = sigma w
_beta = 0.1  # of all rows but contacts, which have the plant's sap_near_rigid_threshold
_limit_stiffness = 1e12  # N/m or N m/rad
_relaxation_time = 0.1  # s, of a geometry without the property
_window = 2.0  # a joint's limit is a row where so many steps at its speed reach it
_approximations = {"kSap": "SAP", "kSimilar": "SAP similar", "kLagged": "SAP lagged"}
_balance = 1e-2  # relative error from which on forces are missing, far above what SAP's tolerance leaves
_law = 1e-5  # relative difference from Drake's own impulses from which on its regularisation is another


class _Rows:
    """Blocks in the order in which they are added. J is that of the second body relative to the first."""

    def __init__(self) -> None:
        self.J: List[Array] = []
        self.R: List[Array] = []
        self.b: List[Array] = []
        self.lower: List[Array] = []
        self.upper: List[Array] = []
        self.mu: List[Array] = []
        self.cone: List[int] = []
        self.gap: List[float] = []
        self.identity: List[int] = []
        self.name: List[str] = []
        self.bodies: List[Tuple[int, int]] = []
        self.point: List[Array] = []
        self.frame: List[Array] = []

    def add(self, kind: int, number: int, name: str, bodies: Tuple[int, int], J: Array, R: Any, b: Any, gap: float,
            bounds: Tuple[float, float] = (np.nan, np.nan), mu: float = 0.0) -> None:
        count = len(J)
        self.J.append(J)
        self.R.append(np.broadcast_to(R, count))
        self.b.append(np.broadcast_to(b, count))
        self.lower.append(np.full(count, bounds[0]))
        self.upper.append(np.full(count, bounds[1]))
        self.mu.append(np.array([0.0, mu, mu]) if kind == _contact else np.zeros(count))
        self.cone.append(2 if kind == _contact else 0)
        self.gap.append(gap)
        self.identity.append((kind << 60) + number)
        self.name.append(name)
        self.bodies.append(bodies)


_contact, _limit, _drive, _constraint = range(4)


def _joined(parts: List[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0)


def _compressed(matrix: Array) -> Tuple[Array, Any, Any, Tuple[int, int]]:
    row, column = np.nonzero(matrix)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(matrix)))])
    return matrix[row, column], column, starts, (matrix.shape[0], matrix.shape[1])


class _Capture:
    """One step. A: the matrix that it uses, M plus the time step times the joints' damping."""

    def __init__(self, plant: Any, context: Any) -> None:
        self.plant, self.context = plant, context
        self.dt = plant.time_step()
        if self.dt == 0:
            raise _core.Error("drake: the plant is continuous; give it a time_step")
        if plant.has_sampled_output_ports():
            raise _core.Error("drake: contact results are a step late with sampled output ports; set "
                              "use_sampled_output_ports=False in MultibodyPlantConfig")
        approximation = plant.get_discrete_contact_approximation().name
        if approximation not in _approximations:
            raise _core.Error(f"drake: {approximation[1:].upper()} has no rows that are known; set "
                              "discrete_contact_approximation='sap'")
        self.compliant = approximation == "kSap"
        self.approximation = _approximations[approximation]
        self.joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
        self.joints = [joint for joint in self.joints if joint.num_velocities() > 0]
        for joint in self.joints:
            if joint.is_locked(context):
                raise _core.Error(f"drake: joint {joint.name()} is locked, which no row holds; unlock it")
        self.names = [plant.get_body(index).scoped_name().get_full() for index in _body_indices(plant)]
        self.rows = _Rows()
        self.positions: Dict[int, Array] = {}
        self.jacobians: Dict[int, Array] = {}
        self.velocity = np.array(plant.GetVelocities(context))
        update = plant.EvalUniquePeriodicDiscreteUpdate(context)
        if update.num_groups() != 1:
            raise _core.Error("drake: deformable bodies are not held by any row; capture a plant without them")
        self.after = np.array(update.value(0))[plant.num_positions():]
        self.A = plant.CalcMassMatrix(context)
        self.damping = np.zeros(plant.num_velocities())
        for joint in self.joints:
            first = joint.velocity_start()
            self.damping[first:first + joint.num_velocities()] = joint.GetDampingVector(context)
        np.einsum("ii->i", self.A)[:] += self.dt * self.damping
        self.driven = self._driven()
        self.v_free = self.velocity + self.dt * np.linalg.solve(self.A, self._forces())

    def _driven(self) -> List[Tuple[Any, float, float]]:
        """Actuators whose PD controller is at work, with their desired position and speed."""
        found = []
        plant = self.plant
        controlled: Dict[int, List[Any]] = {}
        for index in plant.GetJointActuatorIndices():
            actuator = plant.get_joint_actuator(index)
            if actuator.has_controller():
                controlled.setdefault(int(actuator.model_instance()), []).append(actuator)
        for actuators in controlled.values():
            port = plant.get_desired_state_input_port(actuators[0].model_instance())
            if port.HasValue(self.context):
                desired = np.array(port.Eval(self.context)).reshape(2, -1)
                found += [(actuator, float(desired[0, k]), float(desired[1, k])) for k, actuator in enumerate(actuators)]
        return found

    def _forces(self) -> Array:
        """All that acts but constraints, at the start of the step [N, N m], over velocities."""
        from pydrake.multibody.tree import MultibodyForces

        plant, context = self.plant, self.context
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        generalized = forces.mutable_generalized_forces()
        port = plant.get_applied_generalized_force_input_port()
        if port.HasValue(context):
            generalized += port.Eval(context)
        if plant.num_actuators():
            actuation = np.array(plant.get_net_actuation_output_port().Eval(context))
            for actuator, _, _ in self.driven:
                actuation[actuator.input_start()] = 0
            generalized += plant.MakeActuationMatrix() @ actuation
        port = plant.get_applied_spatial_force_input_port()
        if port.HasValue(context):
            for applied in port.Eval(context):
                body = plant.get_body(applied.body_index)
                arm = body.EvalPoseInWorld(context).rotation() @ applied.p_BoBq_B
                body.AddInForce(context, arm, applied.F_Bq_W, plant.world_frame(), forces)
        total: Array = -plant.CalcInverseDynamics(context, np.zeros(plant.num_velocities()), forces)
        return total

    def jacobian(self, body: Any, point: Array) -> Array:
        """Angular rows over those of the velocity of a point in the world that is fixed to the body."""
        from pydrake.multibody.tree import JacobianWrtVariable

        index = int(body.index())
        if index not in self.jacobians:
            world = self.plant.world_frame()
            self.jacobians[index] = self.plant.CalcJacobianSpatialVelocity(
                self.context, JacobianWrtVariable.kV, body.body_frame(), np.zeros(3), world, world)
            self.positions[index] = body.EvalPoseInWorld(self.context).translation()
        J = self.jacobians[index].copy()
        x, y, z = point - self.positions[index]
        J[3:] += np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]]) @ J[:3]  # w x arm
        return J

    def delassus(self, J: Array) -> float:
        """w of a constraint as SAP estimates it: with the diagonal of A alone."""
        return float(np.linalg.norm((J / np.diagonal(self.A)) @ J.T)) / len(J)

    def add_contacts(self) -> List[Array]:
        """Impulses that Drake reports."""
        from pydrake.math import RotationMatrix
        from pydrake.multibody.plant import CalcContactFrictionFromSurfaceProperties

        plant, context, dt = self.plant, self.context, self.dt
        results = plant.get_contact_results_output_port().Eval(context)
        for k in range(results.num_hydroelastic_contacts()):
            surface = results.hydroelastic_contact_info(k).contact_surface()
            inspector = plant.get_geometry_query_input_port().Eval(context).inspector()
            names = " - ".join(inspector.GetName(id) for id in (surface.id_M(), surface.id_N()))
            raise _core.Error(f"drake: contact {names} is hydroelastic, which no row holds; set contact_model='point'")
        if results.num_deformable_contacts():
            raise _core.Error("drake: contacts of deformable bodies are not held by any row")
        impulses: List[Array] = []
        if results.num_point_pair_contacts() == 0:
            return impulses
        inspector = plant.get_geometry_query_input_port().Eval(context).inspector()
        heaviest = max(plant.get_body(index).default_mass() for index in _body_indices(plant))
        # MultibodyPlant::set_penetration_allowance: half of a geometry's stiffness is m g / allowance, and the time
        # scale sqrt(allowance / g).
        default = 2 * heaviest / plant.get_contact_penalty_method_time_scale()**2
        for k in range(results.num_point_pair_contacts()):
            info = results.point_pair_contact_info(k)
            pair = info.point_pair()
            materials = [inspector.GetProximityProperties(id) for id in (pair.id_A, pair.id_B)]
            stiffness = [float(material.GetPropertyOrDefault("material", "point_contact_stiffness", default))
                         for material in materials]
            k_both = 1 / sum(1 / each if each else np.inf for each in stiffness)
            tau = sum(float(material.GetPropertyOrDefault("material", "relaxation_time", _relaxation_time))
                      for material in materials)
            mu = CalcContactFrictionFromSurfaceProperties(
                *(material.GetProperty("material", "coulomb_friction") for material in materials)).dynamic_friction()
            bodies = [plant.get_body(index) for index in (info.bodyA_index(), info.bodyB_index())]
            point = np.array(info.contact_point())
            frame = RotationMatrix.MakeFromOneVector(-pair.nhat_BA_W, 2).matrix().T[[2, 0, 1]]
            J = frame @ (self.jacobian(bodies[1], point) - self.jacobian(bodies[0], point))[3:]
            if self.compliant:
                w = self.delassus(J)
                beta = plant.get_sap_near_rigid_threshold()
                normal = max(beta**2 * _near_rigid * w, 1 / (dt * k_both * (dt + tau)) if k_both else np.inf)
                R, bias = np.array([normal, _sigma * w, _sigma * w]), -pair.depth / (dt + tau)
            else:  # f = k (depth - dt v_n), without Hunt and Crossley's factor and without regularised friction
                R, bias = np.array([1 / (dt**2 * k_both) if k_both else np.inf, 0, 0]), -pair.depth / dt
            name = " - ".join(inspector.GetName(id) for id in (pair.id_A, pair.id_B))
            if not np.isfinite(R[0]):
                raise _core.Error(f"drake: contact {name} has no stiffness, so no force; set point_contact_stiffness")
            self.rows.add(_contact, (pair.id_A.get_value() << 30) + pair.id_B.get_value(), name,
                          (int(bodies[0].index()), int(bodies[1].index())), J, R, np.array([bias, 0, 0]), -pair.depth,
                          mu=mu)
            self.rows.point.append(point)
            self.rows.frame.append(frame)
            impulses.append(dt * frame @ info.contact_force())
        return impulses

    def add_limits(self) -> None:
        dt = self.dt
        for joint in self.joints:
            if joint.num_velocities() != 1 or joint.num_positions() != 1:
                continue
            first = joint.velocity_start()
            position = joint.GetOnePosition(self.context)
            reach = _window * dt * max(abs(self.velocity[first]), abs(self.v_free[first]))
            bodies = int(joint.parent_body().index()), int(joint.child_body().index())
            for side, gap in ((0, position - joint.position_lower_limits()[0]),
                              (1, joint.position_upper_limits()[0] - position)):
                if not gap <= reach:
                    continue
                J = np.zeros((1, len(self.velocity)))
                J[0, first] = -1 if side else 1
                R = max(_beta**2 * _near_rigid * self.delassus(J), 1 / (2 * dt**2 * _limit_stiffness))
                self.rows.add(_limit, 2 * int(joint.index()) + side, f"{joint.name()} {('lower', 'upper')[side]} limit",
                              bodies[::-1] if side else bodies, J, R, gap / (2 * dt), gap, (0, np.inf))

    def add_drives(self) -> None:
        """Implicit PD controllers: the row of docs/sample_format.md, with the feed-forward in b."""
        dt = self.dt
        for actuator, position, speed in self.driven:
            joint, gains = actuator.joint(), actuator.get_controller_gains()
            port = self.plant.get_actuation_input_port()
            forward = port.Eval(self.context)[actuator.input_start()] if port.HasValue(self.context) else 0.0
            J = np.zeros((1, len(self.velocity)))
            J[0, joint.velocity_start()] = 1
            k_p, k_d = gains.p, gains.d
            least = _beta**2 * _near_rigid * self.delassus(J)
            if 1 / (dt * (dt * k_p + k_d)) < least:
                k_p = 1 / (2 * dt**2 * least)
                k_d = dt * k_p
            stiffness = dt * k_p + k_d
            bias = (k_p * (joint.GetOnePosition(self.context) - position) - k_d * speed - forward) / stiffness
            most = dt * actuator.effort_limit()
            bodies = int(joint.parent_body().index()), int(joint.child_body().index())
            self.rows.add(_drive, int(actuator.index()), f"{actuator.name()} drive", bodies, J, 1 / (dt * stiffness),
                          bias, np.nan, (-most, most))

    def _add_holonomic(self, number: int, name: str, bodies: Tuple[int, int], J: Array, error: Array,
                       stiffness: float = np.inf, tau: float = 0.0) -> None:
        """g + dt J v = 0 by a spring and a damper, or nearly rigid."""
        least = _beta**2 * _near_rigid * self.delassus(J)
        R = 1 / (self.dt * (self.dt + tau) * stiffness)
        if R < least:
            R, tau = least, self.dt
        self.rows.add(_constraint, number, name, bodies, J, R, error / (self.dt + tau), np.nan, (-np.inf, np.inf))

    def add_constraints(self, given: Mapping[Any, Tuple[Any, ...]]) -> None:
        plant, context = self.plant, self.context
        distances = plant.GetDistanceConstraintParams(context)
        for id in plant.GetConstraintIds():
            if not plant.GetConstraintActiveStatus(context, id):
                continue
            number = id.get_value()
            if id in distances:
                spec = distances[id]
                bodies = [plant.get_body(index) for index in (spec.bodyA(), spec.bodyB())]
                points = [body.EvalPoseInWorld(context) @ np.asarray(p)
                          for body, p in zip(bodies, (spec.p_AP(), spec.p_BQ()))]
                apart = points[1] - points[0]
                length = float(np.linalg.norm(apart))
                J = (apart / length) @ (self.jacobian(bodies[1], points[1]) - self.jacobian(bodies[0], points[0]))[3:]
                stiffness, damping = spec.stiffness(), spec.damping()
                self._add_holonomic(number, f"distance {number}", _pair(bodies), J[None, :],
                                    np.array([length - spec.distance()]), stiffness,
                                    0.0 if np.isinf(stiffness) else damping / stiffness)
            elif id in given:
                self._add_given(number, given[id])
            else:
                raise _core.Error(
                    f"drake: constraint {number} is a coupler, ball or weld, whose data Drake doesn't tell Python; "
                    "make it inactive, or give constraints={id: ('coupler', joint0, joint1, gear_ratio, offset)}, "
                    "('ball', A, p_AP, B, p_BQ) or ('weld', A, X_AP, B, X_BQ)")

    def _add_given(self, number: int, spec: Tuple[Any, ...]) -> None:
        kind = spec[0] if spec else ""
        expected = {"coupler": 5, "ball": 5, "weld": 5}.get(kind, 0)
        if len(spec) != expected:
            raise _core.Error(f"drake: constraints: {number} must be 'coupler', 'ball' or 'weld' with four arguments")
        context = self.context
        if kind == "coupler":
            joints, ratio, offset = spec[1:3], float(spec[3]), float(spec[4])
            J = np.zeros((1, len(self.velocity)))
            J[0, joints[0].velocity_start()] += 1
            J[0, joints[1].velocity_start()] -= ratio
            error = joints[0].GetOnePosition(context) - ratio * joints[1].GetOnePosition(context) - offset
            self._add_holonomic(number, f"coupler {number}", _pair([joint.child_body() for joint in joints[::-1]]), J,
                                np.array([error]))
            return
        bodies = [spec[1], spec[3]]
        places = [body.EvalPoseInWorld(context) @ (place if kind == "weld" else np.asarray(place, dtype=float))
                  for body, place in zip(bodies, (spec[2], spec[4]))]
        if kind == "ball":
            J = (self.jacobian(bodies[1], places[1]) - self.jacobian(bodies[0], places[0]))[3:]
            self._add_holonomic(number, f"ball {number}", _pair(bodies), J, places[1] - places[0])
            return
        middle = (places[0].translation() + places[1].translation()) / 2
        turn = places[0].rotation().InvertAndCompose(places[1].rotation()).ToAngleAxis()
        error = np.concatenate([places[0].rotation() @ (turn.angle() * turn.axis()),
                                places[1].translation() - places[0].translation()])
        self._add_holonomic(number, f"weld {number}", _pair(bodies),
                            self.jacobian(bodies[1], middle) - self.jacobian(bodies[0], middle), error)

    def answer(self, reported: List[Array]) -> Array:
        """The impulses of the step: contacts as Drake reports them, the rest by SAP's law at its velocity."""
        rows = self.rows
        J = np.concatenate(rows.J)
        y = -(J @ self.after + _joined(rows.b))
        R = _joined(rows.R)
        contacts = np.concatenate(reported) if reported else np.zeros(0)
        count = len(contacts)
        r: Array = np.concatenate([contacts, np.clip(y[count:] / R[count:], _joined(rows.lower)[count:],
                                                     _joined(rows.upper)[count:])])
        if self.compliant and count:
            by_law = _projected(y[:count].reshape(-1, 3), R[:count].reshape(-1, 3), _joined(rows.mu)[1:count:3])
            apart = np.abs(by_law - contacts.reshape(-1, 3)).max(axis=1)
            noise = 1e-12 * np.abs(self.after).max() / R[:count].reshape(-1, 3).min(axis=1)
            for k in np.flatnonzero(apart > _law * np.abs(contacts).max() + noise)[:1]:
                raise _core.Error(
                    f"drake: contact {rows.name[k]} has {np.array2string(contacts[3 * k:3 * k + 3], precision=4)} N s, "
                    f"where SAP's law gives {np.array2string(by_law[k], precision=4)}; made for Drake 1.51, without "
                    "surface speeds")
        change, pushed = self.A @ (self.after - self.v_free), J.T @ r
        scale = max(np.abs(pushed).max(), np.abs(change).max(), 1e-9 * np.abs(self.A @ self.after).max())
        wrong = np.abs(change - pushed)
        k = int(wrong.argmax())
        if wrong[k] > _balance * scale:
            raise _core.Error(
                f"drake: M (v+ - v_free) = J'r fails by {wrong[k] / scale:.1e} of its largest entry at "
                f"{self.plant.GetVelocityNames()[k]}: a force acts there that no row holds")
        return r


@lru_cache(None)
def _version() -> str:
    return version("drake")


def _body_indices(plant: Any) -> List[Any]:
    from pydrake.multibody.tree import BodyIndex

    return [BodyIndex(k) for k in range(plant.num_bodies())]


def _pair(bodies: Any) -> Tuple[int, int]:
    return int(bodies[0].index()), int(bodies[1].index())


def _projected(y: Array, R: Array, mu: Array) -> Array:
    """SAP's impulses of rows (n, t1, t2): the point of the cone nearest to y / R in R's norm (Castro et al., IV)."""
    y = y / R
    normal, tangent = y[:, 0], np.linalg.norm(y[:, 1:], axis=1)
    ratio = R[:, 1] / R[:, 0]
    stick = tangent <= mu * normal
    opened = ~stick & (normal <= -mu * ratio * tangent)
    force = np.where(stick, normal, (normal + mu * ratio * tangent) / (1 + mu**2 * ratio))
    along = np.where(stick, 1.0, mu * force / np.where(tangent > 0, tangent, 1.0))
    projected = np.column_stack([force, along[:, None] * y[:, 1:]])
    projected[opened] = 0
    return projected


def step_of(plant: Any, context: Any, constraints: Optional[Mapping[Any, Tuple[Any, ...]]] = None) -> Step:
    """The step that Drake is about to take from `context`, with Drake's own answer.

    plant: a finalized, discrete MultibodyPlant with use_sampled_output_ports=False. context: its own or the diagram's,
    before the update. Drake keeps the update that is evaluated, so that the simulator's own step is free; the context
    is not changed. constraints: for each coupler, ball and weld what was given to plant.Add…Constraint, by the id that
    it gave. Raises Error for what no row holds, and where M (v+ - v_free) = J'r does not hold."""
    try:
        plant.ValidateContext(context)
    except RuntimeError:
        context = plant.GetMyContextFromRoot(context)
    capture = _Capture(plant, context)
    reported = capture.add_contacts()
    capture.add_limits()
    capture.add_drives()
    capture.add_constraints(constraints or {})
    rows = capture.rows
    n_v = plant.num_velocities()
    J = np.concatenate(rows.J) if rows.J else np.zeros((0, n_v))
    contacts = len(rows.point)
    step: Step = {
        "block_rows": np.cumsum([0, *map(len, rows.J)], dtype=np.int64),
        "cone": np.array(rows.cone, dtype=np.uint8), "lower": _joined(rows.lower), "upper": _joined(rows.upper),
        "mu": _joined(rows.mu), "M": _compressed(capture.A), "metric": "effective" if capture.damping.any() else "mass",
        "J": _compressed(J), "v_free": capture.v_free, "b": _joined(rows.b), "R": _joined(rows.R),
        "law": "ccp" if capture.compliant else "ncp", "velocity": capture.velocity, "gap": np.array(rows.gap),
        "point": np.array(rows.point).reshape(contacts, 3), "frame": np.array(rows.frame).reshape(contacts, 3, 3),
        "identity": np.array(rows.identity, dtype=np.int64), "name": rows.name,
        "bodies": np.array(rows.bodies, dtype=np.int64).reshape(-1, 2), "body_names": capture.names,
        "time_step": capture.dt, "time": context.get_time()}
    name = f"Drake {_version()} {capture.approximation}"
    if rows.J:  # Drake raises where SAP does not converge
        step["answers"] = {name: {"r": capture.answer(reported), "status": "converged", "law": step["law"]}}
    return step
