"""MuJoCo from its Python package, 3.3 or later."""

from typing import Any, Dict, List, Mapping, Optional

import mujoco as mj
import numpy as np

from . import Cannot, Contact, State, Wrench
from ._mjcf import mjcf
from ._tree import Tree
from ..phenomena.scene import Scene

_option_names = ("solver", "cone", "iterations", "tolerance", "impratio", "integrator", "noslip_iterations", "ls_iterations")
_geom_names = ("solref", "solimp")


class MuJoCo:
    """Options: attributes of <option> and the contacts' solref and solimp, as in MJCF."""

    id = "MUJOCO"
    package = "mujoco"
    variants: Dict[str, Dict[str, Any]] = {
        "default": {},
        "elliptic": {"cone": "elliptic"},
        "CG": {"solver": "CG"},
        "PGS": {"solver": "PGS"},
        "noslip": {"cone": "elliptic", "noslip_iterations": 10},
        # Contacts as stiff as refsafe lets a positive solref be (a time constant of two steps), one impedance for all depths:
        # rigid at rest; what slides is lifted the more.
        "best": {"cone": "elliptic", "impratio": 100, "solref": "-1", "solimp": "0.9999 0.9999 0.001", "tolerance": 0,
                 "iterations": 200, "noslip_iterations": 100},
    }

    def about(self) -> Dict[str, str]:
        return {"version": mj.__version__}

    def world(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> "MuJoCoWorld":
        if scene.material.restitution:
            raise Cannot("restitution", "contacts are springs and dampers, without a coefficient")
        unknown = set(options) - set(_option_names) - set(_geom_names)
        if unknown:
            raise ValueError(f"MUJOCO: unknown option {sorted(unknown)[0]!r}")
        option = {name: str(options[name]) for name in _option_names if name in options}
        geom = {name: str(options[name]) for name in _geom_names if name in options}
        if geom.get("solref") == "-1":
            geom["solref"] = f"{2 * time_step!r} 1"
        return MuJoCoWorld(scene, mjcf(scene, time_step, option, geom))


class MuJoCoWorld:
    def __init__(self, scene: Scene, text: str) -> None:
        self.tree = Tree(scene)
        self.model = mj.MjModel.from_xml_string(text)
        self.data = mj.MjData(self.model)
        mj.mj_resetDataKeyframe(self.model, self.data, 0)
        self.body = {body.name: self.model.body(body.name).id for body in scene.bodies}
        self.name = {number: name for name, number in self.body.items()}

    def state(self) -> State:
        return self.tree.state(self.data.time, self.data.qpos.copy(), self.data.qvel.copy())

    def step(self, wrenches: Mapping[str, Wrench]) -> Optional[List[Contact]]:
        data = self.data
        data.xfrc_applied[:] = 0.0
        for name, (force, torque) in wrenches.items():
            data.xfrc_applied[self.body[name]] = [*force, *torque]
        mj.mj_step(self.model, data)
        return [self._contact(number) for number in range(data.ncon)]

    def _contact(self, number: int) -> Contact:
        contact, force = self.data.contact[number], np.zeros(6)
        mj.mj_contactForce(self.model, self.data, number, force)
        frame = np.array(contact.frame).reshape(3, 3)
        first, second = (self.name[int(self.model.geom_bodyid[geom])] for geom in contact.geom)
        return Contact(first, second, np.array(contact.pos), frame[0], float(contact.dist),
                       frame.T @ force[:3] * self.model.opt.timestep)
