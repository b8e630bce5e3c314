"""Pinocchio's constraint solvers in a loop; kinematics, contact patches (coal), ADMM and PGS are those of its wheel.

A step: v_free = v + h aba(q, v). Contacts, joint friction, drives and limits are Pinocchio's constraints with the bias
gap/h. λ from the solver; v⁺ = v_free + M⁻¹ Jᵀ λ; q⁺ = q ⊕ h v⁺. A drive of limited effort is a row within ± h effort
with the compliance 1/(h damping + h² stiffness); one without a limit is implicit in M. What strikes gets e v⁻, not
gap/h."""

import math
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import coal
import numpy as np
import pinocchio as pin

from . import Cannot, Contact, State, Wrench
from ._tree import Tree
from ..phenomena.scene import (Array, Body, Box, Cylinder, Drive, HalfSpace, Hull, Joint, Part, Scene, Shape, Sphere,
                               matrix)

_near = 1e-3  # contacts are sought at least this far [m]
_core = 1e-5  # coal gets shapes smaller by this [m]: at distance 0 its normal of a face on a face may be any
_steep = 0.1  # faces with less of the normal than this bound no gap


class Pinocchio:
    """Options: `solver`, ADMM or PGS; attributes of its settings, by Pinocchio's names; `floating`, the joint of free
    bodies, "free-flyer" or "translation + spherical". The first keeps the centre's velocity in the turning body's axes,
    which an explicit step rotates with an error: a spinning body's speed grows."""

    id = "PINOCCHIO"
    package = "pin"
    variants: Dict[str, Dict[str, Any]] = {
        "default": {"solver": "ADMM"},
        "ADMM SPECTRAL + Anderson": {"solver": "ADMM", "admm_update_rule": "SPECTRAL", "anderson_capacity": 10},
        "ADMM, convex": {"solver": "ADMM", "solve_ncp": False},
        "PGS": {"solver": "PGS"},
        "best": {"solver": "ADMM", "admm_update_rule": "SPECTRAL", "anderson_capacity": 10, "max_iterations": 10000,
                 "absolute_feasibility_tol": 1e-10, "absolute_complementarity_tol": 1e-10,
                 "relative_feasibility_tol": 0.0, "relative_complementarity_tol": 0.0,
                 "floating": "translation + spherical"},
    }

    def about(self) -> Dict[str, str]:
        return {"version": pin.__version__, "coal": coal.__version__}

    def world(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> "PinocchioWorld":
        if not hasattr(pin, "ADMMConstraintSolver"):
            raise ImportError(f"PINOCCHIO: needs pin 4.1 or later, this is {pin.__version__}")
        left = dict(options)
        name, floating = left.pop("solver", "ADMM"), left.pop("floating", "free-flyer")
        if name not in ("ADMM", "PGS"):
            raise ValueError(f"PINOCCHIO: unknown solver {name!r}; known are ADMM, PGS")
        if floating not in ("free-flyer", "translation + spherical"):
            raise ValueError(f"PINOCCHIO: unknown floating {floating!r}")
        settings = getattr(pin, name + "SolverSettings")()
        for option, value in left.items():
            if option.startswith("_") or not hasattr(settings, option):
                raise ValueError(f"PINOCCHIO: unknown option {option!r} of {name}")
            setattr(settings, option, getattr(pin.ADMMUpdateRule, value) if option == "admm_update_rule" else value)
        for element, length in (("torsional friction", scene.material.torsion),
                                ("rolling friction", scene.material.rolling)):
            if length > 0:
                raise Cannot(element, "its contacts have three rows")
        return PinocchioWorld(scene, time_step, name, settings, floating)


class _Placed(NamedTuple):
    """A shape in the model."""

    body: str
    shape: Shape
    planes: Optional[Tuple[Array, Array]]  # of a polytope: outer normals and distances, in its frame


class _Found(NamedTuple):
    """A contact of two shapes."""

    first: int
    second: int
    point: Array
    axes: Array  # columns t1, t2, n; n from the first to the second
    gap: float


class _Model:
    """A scene as Pinocchio's model and geometry. A joint's frame has its child's axes."""

    def __init__(self, scene: Scene, time_step: float, floating: str) -> None:
        self.scene, self.tree = scene, Tree(scene)
        self.model, self.geometry = pin.Model(), pin.GeometryModel()
        self.model.gravity.linear = np.asarray(scene.gravity, float)
        self.joint: Dict[str, int] = {}
        self.lever: Dict[str, Array] = {}  # of the centre of mass, in the joint's frame
        self._start: Dict[str, Any] = {}
        for body in self.tree.order:
            self._add(body, floating)
        self.shapes: List[_Placed] = []
        for body in scene.bodies:
            for part in body.parts:
                self._shape(body, part)
        self._pairs()
        armature = np.array(self.model.armature)
        for joint in scene.joints:
            if joint.drive is not None and math.isinf(joint.drive.effort):
                armature[self.row(joint)] = _mass(joint.drive, time_step)
        self.model.armature = armature

    def row(self, joint: Joint) -> int:
        """Of the joint's velocity."""
        return int(self.model.joints[self.joint[joint.child]].idx_v)

    def coordinate(self, joint: Joint) -> int:
        return int(self.model.joints[self.joint[joint.child]].idx_q)

    def _add(self, body: Body, floating: str) -> None:
        joint = self.tree.joint.get(body.name)
        turn = matrix(body.rotation)
        if joint is None:
            kind, parent, placement = _floating(floating), 0, pin.SE3.Identity()
            self._start[body.name], lever = pin.SE3(turn, np.asarray(body.position, float)), np.zeros(3)
        else:
            if joint.kind not in ("hinge", "slide"):
                raise Cannot(f"joint {joint.kind}", "hinges and slides are known")
            make = pin.JointModelRevoluteUnaligned if joint.kind == "hinge" else pin.JointModelPrismaticUnaligned
            kind = make(turn.T @ np.asarray(joint.axis, float))
            here = pin.SE3(turn, np.asarray(joint.anchor, float))
            parent = self.joint.get(joint.parent or "", 0)
            placement = self._start[joint.parent or ""].inverse() * here if parent else here
            self._start[body.name] = here
            lever = turn.T @ (np.asarray(body.position, float) - joint.anchor)
        number = self.model.addJoint(parent, kind, placement, body.name)
        inertia = pin.Inertia(float(body.mass), lever, np.diag(np.asarray(body.inertia, float)))
        self.model.appendBodyToJoint(number, inertia, pin.SE3.Identity())
        self.joint[body.name], self.lever[body.name] = number, lever

    def _shape(self, body: Body, part: Part) -> None:
        number = self.joint.get(body.name, 0)
        frame = (pin.SE3(np.eye(3), self.lever[body.name]) if number
                 else pin.SE3(matrix(body.rotation), np.asarray(body.position, float)))
        place = frame * pin.SE3(matrix(part.rotation), np.asarray(part.position, float))
        shape, planes = _shape_of(part.shape)
        self.geometry.addGeometryObject(pin.GeometryObject(f"{body.name} {len(self.shapes)}", number, place, shape))
        self.shapes.append(_Placed(body.name, part.shape, planes))

    def _pairs(self) -> None:
        """All shapes of two bodies that may touch, those of a fixed body first."""
        apart = {frozenset(pair) for pair in self.scene.apart}
        apart |= {frozenset((joint.parent, joint.child)) for joint in self.scene.joints if joint.parent is not None}
        fixed = {body.name for body in self.scene.bodies if body.fixed}
        for second in range(len(self.shapes)):
            for first in range(second):
                a, b = self.shapes[first].body, self.shapes[second].body
                if a == b or {a, b} <= fixed or frozenset((a, b)) in apart:
                    continue
                pair = (second, first) if b in fixed else (first, second)
                self.geometry.addCollisionPair(pin.CollisionPair(*pair))

    def start(self) -> "Tuple[Array, Array]":
        """q and v."""
        q, v = pin.neutral(self.model), np.zeros(self.model.nv)
        for body in self.tree.order:
            joint = self.model.joints[self.joint[body.name]]
            a, b = joint.idx_q, joint.idx_v
            if body.name in self.tree.joint:
                v[b] = self.tree.joint[body.name].rate
                continue
            pose = self._start[body.name]
            q[a:a + 7] = [*pose.translation, *pin.Quaternion(pose.rotation).coeffs()]
            own = pose.rotation if joint.shortname() == "JointModelFreeFlyer" else np.eye(3)
            v[b:b + 3] = own.T @ np.asarray(body.velocity, float)
            v[b + 3:b + 6] = pose.rotation.T @ np.asarray(body.spin, float)
        return q, v


def _floating(name: str) -> Any:
    if name == "free-flyer":
        return pin.JointModelFreeFlyer()
    joint = pin.JointModelComposite(2)
    joint.addJoint(pin.JointModelTranslation())
    joint.addJoint(pin.JointModelSpherical())
    return joint


def _shape_of(shape: Shape) -> "Tuple[Any, Optional[Tuple[Array, Array]]]":
    """coal's core of it, and the planes of a polytope."""
    if isinstance(shape, Box):
        half = np.asarray(shape.half, float)
        return coal.Box(*(2 * (half - _core))), (np.vstack([np.eye(3), -np.eye(3)]), np.concatenate([half, half]))
    if isinstance(shape, Sphere):
        return coal.Sphere(float(shape.radius)), None
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius - _core, 2.0 * (shape.half - _core)), None
    if isinstance(shape, HalfSpace):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), (np.array([[0.0, 0.0, 1.0]]), np.zeros(1))
    if isinstance(shape, Hull):
        points = np.asarray(shape.points, float)
        whole, middle = _hull(points), points.mean(axis=0)
        normals, reach = np.array(whole.normals()), -np.array(whole.offsets()).ravel()
        smaller = 1.0 - _core / float((reach - normals @ middle).min())
        return _hull(middle + smaller * (points - middle)), (normals, reach)
    raise Cannot(type(shape).__name__, "not a shape of coal's")


def _hull(points: Array) -> Any:
    listed = coal.StdVec_Vec3s()
    for point in points:
        listed.append(point)
    return coal.Convex.convexHull(listed, True, "Qt")


def _height(placed: _Placed, point: Array, normal: Array) -> Optional[float]:
    """How far a shape reaches along a unit normal from a point near its surface, in its frame; None: no face says."""
    shape, reach = placed.shape, []
    if placed.planes is not None:
        slope = placed.planes[0] @ normal
        facing = slope > _steep
        reach = list((placed.planes[1] - placed.planes[0] @ point)[facing] / slope[facing])
    elif isinstance(shape, Sphere):
        along = point @ normal
        reach = [math.sqrt(max(0.0, float(shape.radius**2 - point @ point + along**2))) - along]
    elif isinstance(shape, Cylinder):
        if abs(normal[2]) > _steep:
            reach.append(shape.half / abs(normal[2]) - point[2] / normal[2])
        across = normal[:2] @ normal[:2]
        if across > _steep**2:
            half, beyond = point[:2] @ normal[:2], point[:2] @ point[:2] - shape.radius**2
            reach.append((math.sqrt(max(0.0, half**2 - across * beyond)) - half) / across)
    return min(reach, default=None)


def _mass(drive: Drive, h: float) -> float:
    """What a drive at the end of a step adds to the joint's inertia; as a row of its own, one over its compliance."""
    return h * drive.damping + h * h * drive.stiffness


class PinocchioWorld:
    def __init__(self, scene: Scene, time_step: float, solver: str, settings: Any, floating: str) -> None:
        self._h, self._time = time_step, 0.0
        self._solver, self._settings = solver, settings
        self._made = _Model(scene, time_step, floating)
        self._scene, self._model, self._geometry = scene, self._made.model, self._made.geometry
        self._data, self._free = self._model.createData(), self._model.createData()
        self._shapes = self._geometry.createData()
        self._q, self._v = self._made.start()
        self._reach = {name: max((np.linalg.norm(np.asarray(part.position)) + _radius(part.shape)
                                  for part in scene.body(name).parts), default=0.0) for name in self._made.joint}
        self._of_joints = self._joint_rows()

    def state(self) -> State:
        data = self._free
        pin.forwardKinematics(self._model, data, self._q, self._v)
        rows = []
        for body in self._scene.moving:
            number, lever = self._made.joint[body.name], self._made.lever[body.name]
            pose, moving = data.oMi[number], data.v[number]
            velocity = pose.rotation @ (moving.linear + _cross(moving.angular, lever))
            rows.append((pose.act(lever), pose.rotation.copy(), velocity, pose.rotation @ moving.angular))
        shapes = ((3,), (3, 3), (3,), (3,))
        return State(self._time, *(np.array([row[k] for row in rows]).reshape(len(rows), *shape)
                                   for k, shape in enumerate(shapes)))

    def joint_rates(self) -> Dict[str, float]:
        return {joint.name: float(self._v[self._made.row(joint)]) for joint in self._scene.joints}

    def step(self, wrenches: Mapping[str, Wrench]) -> List[Contact]:
        model, data, h, q = self._model, self._data, self._h, self._q
        free = self._v + h * np.array(pin.aba(model, self._free, q, self._v, self._torques(), self._forces(wrenches)))
        mass = np.array(pin.crba(model, data, q, pin.Convention.WORLD))
        mass = np.triu(mass) + np.triu(mass, 1).T
        data.q_in = q  # limits measure this one
        found = self._contacts()
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for one in (*(self._contact(contact) for contact in found), *self._of_joints):
            models.append(pin.ConstraintModel(one))
            datas.append(models[-1].createData())
        impulse = np.zeros(0)
        if len(models):
            for one, its in zip(models, datas):
                one.calc(model, data, its)
            jacobian = np.array(pin.getConstraintsJacobian(model, data, models, datas)).reshape(-1, model.nv)
            bias = np.concatenate([self._contact_bias(found, jacobian, free), self._joint_bias(datas[len(found):])])
            impulse = self._solve(models, datas, jacobian @ free + bias)
            free = free + np.linalg.solve(mass, jacobian.T @ impulse)
        self._v = free
        self._q = pin.integrate(model, q, h * free)
        self._time += h
        return self._shown(found, impulse)

    def _solve(self, models: Any, datas: Any, g: Array) -> Array:
        """Pinocchio leaves its damping in an operator: a new one each step."""
        cholesky = pin.ConstraintCholeskyDecomposition(self._model, self._data, models, datas)
        cholesky.compute(self._model, self._data, models, datas, 1e-10)  # with 0, redundant rows give NaN
        result = getattr(pin, self._solver + "SolverResult")()
        operator = cholesky.getDelassusOperatorCholeskyExpression()
        getattr(pin, self._solver + "ConstraintSolver")().solve(operator, g, models, datas, self._settings, result)
        return np.array(result.retrieveConstraintImpulses())

    def _torques(self) -> Array:
        """Of drives without a limit: at the end of the step, but for what the armature takes."""
        torque = np.zeros(self._model.nv)
        for joint in self._scene.joints:
            drive, row = joint.drive, self._made.row(joint)
            if drive is not None and math.isinf(drive.effort):
                away = drive.position - self._q[self._made.coordinate(joint)] - self._h * self._v[row]
                torque[row] += drive.stiffness * away + drive.damping * (drive.velocity - self._v[row])
        return torque

    def _forces(self, wrenches: Mapping[str, Wrench]) -> Any:
        """About the joints' origins in their frames."""
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero()] * self._model.njoints)
        pin.forwardKinematics(self._model, self._free, self._q)
        for name, (push, torque) in wrenches.items():
            number = self._made.joint[name]
            turn = self._free.oMi[number].rotation.T
            own = turn @ np.asarray(push, float)
            forces[number] = pin.Force(own, turn @ np.asarray(torque, float) + _cross(self._made.lever[name], own))
        return forces

    def _contacts(self) -> List[_Found]:
        """Points of coal's patches, as far as bodies can come in this step."""
        pin.forwardKinematics(self._model, self._free, self._q, self._v)
        fastest = max((float(np.linalg.norm(self._free.v[number].linear)
                             + np.linalg.norm(self._free.v[number].angular) * (self._reach[name]
                             + np.linalg.norm(self._made.lever[name])))
                       for name, number in self._made.joint.items()), default=0.0)
        margin = _near + 2.0 * _core + 2.0 * self._h * fastest
        pin.updateGeometryPlacements(self._model, self._free, self._geometry, self._shapes)
        for request in self._shapes.collisionRequests:
            request.security_margin = request.break_distance = margin
            request.enable_contact = True  # else normals of box on box are NaN
            request.gjk_tolerance = 1e-9
        pin.computeCollisions(self._geometry, self._shapes, False)
        pin.computeContactPatches(self._geometry, self._shapes)
        found: List[_Found] = []
        for pair, hit, patches in zip(self._geometry.collisionPairs, self._shapes.collisionResults,
                                      self._shapes.contactPatchResults):
            if hit.isCollision():
                found += self._points(pair.first, pair.second, hit, patches)
        return found

    def _points(self, first: int, second: int, hit: Any, patches: Any) -> List[_Found]:
        contact = hit.getContact(0)
        normal = np.array(contact.normal)
        points, depth = [np.array(contact.pos)], float(contact.penetration_depth) - 2.0 * _core
        if patches.numContactPatches() and patches.getContactPatch(0).size():
            patch = patches.getContactPatch(0)
            points = [np.array(patch.getPoint(k)) for k in range(patch.size())]
        axes = _axes(normal)
        return [_Found(first, second, point, axes, self._gap(first, second, point, normal, depth)) for point in points]

    def _gap(self, first: int, second: int, point: Array, normal: Array, depth: float) -> float:
        """Between the surfaces along the normal through a point, where a patch has its least gap for all points."""
        total = 0.0
        for number, outward in ((first, normal), (second, -normal)):
            frame = self._shapes.oMg[number]
            height = _height(self._made.shapes[number], frame.actInv(point), frame.rotation.T @ outward)
            if height is None:
                return depth
            total -= height
        return total

    def _contact(self, found: _Found) -> Any:
        """Pinocchio's, its frame's third axis the normal."""
        frame = pin.SE3(found.axes, found.point)
        sides: List[Any] = []
        for shape in (found.first, found.second):
            joint = self._made.joint.get(self._made.shapes[shape].body, 0)
            sides += [joint, self._free.oMi[joint].inverse() * frame if joint else frame]
        model = pin.PointContactConstraintModel(self._model, *sides)
        model.setFriction(float(self._scene.material.friction))
        return model

    def _contact_bias(self, found: Sequence[_Found], jacobian: Array, free: Array) -> Array:
        """gap/h; where bodies strike in this step and there is restitution, e v⁻."""
        bias = np.zeros((len(found), 3))
        bias[:, 2] = np.array([contact.gap for contact in found]) / self._h
        if self._scene.material.restitution > 0 and found:
            rows = jacobian[2:3 * len(found):3]
            before = rows @ self._v
            strikes = (rows @ free + bias[:, 2] < 0) & (before < 0)
            bias[strikes, 2] = self._scene.material.restitution * before[strikes]
        return bias.ravel()

    def _joint_rows(self) -> List[Any]:
        """Constraints of joints, which stay the same."""
        models = []
        for joint in self._scene.joints:
            number = pin.StdVec_Index()
            number.append(self._made.joint[joint.child])
            if joint.friction > 0:
                models.append(self._bounded(number, joint.friction))
            drive = joint.drive
            if drive is not None and math.isfinite(drive.effort) and _mass(drive, self._h) > 0:
                models.append(self._bounded(number, drive.effort))
                models[-1].setCompliance(np.array([1.0 / _mass(drive, self._h)]))
                models[-1].name = joint.name
            if joint.limits is not None:
                low, high = np.full(self._model.nq, -np.inf), np.full(self._model.nq, np.inf)
                at = self._made.coordinate(joint)
                low[at], high[at] = (float(value) for value in joint.limits)
                always = np.full(self._model.nq, np.inf)
                models.append(pin.JointLimitConstraintModel(self._model, number, low, high, always))
        return models

    def _bounded(self, number: Any, force: float) -> Any:
        model = pin.JointFrictionConstraintModel(self._model, number)
        model.setFrictionLowerLimit(np.array([-float(force)]))
        model.setFrictionUpperLimit(np.array([float(force)]))
        model.setTimeStep(self._h)  # its bounds become impulses
        return model

    def _joint_bias(self, datas: Any) -> Array:
        bias: List[float] = []
        joints = {joint.name: joint for joint in self._scene.joints}
        for model, its in zip(self._of_joints, datas):
            if isinstance(model, pin.JointLimitConstraintModel):
                bias += list(np.array(its.extract().constraint_residual) / self._h)
            else:
                bias.append(-self._target(joints[model.name]) if model.name else 0.0)
        return np.array(bias)

    def _target(self, joint: Joint) -> float:
        """The velocity at which a drive has no force at the end of the step."""
        drive = joint.drive or Drive()
        away = drive.position - self._q[self._made.coordinate(joint)]
        force = float(drive.damping * drive.velocity + drive.stiffness * away)
        return force / (drive.damping + self._h * drive.stiffness)

    def _shown(self, found: Sequence[_Found], impulse: Array) -> List[Contact]:
        shown = []
        for k, contact in enumerate(found):
            own = contact.axes @ impulse[3 * k:3 * k + 3]
            if contact.gap <= _near or own.any():
                first, second = (self._made.shapes[shape].body for shape in (contact.first, contact.second))
                shown.append(Contact(first, second, contact.point, contact.axes[:, 2], contact.gap, own))
        return shown


def _axes(normal: Array) -> Array:
    """Two tangents and the normal, as columns."""
    first = _cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
    first /= np.linalg.norm(first)
    return np.column_stack([first, _cross(normal, first), normal])


def _cross(a: Array, b: Array) -> Array:
    """Of two vectors; numpy.cross takes 20 times as long."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _radius(shape: Shape) -> float:
    """Of the sphere about a shape's origin that holds it [m]."""
    if isinstance(shape, Box):
        return float(np.linalg.norm(shape.half))
    if isinstance(shape, Sphere):
        return shape.radius
    if isinstance(shape, Cylinder):
        return math.hypot(shape.radius, shape.half)
    return float(np.linalg.norm(shape.points, axis=1).max()) if isinstance(shape, Hull) else 0.0
