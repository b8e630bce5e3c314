"""Runs scenes on one engine and keeps what happened."""

from dataclasses import dataclass, field
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ..engines import Cannot, Contact, Engine, State, World, Wrench
from .scene import Array, Scene

Pushes = Union[None, Mapping[str, Wrench], Callable[[float], Mapping[str, Wrench]]]  # constant, or of the time


class NotFinite(Exception):
    """A position, velocity or impulse became infinite or not a number."""

    def __init__(self, time: float) -> None:
        super().__init__(f"not finite after {time:g} s")
        self.time = time


@dataclass
class Film:
    """All steps of a run: states 0 to n, contacts and pushes of steps 1 to n."""

    scene: Scene
    time_step: float
    states: List[State]
    contacts: List[Optional[List[Contact]]] = field(default_factory=list)
    pushes: List[Mapping[str, Wrench]] = field(default_factory=list)

    def number(self, body: str) -> int:
        return [one.name for one in self.scene.moving].index(body)

    @property
    def times(self) -> Array:
        return np.array([state.time for state in self.states])

    def positions(self, body: str) -> Array:
        """Of the centre of mass, one row a state [m]."""
        return np.array([state.position[self.number(body)] for state in self.states])

    def velocities(self, body: str) -> Array:
        return np.array([state.velocity[self.number(body)] for state in self.states])

    def rotations(self, body: str) -> Array:
        return np.array([state.rotation[self.number(body)] for state in self.states])

    def spins(self, body: str) -> Array:
        return np.array([state.spin[self.number(body)] for state in self.states])

    @property
    def energies(self) -> Array:
        """Kinetic and potential, of all bodies [J]."""
        bodies = self.scene.moving
        mass = np.array([body.mass for body in bodies])
        inertia = np.array([body.inertia for body in bodies])
        total = []
        for state in self.states:
            own_spin = np.einsum("nij,ni->nj", state.rotation, state.spin)
            total.append(0.5 * (mass @ (state.velocity**2).sum(1) + (inertia * own_spin**2).sum())
                         - mass @ (state.position @ np.asarray(self.scene.gravity)))
        return np.array(total)

    @property
    def has_impulses(self) -> bool:
        """Whether every contact of every step has one."""
        return all(step is not None and all(contact.impulse is not None for contact in step) for step in self.contacts)


class Laboratory:
    """An engine with its options and a time step. It keeps the last film for pictures and for the judge."""

    def __init__(self, engine: Engine, options: Mapping[str, object], time_step: float, quick: bool = False) -> None:
        self.engine, self.options, self.time_step, self.quick = engine, options, time_step, quick
        self.film: Optional[Film] = None

    def world(self, scene: Scene, time_step: Optional[float] = None) -> World:
        return self.engine.world(scene, time_step or self.time_step, self.options)

    def play(self, scene: Scene, seconds: float, pushes: Pushes = None, *, time_step: Optional[float] = None,
             until: Optional[Callable[[State], bool]] = None) -> Film:
        """Runs for that long, or until a state satisfies `until`. Raises NotFinite, and Cannot of the engine."""
        step = time_step or self.time_step
        world = self.engine.world(scene, step, self.options)
        film = self.film = Film(scene, step, [world.state()])
        for _ in range(int(round(seconds / step))):
            given = {} if pushes is None else pushes(film.states[-1].time) if callable(pushes) else pushes
            try:
                contacts = world.step(given)
            except Cannot as late:
                raise RuntimeError(f"said only in a step what it cannot do: {late}") from None
            film.contacts.append(contacts)
            film.pushes.append(given)
            state = world.state()
            if not state.finite or not all(contact.finite for contact in contacts or []):
                raise NotFinite(state.time)
            film.states.append(state)
            if until is not None and until(state):
                break
        return film

    def threshold(self, moves: Callable[[float], bool], low: float, high: float, relative: float = 0.01) -> float:
        """The least value at which something moves, by bisection between two: `low` does not, `high` does. The bound
        itself where that is not so."""
        if moves(low):
            return low
        if not moves(high):
            return high
        while high - low > relative * 0.5 * (high + low):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if moves(middle) else (middle, high)
        return 0.5 * (low + high)
