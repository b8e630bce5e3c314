"""A block on the ground: what holds it, what stops it, where friction points."""

from typing import Optional, Tuple

import numpy as np

from ...engines import Cannot
from ..laboratory import Laboratory
from ..phenomenon import Measured, Phenomenon
from ..scene import Box, Material, Scene, box, ground, turn

g = 9.81
half = (0.2, 0.2, 0.05)
mass = 2.0
resolution = 0.01  # of thresholds, relative


def block(friction: float, speed: Tuple[float, float] = (0.0, 0.0), angle: float = 0.0, tilt: float = 0.0) -> Scene:
    """A flat block, turned about the normal by an angle, on a plane that is tilted about y."""
    ramp = turn((0, 1, 0), tilt)
    place = (half[2] * np.sin(tilt), 0.0, half[2] * np.cos(tilt))
    own = turn((0, 1, 0), tilt) if tilt else turn((0, 0, 1), angle)
    return Scene((ground(rotation=ramp), box("block", half, mass, position=place, rotation=own,
                                             velocity=(*speed, 0.0))), Material(friction))


def push_threshold(lab: Laboratory, friction: float) -> Measured:
    hold, seconds = friction * mass * g, 1.0
    scene = block(friction)
    curve: "dict[float, float]" = {}

    def speed(share: float) -> float:
        film = lab.play(scene, seconds, {"block": ((share * hold, 0.0, 0.0), (0.0, 0.0, 0.0))})
        before = film.positions("block")[-1 - int(round(0.2 / lab.time_step)), 0]
        curve[share] = float(film.positions("block")[-1, 0] - before) / 0.2
        return curve[share]

    # Half of the speed that Coulomb's law gives at the resolution above the threshold.
    value = lab.threshold(lambda share: speed(share) > 0.5 * resolution * friction * g * 0.9 * seconds, 0.1, 3.0,
                          resolution)
    shares = sorted(curve)
    exact = [max(0.0, (share - 1.0) * friction * g * 0.9 * seconds) for share in shares]
    return Measured(value, 1.0, resolution, scale=0.5, curves={"measured": (shares, [curve[s] for s in shares]),
                                                              "exact": (shares, exact)})


def tilt_threshold(lab: Laboratory, friction: float) -> Measured:
    seconds = 1.0
    curve: "dict[float, float]" = {}

    def speed(share: float) -> float:
        angle = float(np.arctan(share * friction))
        film = lab.play(block(friction, tilt=angle), seconds)
        down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
        along = film.positions("block") @ down
        curve[share] = float(along[-1] - along[-1 - int(round(0.2 / lab.time_step))]) / 0.2
        return curve[share]

    def moves(share: float) -> bool:
        angle = float(np.arctan(friction))
        return speed(share) > 0.5 * resolution * friction * g * float(np.cos(angle)) * 0.9 * seconds

    value = lab.threshold(moves, 0.1, 3.0, resolution)
    shares = sorted(curve)
    return Measured(value, 1.0, resolution, scale=0.5, curves={"measured": (shares, [curve[s] for s in shares])})


def creep(lab: Laboratory, friction: float, share: float) -> Measured:
    seconds, settle = (3.0 if lab.quick else 10.0), 1.0
    film = lab.play(block(friction), seconds, {"block": ((share * friction * mass * g, 0.0, 0.0), (0.0, 0.0, 0.0))})
    x = film.positions("block")
    first = int(round(settle / lab.time_step))
    rate = float(np.linalg.norm(x[-1] - x[first])) / (film.times[-1] - film.times[first])
    return Measured(rate * 1e6, 0.0, 1.0, scale=1000.0,
                    curves={"displacement": (film.times, 1e6 * np.linalg.norm(x - x[0], axis=1))})


def stopping_distance(lab: Laboratory, friction: float, speed: float) -> Measured:
    exact = speed**2 / (2 * friction * g)
    film = lab.play(block(friction, (speed, 0.0)), 1.5 * speed / (friction * g) + 0.2)
    x = film.positions("block")[:, 0]
    t = film.times
    slides = np.minimum(t, speed / (friction * g))
    # v changes by mu g h a step and moves the block for h: the sum differs from the integral by v h / 2.
    return Measured(float(x[-1] - x[0]), exact, 0.5 * speed * lab.time_step + 1e-3 * exact, scale=0.5 * exact,
                    curves={"measured": (t, x - x[0]), "exact": (t, speed * slides - 0.5 * friction * g * slides**2)})


def _slides(lab: Laboratory, friction: float, speed: float) -> "list[tuple[float, float, float]]":
    """Direction, distance and deviation from the direction of slides in 16 directions, or a quarter of them [rad, m, rad]."""
    found = []
    for k in range(4 if lab.quick else 16):
        angle = 2 * np.pi * k / 16
        film = lab.play(block(friction, (speed * np.cos(angle), speed * np.sin(angle))), speed / (friction * g) + 0.1)
        path = film.positions("block")[-1, :2] - film.positions("block")[0, :2]
        off = np.arctan2(path[1], path[0]) - angle
        found.append((angle, float(np.linalg.norm(path)), float((off + np.pi) % (2 * np.pi) - np.pi)))
    return found


def _slid(slides: "list[tuple[float, float, float]]", friction: float, speed: float) -> bool:
    """Whether friction stopped them somewhere near where it must."""
    share = float(np.mean([one[1] for one in slides])) / (speed**2 / (2 * friction * g))
    return 0.5 < share < 1.6


def isotropy(lab: Laboratory, friction: float, speed: float) -> Measured:
    slides = _slides(lab, friction, speed)
    distance = np.array([one[1] for one in slides])
    spread = float((distance.max() - distance.min()) / distance.mean())
    degrees = [float(np.degrees(one[0])) for one in slides]
    # The step in which a slide ends is the same in all directions but for rounding.
    return Measured(100 * spread, 0.0, 0.5, scale=30.0, curves={"distance": (degrees, distance)},
                    facts={"largest distance [m]": float(distance.max()), "smallest distance [m]": float(distance.min()),
                           "exact distance [m]": speed**2 / (2 * friction * g)}).only_if(_slid(slides, friction, speed))


def direction(lab: Laboratory, friction: float, speed: float) -> Measured:
    slides = _slides(lab, friction, speed)
    off = [abs(float(np.degrees(one[2]))) for one in slides]
    degrees = [float(np.degrees(one[0])) for one in slides]
    return Measured(max(off), 0.0, 0.1, scale=15.0, curves={"deviation": (degrees, off)}).only_if(
        _slid(slides, friction, speed))


def cone(lab: Laboratory, friction: float, share: float) -> Measured:
    force = share * friction * mass * g
    push = {"block": ((force * np.cos(0.5), force * np.sin(0.5), 0.0), (0.0, 0.0, 0.0))}
    film = lab.play(block(friction), 0.5, push)
    if not film.has_impulses:
        raise Cannot("contact impulses", "not readable")
    weight = mass * g * lab.time_step
    beyond, friction_used = [], []
    for contacts in film.contacts:
        excess = total = 0.0
        for contact in contacts or []:
            assert contact.impulse is not None
            normal = float(contact.impulse @ contact.normal)
            tangential = float(np.linalg.norm(contact.impulse - normal * contact.normal))
            excess, total = max(excess, tangential - friction * normal), total + tangential
        beyond.append(excess / weight)
        friction_used.append(total / (friction * weight))
    worst = 100 * float(np.max(beyond))
    return Measured(worst, 0.0, 1e-4, scale=10.0, upper_bound=True,
                    curves={"beyond the cone [%]": (film.times[1:], [100 * one for one in beyond])},
                    facts={"friction over mu m g, mean": float(np.mean(friction_used))}).only_if(
                        float(np.mean(friction_used)) > 0.5)


def lift(lab: Laboratory, friction: float, speed: float) -> Measured:
    cube = box("block", (0.1, 0.1, 0.1), mass, position=(0.0, 0.0, 0.1), velocity=(speed, 0.0, 0.0))
    film = lab.play(Scene((ground(), cube), Material(friction)), min(1.0, 0.8 * speed / (friction * g)))
    z = film.positions("block")[:, 2] - 0.1
    return Measured(1e3 * float(z.max()), 0.0, 1e3 * g * lab.time_step**2, scale=50.0, upper_bound=True,
                    curves={"height": (film.times, 1e3 * z)}, facts={"deepest [mm]": 1e3 * float(-z.min())}).only_if(
                        float(film.positions("block")[-1, 0]) > 0.3 * speed * float(film.times[-1]))


coulomb = "Coulomb: a contact sticks while the tangential force is below mu times the normal force. "

phenomena = (
    Phenomenon("push-threshold", "friction", "Force that moves a block",
               coulomb + "A block of weight m g moves when it is pushed with more than mu m g. Bisection in the force to 1 %; "
               "it moves if its mean speed in the last 0.2 s of one second exceeds half of what 1 % too much gives.",
               "threshold over mu m g", "", {f"mu = {mu}": {"friction": mu} for mu in (0.2, 0.5, 1.0)}, push_threshold,
               ("force over mu m g", "speed after 0.9 s [m/s]"), ("mu = 0.5",)),
    Phenomenon("tilt-threshold", "friction", "Slope on which a block slides",
               coulomb + "On a slope m g sin(theta) meets mu m g cos(theta): tan(theta) = mu. Bisection in tan(theta) to 1 %.",
               "tan(theta) over mu", "", {f"mu = {mu}": {"friction": mu} for mu in (0.2, 0.5, 1.0)}, tilt_threshold,
               ("tan(theta) over mu", "speed after 0.9 s [m/s]"), ("mu = 0.5",)),
    Phenomenon("creep", "friction", "Creep of a block that must stick",
               coulomb + "Pushed with less than mu m g for 10 s it does not move at all: no step explains a "
               "creep, 1 µm/s counts as none. The rate is taken from 1 s on.",
               "speed", "µm/s", {"mu = 0.5, 90 %": {"friction": 0.5, "share": 0.9},
                                 "mu = 0.5, 50 %": {"friction": 0.5, "share": 0.5}}, creep,
               ("time [s]", "displacement [µm]")),
    Phenomenon("stopping-distance", "friction", "Distance in which friction stops a block",
               "Deceleration is mu g: the distance is v²/(2 mu g), in any engine whose friction is mu m g while it slides. A "
               "first-order step errs by v h/2.", "distance", "m",
               {f"mu = {mu}": {"friction": mu, "speed": 2.0} for mu in (0.2, 0.5, 1.0)}, stopping_distance,
               ("time [s]", "distance [m]"), ("mu = 0.5",)),
    Phenomenon("isotropy", "friction", "The same friction in all directions",
               "The cone is round: a block slides as far in each of 16 directions. A pyramid inside the cone lets it slide up to 41 % "
               "farther along the diagonals, a box around the cone stops it up to 29 % earlier.", "spread of the distances", "%",
               {"mu = 0.5": {"friction": 0.5, "speed": 2.0}}, isotropy, ("direction [°]", "distance [m]")),
    Phenomenon("direction", "friction", "Friction opposes the slip",
               "Friction dissipates the most: it points against the slip, so that the path of a block is straight. Largest "
               "angle between the path and the first velocity over 16 directions.", "angle", "°",
               {"mu = 0.5": {"friction": 0.5, "speed": 2.0}}, direction, ("direction [°]", "deviation [°]")),
    Phenomenon("cone", "friction", "Friction never beyond the cone",
               "At each contact of each step the tangential impulse is at most mu times the normal one. What exceeds it, over "
               "the weight's impulse, on a block that is pushed with 1.2 mu m g.", "excess over weight", "%",
               {"mu = 0.5": {"friction": 0.5, "share": 1.2}}, cone, ("time [s]", "excess [%]")),
    Phenomenon("lift", "friction", "Height of a sliding cube",
               "Signorini: a body that slides on a plane stays on it. Convex relaxations open contacts at mu times the slip "
               "speed; the height is then that speed times the step, or a flight.", "height", "mm",
               {f"{speed:g} m/s": {"friction": 0.5, "speed": speed} for speed in (2.0, 6.0)}, lift,
               ("time [s]", "height [mm]"), ("6 m/s",)),
)
