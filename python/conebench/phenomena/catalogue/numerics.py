"""What must not matter: order, repetition, the time step."""

from dataclasses import replace

import numpy as np

from ..laboratory import Film, Laboratory
from ..phenomenon import Measured, Phenomenon
from ..scene import Array, Material, Scene, ball, ground
from .friction import block

g = 9.81
seconds = 0.5


def strike() -> Scene:
    """A ball strikes three that nearly touch. One contact a pair, so that the motion is determined."""
    radius = 0.1
    along = np.sqrt(3.0) * radius
    places = ((0.0, 0.0), (along, radius + 1e-4), (along, -radius - 1e-4))
    rack = tuple(ball(f"ball{k + 1}", radius, 1.0, position=(x, y, radius)) for k, (x, y) in enumerate(places))
    return Scene((ground(), *rack, ball("striker", radius, 1.0, position=(-0.5, 0.03, radius), velocity=(3.0, 0.0, 0.0))),
                 Material(0.5))


def _apart(first: Film, second: Film, names: "dict[str, str]") -> Array:
    """Largest distance of a body in two films, one a state [µm]."""
    apart: Array = 1e6 * np.max([np.linalg.norm(first.positions(a) - second.positions(b), axis=1) for a, b in names.items()],
                                axis=0)
    return apart


def _struck(film: Film) -> bool:
    return all(float(np.linalg.norm(np.diff(film.positions(body.name)[[0, -1]], axis=0))) > 0.02
               for body in film.scene.moving)


def order(lab: Laboratory) -> Measured:
    scene = strike()
    names = {body.name: f"{9 - k}{body.name}" for k, body in enumerate(scene.bodies)}
    names["ground"] = "ground"
    other = replace(scene, bodies=tuple(replace(body, name=names[body.name]) for body in reversed(scene.bodies)))
    second, first = lab.play(other, seconds), lab.play(scene, seconds)
    off = _apart(first, second, {body.name: names[body.name] for body in scene.moving})
    return Measured(float(off.max()), 0.0, 1.0, scale=1000.0, curves={"distance": (first.times, off)}).only_if(_struck(first))


def repeat(lab: Laboratory) -> Measured:
    first, second = lab.play(strike(), seconds), lab.play(strike(), seconds)
    off = _apart(first, second, {body.name: body.name for body in first.scene.moving})
    return Measured(float(off.max()), 0.0, 0.0, scale=1.0, curves={"distance": (first.times, off)}).only_if(_struck(first))


def half_step(lab: Laboratory, speed: float) -> Measured:
    friction = 0.5
    long = 1.2 * speed / (friction * g) + 0.1
    fine = lab.play(block(friction, (speed, 0.0)), long, time_step=0.5 * lab.time_step)
    film = lab.play(block(friction, (speed, 0.0)), long)
    x, finer = (1e3 * one.positions("block")[:, 0] for one in (film, fine))
    # A first-order step errs by v h/2, half of it by v h/4.
    return Measured(float(abs(x[-1] - finer[-1])), 0.0, 1e3 * 0.26 * speed * lab.time_step, scale=100.0,
                    curves={"h": (film.times, x), "h/2": (fine.times, finer)}).only_if(
                        float(x[-1]) > 0.25e3 * speed**2 / (friction * g))


phenomena = (
    Phenomenon("order", "numerics", "Order and names of the bodies",
               "Bodies in another order and with other names move alike: a ball strikes three others. Largest distance between the "
               "same bodies in 0.5 s; 1 µm counts as rounding.", "distance", "µm", {"strike": {}}, order, ("time [s]", "distance [µm]")),
    Phenomenon("repeat", "numerics", "The same scene twice",
               "Two runs in one process give the same bits.", "distance", "µm", {"strike": {}}, repeat,
               ("time [s]", "distance [µm]")),
    Phenomenon("half-step", "numerics", "Half the time step",
               "A slide ends within v h/4 of where it ends at half the step: the errors of a first-order step are v h/2 and v h/4.", "distance", "mm",
               {"2 m/s": {"speed": 2.0}}, half_step, ("time [s]", "distance [mm]")),
)
