"""DART (`pip install dartpy`, BSD-2-Clause): its World with a boxed LCP or exact Coulomb friction.

The default is DART's own: Dantzig, FCL, bodies at rest put to sleep; all other variants keep them awake. Not to be set
in Python: a friction below 1e-3 is none, a bounce needs 0.1 m/s after the impact, bodies are pushed apart with 0.01
depth / dt, at most 1 mm/s, and a contact's row has 1e-5 of its diagonal added."""

import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

import dartpy
import numpy as np

from . import Cannot, Contact, State, Wrench
from ..phenomena.scene import Array, Body, Box, Cylinder, Drive, Hull, Joint, Part, Scene, Sphere, matrix

_released = {"6.20.0": "2026-10-11"}  # upload time of the wheel in PyPI's index
_ground_half = (100.0, 100.0, 10.0)  # m, of the box that stands for a half space

_solvers = ("dantzig", "pgs", "nsgs", "fbf")
_laws = {"coulomb": dartpy.constraint.NsgsFrictionSolver.Law.Coulomb,
         "associated": dartpy.constraint.NsgsFrictionSolver.Law.Associated}
_detectors = {"fcl": dartpy.simulation.CollisionDetectorType.FCL, "dart": dartpy.simulation.CollisionDetectorType.DART,
              "bullet": dartpy.simulation.CollisionDetectorType.BULLET,
              "ode": dartpy.simulation.CollisionDetectorType.ODE}

_defaults: Dict[str, Any] = {
    "solver": "dantzig",  # pgs, nsgs, fbf; where one fails DART itself turns to its PGS
    "law": "coulomb",  # of nsgs; associated: the convex relaxation
    "detector": "fcl",  # dart, bullet, ode
    "ground": "box",  # plane: FCL and DART's own detector then give a box a single point
    "sleep": True,
    "split_impulse": False,  # pushes bodies apart without changing their velocities
    "iterations": None,  # of pgs, nsgs, fbf; None: DART's own
    "tolerance": None,
}


class Dart:
    id = "DART"
    package = "dartpy"
    variants: Dict[str, Dict[str, Any]] = {
        "default": {},
        "awake": {"sleep": False},
        "pgs": {"sleep": False, "solver": "pgs"},
        "pgs 300": {"sleep": False, "solver": "pgs", "iterations": 300, "tolerance": 1e-9},
        "nsgs": {"sleep": False, "solver": "nsgs"},
        "associated": {"sleep": False, "solver": "nsgs", "law": "associated", "iterations": 300, "tolerance": 1e-7},
        "fbf": {"sleep": False, "solver": "fbf"},
        "split impulse": {"sleep": False, "split_impulse": True},
        "plane": {"sleep": False, "ground": "plane"},
        "own detector": {"sleep": False, "detector": "dart"},
        "bullet detector": {"sleep": False, "detector": "bullet"},
        "ode detector": {"sleep": False, "detector": "ode", "ground": "plane"},
        # Bullet's points, since hulls that lie on each other walk with FCL's and ODE's. 1000 sweeps leave a third of the
        # drift of arches and houses of cards in three times the time.
        "best": {"sleep": False, "solver": "nsgs", "iterations": 300, "tolerance": 1e-7, "detector": "bullet"},
    }

    def about(self) -> Dict[str, str]:
        found = version("dartpy")
        return {"version": found, **({"released": _released[found]} if found in _released else {})}

    def world(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> "_World":
        unknown = sorted(set(options) - set(_defaults))
        if unknown:
            raise ValueError(f"DART: unknown options {', '.join(unknown)}; has {', '.join(_defaults)}")
        return _World(scene, time_step, {**_defaults, **options})


class _World:
    def __init__(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> None:
        _check(scene, options)
        self._scene, self._time_step, self._options = scene, time_step, options
        self._world = dartpy.simulation.World()
        self._world.setTimeStep(time_step)
        self._world.setGravity(scene.gravity)
        self._configure()
        self._nodes: Dict[str, Any] = {}
        self._joints: List[Tuple[Joint, Any]] = []
        self._held = {joint.child: joint for joint in scene.joints}
        for body in scene.bodies:
            self._add(body)
        self._separate()
        self._moving = [self._nodes[body.name] for body in scene.moving]

    def _configure(self) -> None:
        world, options = self._world, self._options
        world.setCollisionDetector(_detectors[options["detector"]])
        sleep = world.getDeactivationOptions()
        sleep.mEnabled = bool(options["sleep"])
        world.setDeactivationOptions(sleep)
        solver = world.getConstraintSolver()
        solver.setSplitImpulseEnabled(bool(options["split_impulse"]))
        _choose(solver, options)

    def _add(self, body: Body) -> None:
        """With its parents; a body without a moving parent begins a skeleton."""
        if body.name in self._nodes:
            return
        joint = self._held.get(body.name)
        parent = self._scene.body(joint.parent) if joint and joint.parent else None
        if parent is not None:
            self._add(parent)
        skeleton, node = self._made(body, joint, None if parent is None or parent.fixed else parent)
        self._nodes[body.name] = node
        if not body.fixed:
            node.setInertia(dartpy.dynamics.Inertia(body.mass, np.zeros(3), np.diag(body.inertia)))
        for number, part in enumerate(body.parts):
            self._add_shape(node, part, f"{body.name}/{number}")
        if skeleton is not None:
            self._world.addSkeleton(skeleton)

    def _made(self, body: Body, joint: Optional[Joint], parent: Optional[Body]) -> Tuple[Any, Any]:
        """A new skeleton, None where the body is added to its parent's, and the body's node."""
        pose = _pose(body.position, matrix(body.rotation))
        skeleton: Any = None
        if parent is None:
            skeleton = dartpy.dynamics.Skeleton(body.name)
            skeleton.enableSelfCollisionCheck()
        if body.fixed:
            link, node = skeleton.createWeldJointAndBodyNodePair()
            link.setTransformFromParentBodyNode(pose)
        elif joint is None:
            link, node = skeleton.createFreeJointAndBodyNodePair()
            link.setTransform(pose)
            link.setLinearVelocity(np.array(body.velocity))
            link.setAngularVelocity(np.array(body.spin))
        else:
            maker = skeleton if parent is None else self._nodes[parent.name].getSkeleton()
            create = getattr(maker, {"hinge": "createRevoluteJointAndBodyNodePair",
                                     "slide": "createPrismaticJointAndBodyNodePair"}[joint.kind])
            link, node = create(*([] if parent is None else [self._nodes[parent.name]]))
            anchor = _pose(joint.anchor, np.eye(3))
            before = dartpy.math.Isometry3() if parent is None else _pose(parent.position, matrix(parent.rotation))
            link.setTransformFromParentBodyNode(before.inverse().multiply(anchor))
            link.setTransformFromChildBodyNode(pose.inverse().multiply(anchor))
            link.setAxis(np.array(joint.axis))
            _furnish(link, joint)
            self._joints.append((joint, link))
        return skeleton, node

    def _add_shape(self, node: Any, part: Part, name: str) -> None:
        shape, middle = self._shape(part)
        turned = matrix(part.rotation)
        added = node.createShapeNode(shape, name)
        added.setRelativeTransform(_pose(np.array(part.position) + turned @ middle, turned))
        added.createCollisionAspect()
        surface = added.createDynamicsAspect()
        surface.setFrictionCoeff(self._scene.material.friction)  # the lower of two
        surface.setRestitutionCoeff(np.sqrt(self._scene.material.restitution))  # the product of two

    def _shape(self, part: Part) -> Tuple[Any, Array]:
        """And where its middle lies in the part's frame."""
        shape, middle, kinds = part.shape, np.zeros(3), dartpy.dynamics
        if isinstance(shape, Box):
            return kinds.BoxShape(2 * np.array(shape.half)), middle
        if isinstance(shape, Sphere):
            return kinds.SphereShape(shape.radius), middle
        if isinstance(shape, Cylinder):
            return kinds.CylinderShape(shape.radius, 2 * shape.half), middle
        if isinstance(shape, Hull):
            return _mesh(np.array(shape.points)), middle
        if self._options["ground"] == "plane":
            return kinds.PlaneShape(np.array([0.0, 0.0, 1.0]), 0.0), middle
        return kinds.BoxShape(2 * np.array(_ground_half)), np.array([0.0, 0.0, -_ground_half[2]])

    def _separate(self) -> None:
        """Bodies that do not touch each other."""
        blocked = self._world.getConstraintSolver().getCollisionOption().collisionFilter
        still = [body.name for body in self._scene.bodies if body.fixed]
        pairs = [*self._scene.apart, *((joint.parent, joint.child) for joint in self._scene.joints if joint.parent),
                 *((one, other) for k, one in enumerate(still) for other in still[:k])]
        for one, other in pairs:
            blocked.addBodyNodePairToBlackList(self._nodes[one], self._nodes[other])

    def state(self) -> State:
        poses = [node.getTransform() for node in self._moving]
        return State(self._world.getTime(), _rows([pose.translation() for pose in poses]),
                     np.array([pose.rotation() for pose in poses]).reshape(-1, 3, 3),
                     _rows([node.getLinearVelocity() for node in self._moving]),
                     _rows([node.getAngularVelocity() for node in self._moving]))

    def step(self, wrenches: Mapping[str, Wrench]) -> List[Contact]:
        for name, (force, torque) in wrenches.items():
            node = self._nodes[name]
            node.addExtForce(np.asarray(force, float))
            node.addExtTorque(np.asarray(torque, float), False)
        for joint, link in self._joints:
            if joint.drive is not None:
                link.setCommand(0, _command(joint.drive, link))
        self._world.step()  # forgets forces and commands
        asleep = self._still() if self._options["sleep"] else set()
        return [self._contact(contact, asleep) for contact in self._world.getLastCollisionResult().getContacts()]

    def _still(self) -> Set[str]:
        """Bodies without any speed: as good as asleep, since a solved step leaves some."""
        return {body.name for body in self._scene.bodies
                if body.fixed or not self._nodes[body.name].getSpatialVelocity().any()}

    def _contact(self, contact: Any, asleep: Set[str]) -> Contact:
        """DART's normal and force are those on its first body. Contacts of bodies asleep are not solved."""
        second, first = (body.getShapeFrame().getName().rpartition("/")[0]
                         for body in (contact.collisionObject1, contact.collisionObject2))
        force = np.array(contact.force)
        unsolved = first in asleep and second in asleep and not force.any()
        return Contact(first, second, np.array(contact.point), np.array(contact.normal), -contact.penetrationDepth,
                       None if unsolved else self._time_step * force)

    def joint_rates(self) -> Dict[str, float]:
        return {joint.name: link.getVelocity(0) for joint, link in self._joints}


def _check(scene: Scene, options: Mapping[str, Any]) -> None:
    for name, choices in (("detector", _detectors), ("solver", _solvers), ("law", _laws), ("ground", ("box", "plane"))):
        if options[name] not in choices:
            raise ValueError(f"DART: {name} {options[name]!r} is none of {', '.join(choices)}")
    for name in ("torsion", "rolling"):
        if getattr(scene.material, name) > 0:
            raise Cannot(name, "DART's contacts have friction along tangents alone")
    shapes = [part.shape for body in scene.bodies for part in body.parts]
    if options["detector"] == "dart" and any(isinstance(shape, Hull) for shape in shapes):
        raise Cannot("hull", "hulls fall through planes and each other with DART's own detector")
    for joint in scene.joints:
        drive = joint.drive
        if drive is not None and np.isfinite(drive.effort) and drive.stiffness > 0 and drive.damping == 0:
            raise Cannot("drive", "DART's joints have a spring without a limit of effort, and a servo of the speed")


def _furnish(link: Any, joint: Joint) -> None:
    """Speed at the start, friction, limits and drive."""
    link.setVelocity(0, joint.rate)
    link.setCoulombFriction(0, joint.friction)
    if joint.limits is not None:
        link.setPositionLowerLimit(0, joint.limits[0])
        link.setPositionUpperLimit(0, joint.limits[1])
        link.setLimitEnforcement(True)
    drive = joint.drive
    if drive is None:
        return
    if np.isfinite(drive.effort):
        link.setActuatorType(dartpy.dynamics.ActuatorType.SERVO)
        link.setForceLowerLimit(0, -drive.effort)
        link.setForceUpperLimit(0, drive.effort)
    else:
        link.setSpringStiffness(0, drive.stiffness)
        link.setRestPosition(0, drive.position)
        link.setDampingCoefficient(0, drive.damping)


def _command(drive: Drive, link: Any) -> float:
    """Without a limit of effort the joint's own spring and damper act, and a force in place of the damper's speed.
    DART's servo keeps a speed as well as its effort allows: the drive's law for large gains in the same ratio."""
    if not np.isfinite(drive.effort):
        return drive.damping * drive.velocity
    ratio = drive.stiffness / drive.damping if drive.stiffness > 0 else 0.0
    return drive.velocity + ratio * (drive.position - float(link.getPosition(0)))


def _choose(solver: Any, options: Mapping[str, Any]) -> None:
    """The solver of the LCP, or of exact friction."""
    name, iterations, tolerance = options["solver"], options["iterations"], options["tolerance"]
    kinds = dartpy.constraint
    if name == "dantzig":
        return
    if name == "pgs":
        own = kinds.PgsBoxedLcpSolverOption()
        own.mMaxIteration = iterations or own.mMaxIteration
        own.mDeltaXThreshold = tolerance or own.mDeltaXThreshold
        own.mRelativeDeltaXTolerance = tolerance or own.mRelativeDeltaXTolerance
        chosen = _another_pgs()
        for each in (chosen, solver.getSecondaryBoxedLcpSolver()):
            each.setOption(own)
    else:
        kind, most = {"nsgs": (kinds.NsgsFrictionSolver, "maxSweeps"),
                      "fbf": (kinds.FbfFrictionSolver, "maxOuterIterations")}[name]
        own = kind.Options()
        setattr(own, most, iterations or getattr(own, most))
        own.tolerance = tolerance or own.tolerance
        if name == "nsgs":
            own.law = _laws[options["law"]]
        chosen = kind(own)
    solver.setBoxedLcpSolver(chosen)


def _another_pgs() -> Any:
    """It has no constructor in Python: another world's. DART drops the impulses of a PGS that does not converge where
    there is no second solver, so the world's own stays."""
    return dartpy.simulation.World().getConstraintSolver().getSecondaryBoxedLcpSolver()


def _mesh(points: Array) -> Any:
    """The faces of a convex hull. DART makes meshes of files alone, and keeps single precision."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    lines = ["v " + " ".join(repr(float(x)) for x in point) for point in points]
    for corners, plane in zip(hull.simplices, hull.equations):
        a, b, c = corners
        outward = np.cross(points[b] - points[a], points[c] - points[a]) @ plane[:3] > 0
        lines.append("f " + " ".join(str(k + 1) for k in ((a, b, c) if outward else (a, c, b))))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "hull.obj").write_text("\n".join(lines) + "\n")
        model = Path(folder) / "hull.urdf"
        model.write_text(_urdf)
        skeleton = dartpy.utils.DartLoader().parseSkeleton(model.as_uri())
    return skeleton.getBodyNode(0).getShapeNode(0).getShape()


_urdf = """<robot name="hull"><link name="hull"><collision><geometry><mesh filename="hull.obj"/></geometry></collision>
</link></robot>"""


def _pose(position: Any, rotation: Array) -> Any:
    return dartpy.math.Isometry3(rotation, np.asarray(position, float))


def _rows(vectors: List[Array]) -> Array:
    return np.array(vectors, float).reshape(-1, 3)
