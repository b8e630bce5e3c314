"""Conebench's own loop with any solver: kinematics and collisions are MuJoCo's, the steps Conebench's."""

import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional

import numpy as np

from . import Contact, State, Wrench
from ._mjcf import mjcf
from ._tree import Tree
from .._core import version
from .._simulate import simulate
from ..phenomena.scene import Scene


class Conebench:
    """Options: `solver`, an id of `conebench list solvers` or of a peer, and those of the loop (docs/scenes.md)."""

    id = "CONEBENCH"
    package = "conebench"
    variants: Dict[str, Dict[str, Any]] = {
        "default": {},
        "NSGS": {"solver": "NSGS"},
        "NSGS-AA": {"solver": "NSGS-AA"},
        "PGS-CCP": {"solver": "PGS-CCP"},
        "PGS-LCP": {"solver": "PGS-LCP"},
        "best": {"solver": "CASCADE", "tolerance": 1e-12},
    }

    def about(self) -> Dict[str, str]:
        return {"version": version}

    def world(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> "ConebenchWorld":
        return ConebenchWorld(scene, time_step, dict(options))


class ConebenchWorld:
    def __init__(self, scene: Scene, time_step: float, options: Dict[str, Any]) -> None:
        self.tree = Tree(scene)
        self.time_step = time_step
        solver = options.pop("solver", None)
        options.setdefault("drives", "implicit")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scene.xml")
            with open(path, "w") as file:
                file.write(mjcf(scene, time_step, {"cone": "elliptic"}, {}, restitution=True))
            self.loop = simulate(path, solver, steps=1 << 40, time_step=time_step, **options)
        self.q, self.v = self.tree.start()
        self.time = 0.0
        self.pushed: List[str] = []

    def state(self) -> State:
        return self.tree.state(self.time, self.q, self.v)

    def step(self, wrenches: Mapping[str, Wrench]) -> Optional[List[Contact]]:
        for name in set(self.pushed) - set(wrenches):
            self.loop.push(name, (0.0, 0.0, 0.0))
        for name, (force, torque) in wrenches.items():
            self.loop.push(name, force, torque)
        self.pushed = list(wrenches)
        step = next(self.loop)
        self.q, self.v, self.time = step.position, step.velocity, step.time
        contacts = []
        for one in self.loop.contacts:
            frame, row = one["frame"], one["row"]
            rows = step.impulse[row:]
            count = one["rows"]
            impulse = rows[0] * frame[0] + rows[1] * frame[1] + rows[count - 1] * frame[2]
            contacts.append(Contact(one["bodies"][0], one["bodies"][1], one["point"], frame[2], one["gap"], impulse))
        return contacts
