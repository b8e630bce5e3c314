"""An engine for `conebench phenomena --engines toy.py`: one body of boxes and balls on half spaces, contacts solved one
after the other. Replace World by your engine; docs/phenomena.md has the interface."""

import numpy as np

from conebench.engines import Cannot, Contact, State
from conebench.phenomena.scene import Box, HalfSpace, Sphere, matrix


class Toy:
    id = "TOY"
    package = ""  # of PyPI
    variants = {"default": {"sweeps": 20}, "2 sweeps": {"sweeps": 2}}  # its own settings first

    def about(self):
        return {"version": "1"}

    def world(self, scene, time_step, options):
        """Cannot says what of a scene the engine does not have."""
        if scene.joints:
            raise Cannot("joints")
        if scene.material.torsion or scene.material.rolling:
            raise Cannot("torsion and rolling friction")
        grounds = [body for body in scene.bodies if body.fixed]
        for part in (part for body in scene.moving for part in body.parts):
            if not isinstance(part.shape, (Box, Sphere)):
                raise Cannot(type(part.shape).__name__.lower())
        if len(scene.moving) > 1 or any(not isinstance(part.shape, HalfSpace) for body in grounds for part in body.parts):
            raise Cannot("contacts between bodies", "only half spaces are touched")
        return World(scene, grounds, time_step, **options)


class World:
    def __init__(self, scene, grounds, time_step, sweeps):
        self.scene, self.grounds, self.h, self.sweeps, self.time = scene, grounds, time_step, sweeps, 0.0
        self.body = scene.moving[0]
        self.x, self.r = np.array(self.body.position, float), matrix(self.body.rotation)
        self.u = np.array([*self.body.velocity, *self.body.spin], float)

    def state(self):
        return State(self.time, self.x[None].copy(), self.r[None].copy(), self.u[None, :3].copy(), self.u[None, 3:].copy())

    def points(self, up):
        """Those that may touch a plane with this normal."""
        for part in self.body.parts:
            place = self.x + self.r @ part.position
            if isinstance(part.shape, Box):
                corners = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T * part.shape.half
                yield from place + corners @ (self.r @ matrix(part.rotation)).T
            else:
                yield place - part.shape.radius * up

    def step(self, wrenches):
        """Semi-implicit Euler: velocities with the contacts' impulses, then positions."""
        h, mu, e = self.h, self.scene.material.friction, self.scene.material.restitution
        inverse, spin = np.diag([1 / self.body.mass] * 6), self.u[3:]
        inverse[3:, 3:] = self.r @ np.diag(1 / np.array(self.body.inertia)) @ self.r.T
        force, torque = wrenches.get(self.body.name, ((0, 0, 0), (0, 0, 0)))
        outer = np.concatenate([self.body.mass * np.array(self.scene.gravity) + force,
                                np.array(torque) - np.cross(spin, np.linalg.solve(inverse[3:, 3:], spin))])
        found = []
        for ground in self.grounds:
            up = matrix(ground.rotation)[:, 2]
            for point in self.points(up):
                gap, (a, b, c) = float(up @ (point - ground.position)), point - self.x
                jacobian = np.hstack([np.eye(3), [[0, c, -b], [-c, 0, a], [b, -a, 0]]])
                closing = min(0.0, up @ jacobian @ self.u)
                if gap + 2 * h * closing <= 1e-3:  # it may close in this step
                    strikes = e > 0.0 and gap + h * closing < 0.0
                    found.append((Contact(ground.name, self.body.name, point, up, gap, np.zeros(3)), jacobian,
                                  (e * closing if strikes else max(gap, 0.0) / h) * up,
                                  np.linalg.norm(jacobian @ inverse @ jacobian.T, 2)))
        self.u = self.u + h * inverse @ outer
        for _ in range(self.sweeps):  # projected on the cone, one contact after the other
            for contact, jacobian, bias, size in found:
                new = contact.impulse - (jacobian @ self.u + bias) / size
                normal = max(0.0, new @ contact.normal)
                tangent = new - (new @ contact.normal) * contact.normal
                tangent *= min(1.0, mu * normal / max(np.sqrt(tangent @ tangent), 1e-300))
                before, contact.impulse = contact.impulse, tangent + normal * contact.normal
                self.u = self.u + inverse @ (jacobian.T @ (contact.impulse - before))
        self.x = self.x + h * self.u[:3]
        angle = np.linalg.norm(h * self.u[3:])
        axis = h * self.u[3:] / max(angle, 1e-300)
        self.r = matrix((np.cos(angle / 2), *(np.sin(angle / 2) * axis))) @ self.r
        self.time += h
        return [contact for contact, *_ in found]
