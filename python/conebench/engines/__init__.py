"""Engines that take part in `conebench phenomena`: an adapter each (docs/phenomena.md)."""

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Protocol, Sequence, Tuple

import numpy as np

from ..phenomena.scene import Array, Scene

Wrench = Tuple[Sequence[float], Sequence[float]]  # force at the centre of mass [N], torque [N m], in the world


class Cannot(Exception):
    """What of a scene an engine does not have, raised by world(): Cannot("joint friction", "set_friction has no effect on a slide")."""

    def __init__(self, element: str, why: str = "") -> None:
        super().__init__(f"{element}: {why}" if why else element)
        self.element = element
        self.why = why


@dataclass
class Contact:
    """A point at which two bodies touch or nearly touch, in the world at the start of the step."""

    first: str  # names of bodies; the normal points from the first ...
    second: str  # ... to the second
    point: Array  # [m]
    normal: Array  # of unit length
    gap: float = 0.0  # negative where they overlap [m]
    impulse: Optional[Array] = None  # on the second body during the step, in the world [N s]; None: not readable

    @property
    def finite(self) -> bool:
        """The gap may be NaN where an engine does not show it."""
        return all(bool(np.isfinite(part).all()) for part in (self.point, self.normal, self.impulse) if part is not None)


@dataclass
class State:
    """Of the bodies that move, in the order of Scene.moving: centres of mass, axes and velocities in the world."""

    time: float  # [s]
    position: Array  # n x 3 [m]
    rotation: Array  # n x 3 x 3, columns are the principal axes
    velocity: Array  # n x 3, of the centre of mass [m/s]
    spin: Array  # n x 3 [rad/s]

    @property
    def finite(self) -> bool:
        return all(bool(np.isfinite(part).all()) for part in (self.position, self.rotation, self.velocity, self.spin))


class World(Protocol):
    """A scene that an engine steps."""

    def state(self) -> State:
        """Now."""

    def step(self, wrenches: Mapping[str, Wrench]) -> Optional[List[Contact]]:
        """Moves on by the time step with these forces on bodies by name. The contacts of the step; None: the engine
        does not show them."""

    # Where the engine has them:
    # def joint_rates(self) -> Dict[str, float]: ...
    # def bias(self) -> ...


class Engine(Protocol):
    """`variants`: settings by name, the engine's own first, each a dictionary of what world() takes as `options`."""

    id: str
    package: str  # of PyPI, whose version is shown; "": none
    variants: Dict[str, Dict[str, Any]]

    def about(self) -> Dict[str, str]:
        """version, and released (a date) where it is known."""

    def world(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> World:
        """Raises Cannot where the engine does not have an element of the scene."""
