"""Newton's solvers of rigid bodies on the CPU, in single precision.

Warp compiles kernels when they are first used, for half a minute a solver and again as much for joints, hulls and
restitution. All processes share its cache (WARP_CACHE_PATH)."""

import importlib.metadata
import inspect
import math
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import newton
import numpy as np
import warp as wp

from . import Cannot, Contact, State, Wrench
from ._tree import Tree
from ..phenomena.scene import (Array, Body, Box, Cylinder, HalfSpace, Hull, Joint, Part, Quaternion, Scene, Sphere,
                               Vector, matrix, quaternion)

_near = 1e-3  # a contact without force is shown up to this gap [m]; Newton's candidates reach to 0.1 m
_shape_names = ("ke", "kd", "kf", "gap")  # of ModelBuilder.ShapeConfig: stiffness, damping, friction slope, reach


@dataclass(frozen=True)
class _Solver:
    """What stands for a solver here."""

    name: str  # of newton.solvers
    lacks: Mapping[str, str] = field(default_factory=dict)  # elements of scenes, why
    fixed: Mapping[str, Any] = field(default_factory=dict)  # arguments that no option changes
    own_contacts: bool = False
    room: int = 0  # for contacts, a body; 0: as Newton estimates, which is far too much for Kamino's dense matrix


_penalty = {"restitution": "contacts are springs and dampers", "torsional friction": "mu_torsional is not read",
            "rolling friction": "mu_rolling is not read", "joint friction": "joint_friction is not read",
            "drive's effort limit": "joint_effort_limit is not read"}
_xpbd = {name: _penalty[name] for name in ("joint friction", "drive's effort limit")}
_kamino = {"torsional friction": "contacts have three rows", "rolling friction": "contacts have three rows"}
_steel = {"torsional friction": "its torsion row has no coefficient in m", "rolling friction": "mu_rolling is not read",
          "joint friction": "it has no such row on a CPU"}
_solvers = {
    "XPBD": _Solver("SolverXPBD", _xpbd),
    "VBD": _Solver("SolverVBD", _penalty),
    "Kamino P-ADMM": _Solver("SolverKamino", _kamino, {"dynamics_solver": "padmm"}, room=12),
    "Kamino DVI": _Solver("SolverKamino", _kamino, {"dynamics_solver": "dvi"}, room=12),
    "Kamino LOX": _Solver("SolverKamino", {}, {"dynamics_solver": "lox"}),
    "MuJoCo-Warp": _Solver("SolverMuJoCo", {"restitution": _penalty["restitution"]}, own_contacts=True, room=16),
    "Steel": _Solver("SolverSteel", _steel, {"enable_joint_limits": True}),
    "Featherstone": _Solver("SolverFeatherstone", _penalty),
    "SemiImplicit": _Solver("SolverSemiImplicit", _penalty),
}


class Newton:
    """Options: `solver`; `substeps` of a time step, or `substep`, the longest one [s]; `ke`, `kd`, `kf`, `gap` of the
    shapes; arguments of the solver's constructor, of Kamino those of its Config ("padmm.rho_0") and `speculative`:
    contacts that are apart stay in, without restitution, whose bounce they would take. Variants have the values of
    Newton's examples: default those of basic_shapes, others those of domino_spiral, where it has the solver."""

    id = "NEWTON"
    package = "newton"
    variants: Dict[str, Dict[str, Any]] = {
        "default": {"solver": "XPBD", "iterations": 5, "substep": 1 / 500},
        "XPBD": {"solver": "XPBD", "iterations": 20, "substep": 1 / 600},
        "VBD": {"solver": "VBD", "iterations": 10, "ke": 1e5, "kd": 0.0, "substep": 1 / 600},
        "Kamino P-ADMM": {"solver": "Kamino P-ADMM", "substep": 1 / 300},
        "Kamino DVI": {"solver": "Kamino DVI", "substep": 1 / 300},
        "Kamino LOX": {"solver": "Kamino LOX", "substep": 1 / 300},
        "MuJoCo-Warp": {"solver": "MuJoCo-Warp", "cone": "elliptic", "substep": 1 / 600},
        "Steel": {"solver": "Steel", "substep": 1 / 500},
        "Featherstone": {"solver": "Featherstone", "angular_damping": 0.0, "substep": 1 / 6000},
        "SemiImplicit": {"solver": "SemiImplicit", "angular_damping": 0.0, "substep": 1 / 6000},
        # A tolerance below Kamino's 1e-6 is beyond its precision, and only makes all iterations be done.
        "best": {"solver": "Kamino P-ADMM", "speculative": True, "gap": 0.01, "padmm.rho_0": 0.1},
    }

    def about(self) -> Dict[str, str]:
        return {"version": importlib.metadata.version("newton"), "precision": "float32",
                "warp": importlib.metadata.version("warp-lang")}

    def world(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> "NewtonWorld":
        left = dict(options)
        name = left.pop("solver", "XPBD")
        if name not in _solvers:
            raise ValueError(f"NEWTON: unknown solver {name!r}; known are {', '.join(_solvers)}")
        solver = _solvers[name]
        _check(scene, name, solver)
        substeps = max(left.pop("substeps", 1), math.ceil(time_step / left.pop("substep", time_step) * (1 - 1e-9)))
        shape = {key: left.pop(key) for key in _shape_names if key in left}
        _know(name, solver, left)
        wp.config.log_level = wp.LOG_WARNING
        with wp.ScopedDevice("cpu"):
            return NewtonWorld(scene, time_step, int(substeps), name, shape, left)


def _check(scene: Scene, name: str, solver: _Solver) -> None:
    material = scene.material
    used = {"restitution": material.restitution > 0, "torsional friction": material.torsion > 0,
            "rolling friction": material.rolling > 0,
            "joint friction": any(joint.friction > 0 for joint in scene.joints),
            "drive's effort limit": any(joint.drive is not None and math.isfinite(joint.drive.effort)
                                        for joint in scene.joints)}
    for element, why in solver.lacks.items():
        if used[element]:
            raise Cannot(element, f"{name}: {why}")


def _know(name: str, solver: _Solver, options: Mapping[str, Any]) -> None:
    """Raises ValueError for an option that the solver does not have."""
    kind = getattr(newton.solvers, solver.name)
    config = kind.Config(**solver.fixed) if solver.name == "SolverKamino" else None
    known = set(inspect.signature(kind.__init__).parameters) - {"self", "model"}
    for option in options:
        if config is not None:
            group, _, last = option.rpartition(".")
            holder = getattr(config, group, None) if group else config
            if option != "speculative" and ("." in group or not hasattr(holder, last) or last == "dynamics_solver"):
                raise ValueError(f"NEWTON: unknown option {option!r} of {name}")
        elif option not in known:
            raise ValueError(f"NEWTON: unknown option {option!r} of {name}")


def _transform(position: Any, rotation: Quaternion) -> wp.transform:
    w, x, y, z = rotation
    return wp.transform(wp.vec3(*(float(value) for value in position)), wp.quat(float(x), float(y), float(z), float(w)))


def _in_world(body: Body, part: Part) -> wp.transform:
    turn = matrix(body.rotation)
    return _transform(turn @ np.asarray(part.position, float) + body.position, quaternion(turn @ matrix(part.rotation)))


class _Builder:
    """A scene as a newton.Model. Bodies are numbered as in Scene.moving."""

    def __init__(self, scene: Scene, solver: str, shape: Mapping[str, float]) -> None:
        self.scene, self.tree = scene, Tree(scene)
        self.builder = newton.ModelBuilder(gravity=tuple(float(value) for value in scene.gravity))
        kind = getattr(newton.solvers, _solvers[solver].name)
        if solver in ("MuJoCo-Warp", "Steel") or solver.startswith("Kamino"):
            kind.register_custom_attributes(self.builder)
        material, config = scene.material, self.builder.default_shape_cfg
        if solver in ("Kamino P-ADMM", "Kamino DVI"):
            config.gap = _near  # candidates take room; these solvers leave out all that are apart
        config.density = 0.0
        config.mu, config.restitution = material.friction, material.restitution
        config.mu_torsional, config.mu_rolling = material.torsion, material.rolling
        for name, value in shape.items():
            setattr(config, name, float(value))
        self.of_shape: Optional[Dict[str, int]] = None
        if solver == "MuJoCo-Warp":  # contacts have three rows, four with torsion, six with rolling
            self.of_shape = {"mujoco:condim": 6 if material.rolling else 4 if material.torsion else 3}
            config.mu_torsional = max(material.torsion, 1e-5)  # mjMINMU
        self.names: List[str] = []  # of the bodies of shapes
        self.number = {body.name: number for number, body in enumerate(scene.moving)}
        self._bodies()
        self._joints()
        self._apart()
        if solver == "VBD":
            self.builder.color()

    def _bodies(self) -> None:
        for body in (*self.scene.moving, *(body for body in self.scene.bodies if body.fixed)):
            if not body.fixed:
                inertia = wp.mat33(*np.diag(np.asarray(body.inertia, float)).ravel().tolist())
                self.builder.add_link(xform=_transform(body.position, body.rotation), mass=float(body.mass),
                                      inertia=inertia, com=wp.vec3(0.0, 0.0, 0.0), lock_inertia=True, label=body.name)
            for part in body.parts:
                self._shape(body, part)
                self.names.append(body.name)

    def _shape(self, body: Body, part: Part) -> None:
        number = self.number.get(body.name, -1)
        place = _in_world(body, part) if body.fixed else _transform(part.position, part.rotation)
        add, shape = self.builder, part.shape
        more = {"xform": place, "custom_attributes": self.of_shape}
        if isinstance(shape, Box):
            x, y, z = (float(value) for value in shape.half)
            add.add_shape_box(number, hx=x, hy=y, hz=z, **more)
        elif isinstance(shape, Sphere):
            add.add_shape_sphere(number, radius=float(shape.radius), **more)
        elif isinstance(shape, Cylinder):
            add.add_shape_cylinder(number, radius=float(shape.radius), half_height=float(shape.half), **more)
        elif isinstance(shape, Hull):
            add.add_shape_convex_hull(number, mesh=_mesh(shape.points), **more)
        elif isinstance(shape, HalfSpace):
            add.add_shape_plane(body=number, width=0.0, length=0.0, **more)
        else:
            raise Cannot(type(shape).__name__, "not a shape of Newton's collision pipeline")

    def _joints(self) -> None:
        """An articulation for each free body and each body on a joint to the world, with all that hangs on it."""
        together: List[int] = []
        for body in self.tree.order:
            joint = self.tree.joint.get(body.name)
            parent = -1 if joint is None else self.number.get(joint.parent or "", -1)
            if parent < 0 and together:
                self.builder.add_articulation(together)
                together = []
            number = self.number[body.name]
            together.append(self.builder.add_joint_free(number) if joint is None
                            else self._joint(joint, parent, number, body))
        if together:
            self.builder.add_articulation(together)

    def _joint(self, joint: Joint, parent: int, child: int, body: Body) -> int:
        if joint.kind not in ("hinge", "slide"):
            raise Cannot(f"joint {joint.kind}", "hinges and slides are known")
        above = self.scene.moving[parent] if parent >= 0 else None
        axis: Dict[str, Any] = {"axis": wp.vec3(*(float(value) for value in joint.axis)), "friction": joint.friction,
                                "label": joint.name, "parent_xform": _anchor(joint, above),
                                "child_xform": _anchor(joint, body), "collision_filter_parent": parent >= 0}
        if joint.limits is not None:
            axis["limit_lower"], axis["limit_upper"] = (float(value) for value in joint.limits)
        if joint.drive is not None:
            drive, modes = joint.drive, newton.JointTargetMode
            axis.update(target_ke=drive.stiffness, target_kd=drive.damping, target_q=drive.position,
                        target_qd=drive.velocity,
                        actuator_mode=modes.POSITION_VELOCITY if drive.stiffness else modes.VELOCITY)
            if math.isfinite(drive.effort):
                axis["effort_limit"] = drive.effort
        add = self.builder.add_joint_revolute if joint.kind == "hinge" else self.builder.add_joint_prismatic
        return int(add(parent, child, **axis))

    def _apart(self) -> None:
        joined = [(joint.parent, joint.child) for joint in self.scene.joints if joint.parent is not None]
        for pair in (*self.scene.apart, *joined):
            first, second = ([k for k, name in enumerate(self.names) if name == body] for body in pair)
            for one in first:
                for other in second:
                    self.builder.add_shape_collision_filter_pair(one, other)


def _anchor(joint: Joint, body: Optional[Body]) -> wp.transform:
    """The joint's frame, parallel to the world at the start, in a body's frame; None: in the world's."""
    if body is None:
        return _transform(joint.anchor, (1.0, 0.0, 0.0, 0.0))
    inverse = matrix(body.rotation).T
    return _transform(inverse @ (np.asarray(joint.anchor, float) - body.position), quaternion(inverse))


def _mesh(points: Sequence[Vector]) -> "newton.Mesh":
    """Newton's convex shapes use the vertices alone; a triangle must be there."""
    return newton.Mesh(np.asarray(points, np.float32), np.array([0, 1, 2], np.int32), compute_inertia=False)


_Read = Tuple[Contact, Tuple[int, int], Array]  # with its shapes, and its point in the frame of a body that moves


class NewtonWorld:
    def __init__(self, scene: Scene, time_step: float, substeps: int, solver: str, shape: Mapping[str, float],
                 options: Mapping[str, Any]) -> None:
        self.time_step, self.substeps, self._time = time_step, substeps, 0.0
        made = _Builder(scene, solver, shape)
        self.names, self.number = made.names, made.number
        self.model = made.builder.finalize(device="cpu")
        self._shape_body = self.model.shape_body.numpy().copy()
        known = _solvers[solver]
        room = known.room * (len(self.number) + 1) if known.room else None
        self._pipeline = None if known.own_contacts else newton.CollisionPipeline(self.model, rigid_contact_max=room)
        self._solver = _make(self.model, scene, solver, options)
        self._contacts = (newton.Contacts(self._solver.get_max_contact_count(), 0, device="cpu")
                          if self._pipeline is None else self._pipeline.contacts())
        kind = self._solver.ObservableKind.CONTACT_F
        self._forces = (self._solver.observables({kind}, contacts=self._contacts)
                        if kind in self._solver.supported_observables else None)
        self._now, self._next, self._control = self.model.state(), self.model.state(), self.model.control()
        self._start(made.tree)

    def _start(self, tree: Tree) -> None:
        start = tree.state(0.0, *tree.start())
        for state in (self._now, self._next):
            state.body_qd.assign(np.hstack([start.velocity, start.spin]).astype(np.float32))
            newton.eval_ik(self.model, state, state.joint_q, state.joint_qd)

    def state(self) -> State:
        pose, velocity = (array.numpy().astype(float) for array in (self._now.body_q, self._now.body_qd))
        rotation = np.array([matrix((w, x, y, z)) for x, y, z, w in pose[:, 3:]]).reshape(-1, 3, 3)
        return State(self._time, pose[:, :3], rotation, velocity[:, :3], velocity[:, 3:])

    def step(self, wrenches: Mapping[str, Wrench]) -> List[Contact]:
        force = np.zeros((len(self.number), 6), np.float32)
        for name, (push, torque) in wrenches.items():
            force[self.number[name]] = [*push, *torque]
        found = _Found()
        with wp.ScopedDevice("cpu"):
            for _ in range(self.substeps):
                found.add(self._substep(force))
        self._time += self.time_step
        return found.contacts

    def _substep(self, force: Any) -> List[_Read]:
        dt = self.time_step / self.substeps
        self._now.body_f.assign(force)
        if self._pipeline is not None:
            self._pipeline.collide(self._now, self._contacts)
        poses = self._now.body_q.numpy().astype(float)  # solvers write into the state that they start from
        self._solver.step(self._now, self._next, self._control, self._contacts, dt, observables=self._forces)
        self._now, self._next = self._next, self._now
        return self._read(poses, dt)

    def _read(self, poses: Array, dt: float) -> List[_Read]:
        """Contacts of a substep."""
        rigid = self._contacts
        count = int(rigid.rigid_contact_count.numpy()[0])
        if count > rigid.rigid_contact_max:
            raise RuntimeError(f"NEWTON: {count} contacts, room for {rigid.rigid_contact_max}")
        shapes = [array.numpy()[:count] for array in (rigid.rigid_contact_shape0, rigid.rigid_contact_shape1)]
        points = [array.numpy()[:count].astype(float)
                  for array in (rigid.rigid_contact_point0, rigid.rigid_contact_point1)]
        margins = [array.numpy()[:count].astype(float)
                   for array in (rigid.rigid_contact_margin0, rigid.rigid_contact_margin1)]
        normals = rigid.rigid_contact_normal.numpy()[:count].astype(float)
        forces = None if self._forces is None else self._forces.contact_f.numpy()[:count, :3].astype(float)
        read = []
        for k in range(count):
            first, second = int(shapes[0][k]), int(shapes[1][k])
            if first < 0 or second < 0 or not normals[k].any():  # MuJoCo-Warp's have none where boxes just touch
                continue
            bodies = self._shape_body[first], self._shape_body[second]
            normal = normals[k] / np.linalg.norm(normals[k])
            ends = [_placed(poses, bodies[side], points[side][k]) + (1, -1)[side] * margins[side][k] * normal
                    for side in (0, 1)]
            gap, point = float(normal @ (ends[1] - ends[0])), 0.5 * (ends[0] + ends[1])
            impulse = None if forces is None else -dt * forces[k]  # Newton's force is that on the first shape
            if gap > _near and (impulse is None or not impulse.any()):
                continue
            own = points[1][k] if bodies[1] >= 0 else points[0][k]
            contact = Contact(self.names[first], self.names[second], point, normal, gap, impulse)
            read.append((contact, (first, second), own))
        return read


def _placed(poses: Array, body: int, point: Array) -> Array:
    """In the world; body -1 is the world."""
    if body < 0:
        return point
    x, y, z, w = poses[body, 3:]
    return poses[body, :3] + matrix((w, x, y, z)) @ point


class _Found:
    """Contacts of substeps as those of one step: where a pair of shapes has several, the nearest in a body's frame is
    the same contact. Its geometry is that of the substep that had it first, its impulse the sum."""

    def __init__(self) -> None:
        self.contacts: List[Contact] = []
        self._of: Dict[Tuple[int, int], List[Tuple[Contact, Array]]] = {}

    def add(self, read: List[_Read]) -> None:
        free = {pair: list(known) for pair, known in self._of.items()}
        for contact, pair, own in read:
            left = free.get(pair)
            if not left:
                self._of.setdefault(pair, []).append((contact, own))
                self.contacts.append(contact)
                continue
            away = [float(np.linalg.norm(place - own)) for _, place in left]
            nearest = away.index(min(away))
            known = left.pop(nearest)[0]
            if known.impulse is not None and contact.impulse is not None:
                known.impulse = known.impulse + contact.impulse


def _make(model: Any, scene: Scene, solver: str, options: Mapping[str, Any]) -> Any:
    known = _solvers[solver]
    kind = getattr(newton.solvers, known.name)
    if known.name == "SolverKamino":
        config = kind.Config.from_model(model, **known.fixed)
        if solver == "Kamino LOX":
            config.lox.contact_spatial_friction = bool(scene.material.torsion or scene.material.rolling)
        if "speculative" in options:
            keep = options["speculative"] and not scene.material.restitution
            config.dynamics.cull_speculative_contacts = not keep
        for option, value in options.items():
            if option == "speculative":
                continue
            group, _, last = option.rpartition(".")
            setattr(getattr(config, group) if group else config, last, value)
        return kind(model, config=config)
    more = dict(known.fixed)
    if solver == "XPBD":
        more["enable_restitution"] = scene.material.restitution > 0
    if solver == "Steel" and any(joint.drive is not None for joint in scene.joints):
        more["drive_mode"] = "rows"  # the other mode's implicit part has no limit
    if solver == "MuJoCo-Warp":
        more["nconmax"] = known.room * (len(scene.moving) + 1)
        more["njmax"] = 6 * more["nconmax"] + 3 * len(scene.joints)
    try:
        return kind(model, **{**more, **options})
    except ImportError as error:
        raise Cannot(f"solver {solver}", str(error)) from None
