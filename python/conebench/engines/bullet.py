"""Bullet (`pip install pybullet`, zlib licence): PyBullet's world of bodies in reduced coordinates.

The default is PyBullet's own: 50 sequential impulses with a cone of friction, all bodies damped by 0.04 (1 + speed) a
second, hulls 1 mm larger than they are, coordinate speeds cut at 100; the others have none of the last three. Nothing
sleeps: PyBullet leaves that off. It bounces only above 0.2 m/s. A contact acts before bodies touch and takes gap / dt
off the bounce, which is thus left to chance; "best" lets contacts with restitution act once bodies overlap. A half
space gets one new point a step. The torques of torsional and rolling friction are not among the impulses."""

import ctypes
import os
import sys
import tempfile
import weakref
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import pybullet as bullet

from . import Cannot, Contact, State, Wrench
from ..phenomena.scene import (Array, Body, Box, Cylinder, HalfSpace, Hull, Joint, Material, Part, Scene, Sphere,
                               matrix, no_turn, quaternion)

_solvers = {"sequential impulses": bullet.CONSTRAINT_SOLVER_LCP_SI, "PGS": bullet.CONSTRAINT_SOLVER_LCP_PGS,
            "Dantzig": bullet.CONSTRAINT_SOLVER_LCP_DANTZIG}
_kinds = {"hinge": bullet.JOINT_REVOLUTE, "slide": bullet.JOINT_PRISMATIC}
# Options that are PyBullet's parameters.
_parameters = {"iterations": "numSolverIterations", "residual": "solverResidualThreshold", "contact_erp": "contactERP",
               "friction_erp": "frictionERP", "joint_erp": "erp", "slop": "contactSlop",
               "restitution_threshold": "restitutionVelocityThreshold", "cone": "enableConeFriction",
               "split_impulse_threshold": "splitImpulsePenetrationThreshold"}
_options = {*_parameters,
            "solver",  # of _solvers
            "damping",  # of all bodies [1/s]
            "margin",  # around hulls [m]
            "speed_limit",  # of coordinates [m/s, rad/s]
            "bounce_at_touch",  # with restitution contacts act once bodies overlap, and bounce at any speed
            "maximal"}  # bodies without joints are rigid bodies: other code of Bullet, with a pyramid of friction
_plain: Dict[str, Any] = {"damping": 0.0, "speed_limit": 1e4, "margin": 0.0}
Place = Tuple[int, int]  # PyBullet's body and link; link -1 is the base


class Bullet:
    id = "BULLET"
    package = "pybullet"
    variants: Dict[str, Dict[str, Any]] = {
        "default": {},
        **{f"{count} iterations": {**_plain, "iterations": count, "residual": 0.0} for count in (2, 10, 50, 200)},
        "pyramid": {**_plain, "cone": False},
        "PGS": {**_plain, "solver": "PGS"},
        "Dantzig": {**_plain, "solver": "Dantzig"},
        "rigid bodies": {**_plain, "maximal": True},
        "best": {**_plain, "iterations": 1000, "residual": 1e-20, "slop": 0.0, "bounce_at_touch": True},
    }

    def about(self) -> Dict[str, str]:
        return {"version": version("pybullet")}

    def world(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> "BulletWorld":
        unknown = sorted(set(options) - _options)
        if unknown:
            raise ValueError(f"BULLET: unknown options {', '.join(unknown)}; known: {', '.join(sorted(_options))}")
        if options.get("solver", "sequential impulses") not in _solvers:
            raise ValueError(f"BULLET: solver {options['solver']!r} is none of {', '.join(_solvers)}")
        return BulletWorld(scene, time_step, options)


class BulletWorld:
    """A scene in a PyBullet server of its own."""

    def __init__(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> None:
        _check(scene.material, options)
        self.scene, self.time_step, self._options, self._steps = scene, time_step, options, 0
        client = bullet.connect(bullet.DIRECT)
        self.at = {"physicsClientId": client}
        self.close = weakref.finalize(self, bullet.disconnect, client)
        self._touching = bool(options.get("bounce_at_touch")) and scene.material.restitution > 0.0
        self._places: Dict[str, Place] = {}
        self._joints: Dict[str, Place] = {}
        self._set_parameters()
        self._build()
        self._names = {place: name for name, place in self._places.items()}
        self._set_dynamics()
        self._set_apart()
        self._set_velocities()
        self._motors = [_Motor(self.at, time_step, joint, self._joints[joint.name]) for joint in scene.joints]

    def state(self) -> State:
        count = len(self.scene.moving)
        state = State(self._steps * self.time_step, np.empty((count, 3)), np.empty((count, 3, 3)),
                      np.empty((count, 3)), np.empty((count, 3)))
        for k, body in enumerate(self.scene.moving):
            number, link = self._places[body.name]
            if link < 0:
                position, turned = bullet.getBasePositionAndOrientation(number, **self.at)
                velocity, spin = bullet.getBaseVelocity(number, **self.at)
            else:
                found = bullet.getLinkState(number, link, 1, 1, **self.at)
                position, turned, velocity, spin = found[0], found[1], found[6], found[7]
            state.position[k], state.rotation[k] = position, matrix((turned[3], *turned[:3]))
            state.velocity[k], state.spin[k] = velocity, spin
        return state

    def step(self, wrenches: Mapping[str, Wrench]) -> List[Contact]:
        for motor in self._motors:
            motor.drive()
        for name, (force, torque) in wrenches.items():
            number, link = self._places[name]
            bullet.applyExternalForce(number, link, _floats(force), self._center(name), bullet.WORLD_FRAME, **self.at)
            bullet.applyExternalTorque(number, link, _floats(torque), bullet.WORLD_FRAME, **self.at)
        bullet.stepSimulation(**self.at)
        self._steps += 1
        return [self._contact(found) for found in bullet.getContactPoints(**self.at)]

    def joint_rates(self) -> Dict[str, float]:
        """[rad/s, m/s]"""
        return {motor.joint.name: motor.state()[1] for motor in self._motors}

    def _center(self, name: str) -> Tuple[float, ...]:
        number, link = self._places[name]
        if link < 0:
            return tuple(bullet.getBasePositionAndOrientation(number, **self.at)[0])
        return tuple(bullet.getLinkState(number, link, 0, 1, **self.at)[0])

    def _contact(self, found: Sequence[Any]) -> Contact:
        """PyBullet's normal points from its second body to its first, and its forces act on the first."""
        _, one, other, link, other_link, on_one, on_other, normal, gap, push, along, first, across, second = found
        force = push * np.array(normal) + along * np.array(first) + across * np.array(second)
        if self._touching and gap > 0.0:
            force = np.zeros(3)  # not solved: its friction is that of an earlier step
        return Contact(self._names[other, other_link], self._names[one, link],
                       0.5 * (np.array(on_one) + np.array(on_other)), np.array(normal), gap, self.time_step * force)

    def _set_parameters(self) -> None:
        bullet.setGravity(*_floats(self.scene.gravity), **self.at)
        bullet.setTimeStep(self.time_step, **self.at)
        given = {_parameters[name]: value for name, value in self._options.items() if name in _parameters}
        if self._touching:
            slow = 2.0 * self.time_step * float(np.linalg.norm(self.scene.gravity))
            given = {"contactERP": 0.002, "restitutionVelocityThreshold": slow, **given}
        bullet.setPhysicsEngineParameter(**given, **self.at)
        solver = self._options.get("solver", "sequential impulses")
        if solver != "sequential impulses":
            with _quiet():
                bullet.setPhysicsEngineParameter(constraintSolverType=_solvers[solver], **self.at)

    def _build(self) -> None:
        """A tree for each body that is no child, and one for each joint to a fixed body or the world."""
        children = {joint.child for joint in self.scene.joints}
        for body in self.scene.bodies:
            if body.name not in children:
                self._build_tree(body, [] if body.fixed else self._below(body.name, 0, []))
        for joint in self.scene.joints:
            if joint.parent is None or self.scene.body(joint.parent).fixed:
                self._build_tree(None, self._below(joint.child, 1, [(joint, 0)]))

    def _below(self, parent: str, number: int, found: List[Tuple[Joint, int]]) -> List[Tuple[Joint, int]]:
        """Depth first, each joint with its parent's number in the tree; the base is 0, links follow from 1."""
        for joint in self.scene.joints:
            if joint.parent == parent:
                found.append((joint, number))
                self._below(joint.child, len(found), found)
        return found

    def _build_tree(self, root: Optional[Body], joints: Sequence[Tuple[Joint, int]]) -> None:
        """The base's frame is its body's. A link's lies in its joint's anchor, turned as its body."""
        base = root or Body("", ())
        frames = [(np.array(base.position), matrix(base.rotation))]
        links: Dict[str, List[Any]] = {name: [] for name in (
            "linkMasses", "linkCollisionShapeIndices", "linkVisualShapeIndices", "linkPositions", "linkOrientations",
            "linkInertialFramePositions", "linkInertialFrameOrientations", "linkParentIndices", "linkJointTypes",
            "linkJointAxis")}
        for joint, parent in joints:
            body = self.scene.body(joint.child)
            rotation, origin = matrix(body.rotation), np.array(joint.anchor)
            center = rotation.T @ (np.array(body.position) - origin)
            position, turned = _relative(frames[parent], (origin, rotation))
            for name, value in zip(links, (
                    body.mass, self._shape(body, center), -1, position, turned, _floats(center), (0.0, 0.0, 0.0, 1.0),
                    parent, _kinds[joint.kind], _floats(rotation.T @ np.array(joint.axis)))):
                links[name].append(value)
            frames.append((origin, rotation))
        number = bullet.createMultiBody(
            baseMass=base.mass, baseCollisionShapeIndex=self._shape(base, np.zeros(3)),
            basePosition=_floats(base.position), baseOrientation=_last(base.rotation), **links,
            useMaximalCoordinates=int(bool(self._options.get("maximal")) and not joints),
            flags=bullet.URDF_USE_SELF_COLLISION, **self.at)
        if root:
            self._places[root.name] = (number, -1)
        for link, (joint, _) in enumerate(joints):
            self._places[joint.child] = self._joints[joint.name] = (number, link)

    def _shape(self, body: Body, center: Array) -> int:
        """Of a body whose centre of mass lies there in the frame of its link; -1: none."""
        if not body.parts:
            return -1
        if len(body.parts) == 1:
            return int(bullet.createCollisionShape(**_geometry(body.parts[0]), **_frame(body.parts[0], center),
                                                   **self.at))
        with tempfile.TemporaryDirectory() as folder:
            return int(bullet.createCollisionShapeArray(**_geometries(body.parts, center, folder), **self.at))

    def _set_dynamics(self) -> None:
        """Bullet takes the product of two bodies' coefficients; rolling and spinning ones times the other's sliding."""
        material, options = self.scene.material, self._options
        friction = material.friction**0.5
        mixed = 2.0 * friction or 1.0
        values = {"lateralFriction": friction, "rollingFriction": material.rolling / mixed,
                  "spinningFriction": material.torsion / mixed, "restitution": material.restitution**0.5}
        if self._touching:
            values["contactProcessingThreshold"] = 0.0
        for body in self.scene.bodies:
            own = dict(values)
            if not body.fixed:
                own.update(mass=body.mass, localInertiaDiagonal=_floats(body.inertia))
            if "margin" in options and any(isinstance(part.shape, Hull) for part in body.parts):
                own.update(collisionMargin=options["margin"])
            bullet.changeDynamics(*self._places[body.name], **own, **self.at)
        whole: Dict[str, float] = {}
        if "damping" in options:
            whole.update(linearDamping=options["damping"], angularDamping=options["damping"])
        if "speed_limit" in options:
            whole.update(maxJointVelocity=options["speed_limit"])
        for number in range(bullet.getNumBodies(**self.at)):
            bullet.changeDynamics(bullet.getBodyUniqueId(number, **self.at), -1, **whole, **self.at)

    def _set_apart(self) -> None:
        joined = [(joint.child, joint.parent) for joint in self.scene.joints if joint.parent is not None]
        for one, other in (*self.scene.apart, *joined):
            (number, link), (other_number, other_link) = self._places[one], self._places[other]
            bullet.setCollisionFilterPair(number, other_number, link, other_link, 0, **self.at)

    def _set_velocities(self) -> None:
        for body in self.scene.moving:
            number, link = self._places[body.name]
            if link < 0:
                bullet.resetBaseVelocity(number, _floats(body.velocity), _floats(body.spin), **self.at)
        for joint in self.scene.joints:
            bullet.resetJointState(*self._joints[joint.name], 0.0, joint.rate, **self.at)


class _Motor:
    """The limits, friction and drive of a joint. PyBullet has one motor a joint, which is on when it is made.

    Friction is the velocity motor with target 0 and a limited force. A drive is an explicit torque where the step can
    follow its gains; else the velocity motor with limited force, whose target is that of an implicit drive."""

    def __init__(self, at: Mapping[str, int], time_step: float, joint: Joint, place: Place) -> None:
        self.joint, self._at, self._time_step, self._place = joint, at, time_step, place
        self._stiff = 0.0
        if joint.limits:
            bullet.changeDynamics(*place, jointLowerLimit=joint.limits[0], jointUpperLimit=joint.limits[1], **at)
        self._turn(0.0, joint.friction)
        if joint.drive:
            ratio = self._mobility() * time_step * (joint.drive.damping + time_step * joint.drive.stiffness)
            self._stiff = ratio if ratio > 1.0 else 0.0
        if self._stiff and joint.friction:
            raise Cannot("joint friction", "a joint has one motor, which its stiff drive takes")

    def state(self) -> Tuple[float, float]:
        """q and q' [rad, m; a second]."""
        found = bullet.getJointState(*self._place, **self._at)
        return found[0], found[1]

    def drive(self) -> None:
        drive = self.joint.drive
        if drive is None:
            return
        q, rate = self.state()
        if self._stiff:
            h = self._time_step
            target = ((drive.stiffness * (drive.position - q) + drive.damping * drive.velocity)
                      / (h * drive.stiffness + drive.damping))
            self._turn(target, min(drive.effort, 1e10), self._stiff / (1.0 + self._stiff))
            return
        force = drive.stiffness * (drive.position - q) + drive.damping * (drive.velocity - rate)
        bullet.setJointMotorControl2(*self._place, bullet.TORQUE_CONTROL,
                                     force=min(max(force, -drive.effort), drive.effort), **self._at)

    def _turn(self, velocity: float, force: float, gain: float = 1.0) -> None:
        bullet.setJointMotorControl2(*self._place, bullet.VELOCITY_CONTROL, targetVelocity=velocity, force=force,
                                     velocityGain=gain, **self._at)

    def _mobility(self) -> float:
        """The joint's acceleration over its force at the start [1/kg, 1/(kg m^2)]."""
        number, link = self._place
        masses = np.array(bullet.calculateMassMatrix(number, [0.0] * bullet.getNumJoints(number, **self._at),
                                                     **self._at))
        row = len(masses) - bullet.getNumJoints(number, **self._at) + link
        return float(np.linalg.inv(masses)[row, row])


def _check(material: Material, options: Mapping[str, Any]) -> None:
    if material.friction > 10.0:
        raise Cannot("friction above 10", "Bullet cuts the product of two bodies' coefficients there")
    for name, value in (("torsional friction", material.torsion), ("rolling friction", material.rolling)):
        if value and not material.friction:
            raise Cannot(name, "Bullet multiplies it with sliding friction, which is 0")
        if value and (options.get("solver", "sequential impulses") != "sequential impulses"
                      or not options.get("cone", True)):
            raise Cannot(name, "only the sequential impulses with cone friction solve its rows")
    if options.get("maximal") and material.torsion and not material.rolling:
        raise Cannot("torsional friction", "Bullet's rigid bodies have it only beside rolling friction")


def _geometry(part: Part) -> Dict[str, Any]:
    """PyBullet's arguments."""
    shape = part.shape
    if isinstance(shape, Box):
        return {"shapeType": bullet.GEOM_BOX, "halfExtents": _floats(shape.half)}
    if isinstance(shape, Sphere):
        return {"shapeType": bullet.GEOM_SPHERE, "radius": float(shape.radius)}
    if isinstance(shape, Cylinder):
        return {"shapeType": bullet.GEOM_CYLINDER, "radius": float(shape.radius), "height": 2.0 * shape.half}
    if isinstance(shape, Hull):
        return {"shapeType": bullet.GEOM_MESH, "vertices": [_floats(point) for point in shape.points]}
    if isinstance(shape, HalfSpace):
        return {"shapeType": bullet.GEOM_PLANE, "planeNormal": (0.0, 0.0, 1.0)}
    raise Cannot(type(shape).__name__, "not a shape of Bullet")


def _frame(part: Part, center: Array) -> Dict[str, Any]:
    """Of a part in its link's frame. Without one Bullet makes no compound shape."""
    position = center + np.array(part.position)
    if not position.any() and tuple(part.rotation) == no_turn:
        return {}
    return {"collisionFramePosition": _floats(position), "collisionFrameOrientation": _last(part.rotation)}


def _geometries(parts: Sequence[Part], center: Array, folder: str) -> Dict[str, Any]:
    """PyBullet's arguments for several shapes. It takes their hulls from files."""
    found: Dict[str, List[Any]] = {name: [] for name in (
        "shapeTypes", "halfExtents", "radii", "lengths", "fileNames", "meshScales", "planeNormals",
        "collisionFramePositions", "collisionFrameOrientations")}
    for part in parts:
        one = _geometry(part)
        name = ""
        if "vertices" in one:
            name = tempfile.NamedTemporaryFile("w", suffix=".obj", dir=folder, delete=False).name
            _write_points(name, one["vertices"])
        for key, value in zip(found, (
                one["shapeType"], one.get("halfExtents", (0.0,) * 3), one.get("radius", 0.0), one.get("height", 0.0),
                name, (1.0,) * 3, (0.0, 0.0, 1.0), _floats(center + np.array(part.position)), _last(part.rotation))):
            found[key].append(value)
    return found


def _write_points(name: str, points: Sequence[Sequence[float]]) -> None:
    """An OBJ file in whose triangles each point is. Bullet takes their hull."""
    with open(name, "w", encoding="ascii") as file:
        for x, y, z in points:
            file.write(f"v {x:.17g} {y:.17g} {z:.17g}\n")
        for k in range(len(points) - 2):
            file.write(f"f {k + 1} {k + 2} {k + 3}\n")


def _relative(frame: Tuple[Array, Array], other: Tuple[Array, Array]) -> Tuple[Any, Any]:
    """The other's position and quaternion in a frame."""
    (origin, rotation), (point, turned) = frame, other
    return _floats(rotation.T @ (point - origin)), _last(quaternion(rotation.T @ turned))


def _floats(values: Any) -> Tuple[float, ...]:
    return tuple(float(value) for value in values)


def _last(turned: Sequence[float]) -> Tuple[float, ...]:
    """A quaternion as Bullet has it: (x, y, z, w)."""
    w, x, y, z = turned
    return _floats((x, y, z, w))


@contextmanager
def _quiet() -> Iterator[None]:
    """Bullet writes to the standard output of C."""
    sys.stdout.flush()
    saved, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(saved, 1)
        os.close(saved)
        os.close(null)
