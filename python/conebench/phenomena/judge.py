"""The steps of a film judged from outside: masses, moments, poses and shapes are the scene's, and so are M and J.

Symbols: v before and v⁺ after a step of h, p the momentum that contacts and joints gave, λ impulses of contacts (first
tangents, then the normal), r a contact's arm, W = J M⁻¹ Jᵀ of one contact, Γ = (0, 0, mu |σ_T|)."""

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ..engines import Contact, State
from .laboratory import Film
from .scene import Array, Box, Cylinder, HalfSpace, Hull, Scene, Sphere, matrix

max_steps = 40  # of a film that are judged


@dataclass
class _Rows:
    """A contact's frame, and the velocity of its second body's point against the first's as 3 x 6n."""

    frame: Array  # rows t1, t2, n
    jacobian: Array


class _Step:
    """A step in twists: 6 a body, velocity of the centre and spin in the world."""

    def __init__(self, film: Film, number: int) -> None:
        self.film, self.h = film, film.time_step
        self.before, self.after = film.states[number], film.states[number + 1]
        self.contacts = film.contacts[number] or []
        self.shown = film.contacts[number] is not None
        self.bodies = film.scene.moving
        self.number = {body.name: k for k, body in enumerate(self.bodies)}
        n = len(self.bodies)
        self.mass = np.zeros((6 * n, 6 * n))
        self.momentum = np.zeros(6 * n)  # p, N s and N m s
        twist, later = _twist(self.before), _twist(self.after)
        for k, body in enumerate(self.bodies):
            turned = self.before.rotation[k]
            inertia = turned @ np.diag(body.inertia) @ turned.T
            a = 6 * k
            self.mass[a:a + 3, a:a + 3] = body.mass * np.eye(3)
            self.mass[a + 3:a + 6, a + 3:a + 6] = inertia
            force, torque = film.pushes[number].get(body.name, ((0.0,) * 3, (0.0,) * 3))
            spin = self.before.spin[k]
            outer = np.concatenate([body.mass * np.array(film.scene.gravity) + force,
                                    np.array(torque) - np.cross(spin, inertia @ spin)])
            self.momentum[a:a + 6] = self.mass[a:a + 6, a:a + 6] @ (later - twist)[a:a + 6] - self.h * outer
        self.inverse = np.linalg.inv(self.mass)
        self.later, self.earlier = later, twist
        self.rows = [self._rows(contact) for contact in self.contacts]
        self.joints = self._joints()

    def _point(self, name: str, point: Array) -> Array:
        """Velocity of a body's point of the twists, 3 x 6n."""
        found = np.zeros((3, 6 * len(self.bodies)))
        if name in self.number:
            k = self.number[name]
            x, y, z = point - self.before.position[k]
            found[:, 6 * k:6 * k + 3] = np.eye(3)
            found[:, 6 * k + 3:6 * k + 6] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
        return found

    def _rows(self, contact: Contact) -> _Rows:
        n = np.asarray(contact.normal, float)
        axis = np.eye(3)[int(np.argmin(np.abs(n)))]
        first = np.cross(n, axis)
        first /= np.linalg.norm(first)
        frame = np.array([first, np.cross(n, first), n])
        return _Rows(frame, frame @ (self._point(contact.second, contact.point) - self._point(contact.first, contact.point)))

    def _joints(self) -> Array:
        """Rows of all directions in which joints may give momentum; with dry friction, a limit or a drive along the joint,
        too."""
        rows: List[Array] = []
        for joint in self.film.scene.joints:
            child = self.film.scene.body(joint.child)
            k = self.number[joint.child]
            turned = self.before.rotation[k] @ matrix(child.rotation).T
            axis = turned @ np.array(joint.axis)
            anchor = self.before.position[k] + turned @ (np.array(joint.anchor) - child.position)
            parent = joint.parent or ""
            linear = self._point(joint.child, anchor) - self._point(parent, anchor)
            angular = self._spin(joint.child) - self._spin(parent)
            free = not (joint.friction or joint.limits or joint.drive)
            across = np.eye(3) - (np.outer(axis, axis) if free else 0.0)
            rows += [across @ angular, linear] if joint.kind == "hinge" else [angular, across @ linear]
        material = self.film.scene.material
        if material.torsion or material.rolling:  # torques of contacts, which are not read
            rows += [self._spin(contact.second) - self._spin(contact.first) for contact in self.contacts]
        return np.concatenate(rows) if rows else np.zeros((0, 6 * len(self.bodies)))

    def _spin(self, name: str) -> Array:
        """Angular velocity of a body of the twists, 3 x 6n."""
        found = np.zeros((3, 6 * len(self.bodies)))
        if name in self.number:
            found[:, 6 * self.number[name] + 3:6 * self.number[name] + 6] = np.eye(3)
        return found

    def unexplained(self, given: Array) -> Array:
        """p less what contacts gave and the best that joints can give, as velocities M⁻¹ p [m/s, rad/s]."""
        left = self.momentum - given
        if len(self.joints):
            root = np.linalg.cholesky(self.inverse).T  # p is measured by its kinetic energy
            best, *_ = np.linalg.lstsq(root @ self.joints.T, root @ left, rcond=1e-10)
            left = left - self.joints.T @ best
        return self.inverse @ left

    def speed(self, twist: Array) -> float:
        """Largest of a body, rad/s times its radius of gyration [m/s]."""
        worst = 0.0
        for k, body in enumerate(self.bodies):
            arm = np.sqrt(sum(body.inertia) / (2 * body.mass))
            worst = float(np.max([worst, np.linalg.norm(twist[6 * k:6 * k + 3]),
                                  arm * np.linalg.norm(twist[6 * k + 3:6 * k + 6])]))
        return worst


def _twist(state: State) -> Array:
    twist: Array = np.concatenate([state.velocity, state.spin], axis=1).ravel()
    return twist


def _on_cone(impulse: Array, mu: float) -> Array:
    """The nearest point of Coulomb's cone to (t1, t2, n)."""
    t, n = float(np.linalg.norm(impulse[:2])), float(impulse[2])
    if t <= mu * n:
        return impulse
    if mu * t <= -n:
        return np.zeros(3)
    normal = (mu * t + n) / (1 + mu * mu)
    return np.array([*(impulse[:2] * (mu * normal / t)), normal])


def _natural_map(step: _Step, impulses: List[Array]) -> float:
    """Largest |λ − P_K(λ − ρ v̂)|/ρ with the engine's own v⁺, ρ = 3/trace(W) [m/s]; v̂ = σ + b + Γ(σ). b is e v_N⁻ of a
    body that strikes within the step, else φ/h of an open gap; stabilisation is not known and not in it."""
    mu, e = step.film.scene.material.friction, step.film.scene.material.restitution
    worst = 0.0
    for contact, rows, impulse in zip(step.contacts, step.rows, impulses):
        sigma, before = rows.jacobian @ step.later, rows.jacobian @ step.earlier
        strikes = e > 0.0 and contact.gap + step.h * min(0.0, float(before[2])) <= 0.0
        # A gap that is not known is NaN, and counts as closed.
        bias = e * min(0.0, float(before[2])) if strikes else contact.gap / step.h if contact.gap > 0.0 else 0.0
        v = sigma + np.array([0.0, 0.0, bias + mu * float(np.linalg.norm(sigma[:2]))])
        rho = 3.0 / float(np.trace(rows.jacobian @ step.inverse @ rows.jacobian.T))
        worst = float(np.max([worst, np.linalg.norm(impulse - _on_cone(impulse - rho * v, mu)) / rho]))
    return worst


def _given(step: _Step, impulses: List[Array]) -> Array:
    total = np.zeros(len(step.momentum))
    for rows, impulse in zip(step.rows, impulses):
        total += rows.jacobian.T @ impulse
    return total


def best_impulses(step: _Step) -> List[Array]:
    """Those of Coulomb's cones that explain p best, in the metric of kinetic energy: the cone programme
    min ½ |Jᵀ λ − p|² in M⁻¹, solved as a CCP with g = −J M⁻¹ p. What joints can give is projected out first."""
    from .. import problem, solve

    if not step.rows:
        return []
    jacobian = np.concatenate([rows.jacobian for rows in step.rows])
    root = np.linalg.cholesky(step.inverse).T
    left, seen = root @ step.momentum, root @ jacobian.T
    if len(step.joints):
        basis, sizes, _ = np.linalg.svd(root @ step.joints.T, full_matrices=False)
        basis = basis[:, sizes > 1e-10 * sizes[0]]
        left, seen = left - basis @ (basis.T @ left), seen - basis @ (basis.T @ seen)
    if np.linalg.norm(left) < 1e-14:
        return [np.zeros(3) for _ in step.rows]
    made = problem(seen.T @ seen, g=-seen.T @ left, mu=np.full(len(step.rows), step.film.scene.material.friction),
                   normal="last")
    answer = solve(made, "APGD-CCP", tolerance=1e-10, max_iterations=5000, verdict="natural_map_ccp_scaled")
    return list(np.asarray(answer.r).reshape(-1, 3))


def _depth(scene: Scene, state: State) -> Optional[float]:
    """Of all bodies below half spaces, by their shapes [m]; None: the scene has no half space."""
    depth = None
    for ground in scene.bodies:
        if not any(isinstance(part.shape, HalfSpace) for part in ground.parts):
            continue
        up = matrix(ground.rotation)[:, 2]
        depth = depth or 0.0
        for k, body in enumerate(scene.moving):
            for part in body.parts:
                turned = state.rotation[k] @ matrix(part.rotation)
                centre = state.position[k] + state.rotation[k] @ np.array(part.position)
                lowest = float(up @ (centre - np.array(ground.position))) - _reach(part.shape, turned.T @ up)
                depth = max(depth, -lowest)
    return depth


def _reach(shape: Any, down: Array) -> float:
    """How far a shape extends along −down from its origin [m]."""
    if isinstance(shape, Sphere):
        return shape.radius
    if isinstance(shape, Box):
        return float(np.abs(down) @ np.array(shape.half))
    if isinstance(shape, Cylinder):
        return shape.radius * float(np.hypot(down[0], down[1])) + shape.half * abs(float(down[2]))
    assert isinstance(shape, Hull)
    return float(-(np.array(shape.points) @ down).min())


def _summary(values: List[float], unit: str) -> Dict[str, Any]:
    return {"max": max(values), "median": float(np.median(values)), "unit": unit}


def _chosen(film: Film) -> List[int]:
    """Steps: three quarters evenly spread, and those in which velocities jump the most."""
    count = len(film.contacts)
    velocity = np.array([state.velocity for state in film.states])
    jump = np.linalg.norm(np.diff(velocity, axis=0) - film.time_step * np.array(film.scene.gravity), axis=2).max(1)
    spread = np.linspace(0, count - 1, min(count, 3 * max_steps // 4))
    return sorted({*map(int, spread), *map(int, np.argsort(jump)[-(max_steps // 4):])})


def judge_film(film: Film) -> Dict[str, Dict[str, Any]]:
    """Verdicts by name, each with max, median and unit. `equation of motion`: velocities that no contact impulse, joint or
    outer force explains; `momentum`: its translational part, which no engine's rule for gyroscopic torques changes; `cone`: the tangential impulse beyond mu times the normal one, over W; `natural map`: with the
    engine's own velocities. `impulses`: "engine", or "best" where they are not readable and the best admissible ones are
    judged. `penetration`: by the shapes."""
    if len(film.states) < 2:
        return {}
    verdicts: Dict[str, Dict[str, Any]] = {}
    depth = [one for one in (_depth(film.scene, state) for state in film.states) if one is not None]
    if depth:
        verdicts["penetration"] = _summary(depth, "m")
    chosen = _chosen(film)
    steps = [_Step(film, k) for k in chosen]
    if not all(step.shown for step in steps):
        return verdicts
    readable = film.has_impulses
    motion, momentum, cone, natural = [], [], [], []
    mu = film.scene.material.friction
    for step in steps:
        impulses = ([rows.frame @ np.asarray(contact.impulse) for contact, rows in zip(step.contacts, step.rows)]
                    if readable else best_impulses(step))
        left = step.unexplained(_given(step, impulses))
        motion.append(step.speed(left))
        momentum.append(float(np.linalg.norm(left.reshape(-1, 6)[:, :3], axis=1).max()))
        natural.append(_natural_map(step, impulses))
        cone.append(max((max(0.0, float(np.linalg.norm(one[:2])) - mu * float(one[2]))
                         * float(np.trace(rows.jacobian @ step.inverse @ rows.jacobian.T)) / 3
                         for one, rows in zip(impulses, step.rows)), default=0.0))
    verdicts["equation of motion"], verdicts["momentum"] = _summary(motion, "m/s"), _summary(momentum, "m/s")
    if readable:
        verdicts["cone"] = _summary(cone, "m/s")
    if not (film.scene.material.torsion or film.scene.material.rolling):
        verdicts["natural map"] = _summary(natural, "m/s")
    for name in {"equation of motion", "momentum", "natural map"} & set(verdicts):
        verdicts[name]["impulses"] = "engine" if readable else "best"
    return verdicts
