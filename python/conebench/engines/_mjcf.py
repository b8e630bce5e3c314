"""A scene as MJCF."""

import xml.etree.ElementTree as xml
from typing import Any, Mapping, Sequence

from ._tree import Tree
from ..phenomena.scene import Body, Box, Cylinder, Drive, HalfSpace, Part, Scene, Sphere, matrix, quaternion


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values) if isinstance(values, Sequence) or hasattr(
        values, "__len__") else repr(float(values))


class _Writer:
    def __init__(self, scene: Scene, time_step: float, option: Mapping[str, str], geom: Mapping[str, str],
                 restitution: bool) -> None:
        self.scene, self.tree = scene, Tree(scene)
        self.root = xml.Element("mujoco", model="scene")
        xml.SubElement(self.root, "compiler", angle="radian", autolimits="true")
        xml.SubElement(self.root, "option", {"timestep": repr(time_step), "gravity": _text(scene.gravity), **option})
        if restitution:
            xml.SubElement(self.root, "size", nuser_geom="1")
        self.asset = xml.SubElement(self.root, "asset")
        world = xml.SubElement(self.root, "worldbody")
        self.geom = {**geom, **self._friction()}
        if restitution:
            self.geom["user"] = repr(scene.material.restitution)
        for body in scene.bodies:
            if body.fixed:
                self._parts(self._body(world, body, body.position, body.rotation), body)
        for body in self.tree.children.get(None, []):
            self._moving(world, body)
        self._excluded()
        self._drives()
        q, v = self.tree.start()
        key = xml.SubElement(xml.SubElement(self.root, "keyframe"), "key", qpos=_text(q), qvel=_text(v))
        drives = [joint for joint in scene.joints if joint.drive]
        if drives:
            key.set("ctrl", _text([0.0] * len(drives)))

    def _friction(self) -> "dict[str, str]":
        material = self.scene.material
        condim = "1" if material.friction == 0.0 else "6" if material.rolling else "4" if material.torsion else "3"
        return {"friction": _text((material.friction, material.torsion, material.rolling)), "condim": condim}

    def _body(self, parent: xml.Element, body: Body, position: Any, rotation: Any) -> xml.Element:
        return xml.SubElement(parent, "body", name=body.name, pos=_text(position), quat=_text(rotation))

    def _moving(self, parent: xml.Element, body: Body) -> None:
        position, rotation = self.tree.local(body)
        element = self._body(parent, body, position, quaternion(rotation))
        joint = self.tree.joint.get(body.name)
        if joint is None:
            xml.SubElement(element, "freejoint")
        else:
            anchor, axis = self.tree.joint_in_child(joint)
            made = xml.SubElement(element, "joint", name=joint.name, type=joint.kind, pos=_text(anchor),
                                  axis=_text(axis), frictionloss=repr(joint.friction))
            if joint.limits:
                made.set("range", _text(joint.limits))
        xml.SubElement(element, "inertial", pos="0 0 0", mass=repr(body.mass), diaginertia=_text(body.inertia))
        self._parts(element, body)
        for child in self.tree.children.get(body.name, []):
            self._moving(element, child)

    def _parts(self, element: xml.Element, body: Body) -> None:
        for number, part in enumerate(body.parts):
            made = xml.SubElement(element, "geom", {"name": f"{body.name}.{number}", "pos": _text(part.position),
                                                    "quat": _text(part.rotation), **self.geom})
            self._shape(made, part, f"{body.name}.{number}")

    def _shape(self, geom: xml.Element, part: Part, name: str) -> None:
        shape = part.shape
        if isinstance(shape, HalfSpace):
            geom.attrib.update(type="plane", size="10 10 1")
        elif isinstance(shape, Box):
            geom.attrib.update(type="box", size=_text(shape.half))
        elif isinstance(shape, Sphere):
            geom.attrib.update(type="sphere", size=repr(shape.radius))
        elif isinstance(shape, Cylinder):
            geom.attrib.update(type="cylinder", size=_text((shape.radius, shape.half)))
        else:
            geom.attrib.update(type="mesh", mesh=name)
            xml.SubElement(self.asset, "mesh", name=name,
                           vertex=_text([value for point in shape.points for value in point]))

    def _excluded(self) -> None:
        pairs = list(self.scene.apart) + [(joint.parent, joint.child) for joint in self.scene.joints if joint.parent]
        contact = xml.SubElement(self.root, "contact")
        for first, second in pairs:
            xml.SubElement(contact, "exclude", body1=first, body2=second)

    def _drives(self) -> None:
        """force = stiffness (position - q) + damping (velocity - q'), at control 0."""
        actuator = xml.SubElement(self.root, "actuator")
        for joint in self.scene.joints:
            if joint.drive is None:
                continue
            drive: Drive = joint.drive
            constant = drive.stiffness * drive.position + drive.damping * drive.velocity
            made = xml.SubElement(actuator, "general", name=f"drive of {joint.name}", joint=joint.name,
                                  gainprm="0", biastype="affine",
                                  biasprm=_text((constant, -drive.stiffness, -drive.damping)))
            if drive.effort < float("inf"):
                made.set("forcerange", _text((-drive.effort, drive.effort)))


def mjcf(scene: Scene, time_step: float, option: Mapping[str, str], geom: Mapping[str, str],
         restitution: bool = False) -> str:
    """The model, with the scene's start as its only keyframe. `option`, `geom`: attributes of <option> and of every
    <geom>. `restitution`: as Conebench reads it, of the geoms' user data."""
    return xml.tostring(_Writer(scene, time_step, option, geom, restitution).root, encoding="unicode")
