"""A scene in the coordinates of its joints: a tree of bodies, each free or on a joint."""

from typing import Dict, List, Optional

import numpy as np

from . import State
from ..phenomena.scene import Array, Body, Joint, Scene, matrix, quaternion


class Tree:
    """q and v by body, parents first: a free body has its position and quaternion, and the velocity of its centre and its
    spin in its own axes (MuJoCo's free joint); a body on a joint has the joint's coordinate and rate."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.joint: Dict[str, Joint] = {joint.child: joint for joint in scene.joints}
        self.children: Dict[Optional[str], List[Body]] = {}
        for body in scene.moving:
            self.children.setdefault(self._parent(body.name), []).append(body)
        self.order: List[Body] = []
        self._collect(None)

    def _parent(self, name: str) -> Optional[str]:
        parent = self.joint[name].parent if name in self.joint else None
        return None if parent is None or self.scene.body(parent).fixed else parent

    def _collect(self, parent: Optional[str]) -> None:
        for body in self.children.get(parent, []):
            self.order.append(body)
            self._collect(body.name)

    def local(self, body: Body) -> "tuple[Array, Array]":
        """Position and rotation at the start in the parent's frame; a free body's in the world."""
        parent = self._parent(body.name)
        if parent is None:
            return np.array(body.position, float), matrix(body.rotation)
        above = self.scene.body(parent)
        r = matrix(above.rotation)
        return r.T @ (np.array(body.position) - above.position), r.T @ matrix(body.rotation)

    def joint_in_child(self, joint: Joint) -> "tuple[Array, Array]":
        """Anchor and axis in the child's frame."""
        child = self.scene.body(joint.child)
        r = matrix(child.rotation)
        return r.T @ (np.array(joint.anchor) - child.position), r.T @ np.array(joint.axis)

    def start(self) -> "tuple[Array, Array]":
        """q and v."""
        q: List[float] = []
        v: List[float] = []
        for body in self.order:
            if body.name in self.joint:
                q.append(0.0)
                v.append(self.joint[body.name].rate)
            else:
                q += [*body.position, *quaternion(matrix(body.rotation))]
                v += [*body.velocity, *(matrix(body.rotation).T @ np.array(body.spin))]
        return np.array(q), np.array(v)

    def state(self, time: float, q: Array, v: Array) -> State:
        """In the world."""
        position, rotation, velocity, spin = {}, {}, {}, {}
        a = b = 0
        for body in self.order:
            name = body.name
            if name not in self.joint:
                rotation[name] = matrix(q[a + 3:a + 7])
                position[name], velocity[name] = q[a:a + 3], v[b:b + 3]
                spin[name] = rotation[name] @ v[b + 3:b + 6]
                a, b = a + 7, b + 6
                continue
            joint, parent = self.joint[name], self._parent(name)
            base_p, base_r = (position[parent], rotation[parent]) if parent else (np.zeros(3), np.eye(3))
            base_v, base_w = (velocity[parent], spin[parent]) if parent else (np.zeros(3), np.zeros(3))
            local_p, local_r = self.local(body)
            anchor, axis = self.joint_in_child(joint)
            start_r = base_r @ local_r
            along = start_r @ axis
            origin = base_p + base_r @ local_p + start_r @ anchor
            if joint.kind == "hinge":
                rotation[name] = _about(along, q[a]) @ start_r
                position[name] = origin - rotation[name] @ anchor
                spin[name] = base_w + along * v[b]
                velocity[name] = (base_v + np.cross(base_w, origin - base_p)
                                  + np.cross(spin[name], position[name] - origin))
            else:
                rotation[name] = start_r
                position[name] = base_p + base_r @ local_p + along * q[a]
                spin[name] = base_w
                velocity[name] = base_v + np.cross(base_w, position[name] - base_p) + along * v[b]
            a, b = a + 1, b + 1
        names = [body.name for body in self.scene.moving]
        return State(time, *(np.array([part[name] for name in names]).reshape(len(names), *shape) for part, shape in
                             ((position, (3,)), (rotation, (3, 3)), (velocity, (3,)), (spin, (3,)))))


def _about(axis: Array, angle: float) -> Array:
    x, y, z = axis
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turned: Array = np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)
    return turned
