"""A scene of rigid bodies without any engine. SI units; z is up; rotations are quaternions (w, x, y, z)."""

from dataclasses import dataclass, field, replace
from typing import Any, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from .._arrays import Array as Array

Vector = Tuple[float, float, float]
Quaternion = Tuple[float, float, float, float]

no_turn: Quaternion = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Box:
    half: Vector  # edges' halves [m]


@dataclass(frozen=True)
class Sphere:
    radius: float


@dataclass(frozen=True)
class Cylinder:
    """About z."""

    radius: float
    half: float  # of its height [m]


@dataclass(frozen=True)
class Hull:
    """The convex hull of points."""

    points: Tuple[Vector, ...]


@dataclass(frozen=True)
class HalfSpace:
    """All below z = 0 of its frame; of static bodies alone."""


Shape = Union[Box, Sphere, Cylinder, Hull, HalfSpace]


@dataclass(frozen=True)
class Part:
    """A shape in its body's frame."""

    shape: Shape
    position: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = no_turn


@dataclass(frozen=True)
class Body:
    """Its frame lies at the centre of mass along the principal axes. A body without mass does not move."""

    name: str
    parts: Tuple[Part, ...]
    mass: float = 0.0  # [kg]
    inertia: Vector = (0.0, 0.0, 0.0)  # principal moments [kg m^2]
    position: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = no_turn
    velocity: Vector = (0.0, 0.0, 0.0)  # of the centre of mass [m/s]
    spin: Vector = (0.0, 0.0, 0.0)  # along the world's axes [rad/s]

    @property
    def fixed(self) -> bool:
        return self.mass == 0.0


@dataclass(frozen=True)
class Material:
    """Of all contacts of a scene, so that no rule of mixing matters: of any two bodies these are the coefficients."""

    friction: float = 0.5
    torsion: float = 0.0  # torque about the normal over the normal force [m]
    rolling: float = 0.0  # torque about tangents over the normal force [m]
    restitution: float = 0.0


@dataclass(frozen=True)
class Drive:
    """A force (or torque) stiffness (position - q) + damping (velocity - q') within [-effort, effort]."""

    stiffness: float = 0.0
    damping: float = 0.0
    position: float = 0.0
    velocity: float = 0.0
    effort: float = float("inf")


@dataclass(frozen=True)
class Joint:
    """Lets `child` turn about ("hinge") or move along ("slide") an axis of `parent`; q is 0 at the start. The child has
    no other joint as a child, and its velocity at the start is that of `rate` along the joint, with the parent's."""

    name: str
    kind: str
    child: str
    parent: Optional[str] = None  # the world
    anchor: Vector = (0.0, 0.0, 0.0)  # in the world at the start
    axis: Vector = (0.0, 0.0, 1.0)  # in the world at the start, of unit length
    rate: float = 0.0  # q' at the start [rad/s, m/s]
    friction: float = 0.0  # dry, [N m, N]
    limits: Optional[Tuple[float, float]] = None  # of q [rad, m]
    drive: Optional[Drive] = None


@dataclass(frozen=True)
class Scene:
    bodies: Tuple[Body, ...]
    material: Material = Material()
    joints: Tuple[Joint, ...] = ()
    gravity: Vector = (0.0, 0.0, -9.81)
    apart: Tuple[Tuple[str, str], ...] = ()  # pairs of bodies that do not touch each other; nor do those of a joint

    def body(self, name: str) -> Body:
        return next(body for body in self.bodies if body.name == name)

    @property
    def moving(self) -> Tuple[Body, ...]:
        return tuple(body for body in self.bodies if not body.fixed)

    @property
    def weight(self) -> float:
        """Of all bodies [N]."""
        return float(sum(body.mass for body in self.bodies) * np.linalg.norm(self.gravity))


def matrix(q: Any) -> Array:
    """The rotation of a quaternion, 3 x 3."""
    w, x, y, z = np.asarray(q, float) / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def quaternion(rotation: Array) -> Quaternion:
    """Of a rotation, 3 x 3."""
    values, vectors = np.linalg.eigh(_symmetric(np.asarray(rotation, float)))
    x, y, z, w = vectors[:, np.argmax(values)]
    sign = 1.0 if w >= 0.0 else -1.0
    return (sign * w, sign * x, sign * y, sign * z)


def _symmetric(r: Array) -> Array:
    """Bar-Itzhack's K of a rotation: its largest eigenvector is the quaternion (x, y, z, w)."""
    (a, b, c), (d, e, f), (g, h, i) = r
    return np.array([[a - e - i, b + d, c + g, h - f], [b + d, e - a - i, f + h, c - g],
                     [c + g, f + h, i - a - e, d - b], [h - f, c - g, d - b, a + e + i]]) / 3.0


def turn(axis: Sequence[float], angle: float) -> Quaternion:
    """About a unit axis by an angle [rad]."""
    s = np.sin(angle / 2)
    return (float(np.cos(angle / 2)), float(s * axis[0]), float(s * axis[1]), float(s * axis[2]))


def box(name: str, half: Sequence[float], mass: float, **more: object) -> Body:
    """A homogeneous box."""
    x, y, z = (float(value) for value in half)
    inertia = (mass / 3 * (y * y + z * z), mass / 3 * (x * x + z * z), mass / 3 * (x * x + y * y))
    return Body(name, (Part(Box((x, y, z))),), mass, inertia, **more)  # type: ignore[arg-type]


def ball(name: str, radius: float, mass: float, **more: object) -> Body:
    """A homogeneous ball."""
    return Body(name, (Part(Sphere(radius)),), mass, (0.4 * mass * radius**2,) * 3, **more)  # type: ignore[arg-type]


def ground(**more: object) -> Body:
    """The half space below z = 0."""
    return Body("ground", (Part(HalfSpace()),), **more)  # type: ignore[arg-type]
