"""Discs and balls: friction of turning and rolling."""

import numpy as np

from ..laboratory import Laboratory
from ..phenomenon import Measured, Phenomenon
from ..scene import Array, Body, Box, Material, Part, Scene, Sphere, ball, ground

g = 9.81


def tripod(friction: float, spin: float) -> Scene:
    """A plate on three feet: its normal forces are determined."""
    mass, radius, foot = 2.0, 0.15, 0.02
    feet = tuple(Part(Sphere(foot), (radius * np.cos(a), radius * np.sin(a), -0.03))
                 for a in 2 * np.pi * np.arange(3) / 3)
    inertia = (mass * radius**2 / 4, mass * radius**2 / 4, mass * radius**2 / 2)
    # No cylinder: on a plane with a tilt of 1e-15 MuJoCo's collision detection finds one 12 cm below it.
    disc = Body("disc", (Part(Box((0.1, 0.1, 0.02))), *feet), mass, inertia, (0.0, 0.0, 0.03 + foot),
                spin=(0.0, 0.0, spin))
    return Scene((ground(), disc), Material(friction))


def disc_spin(lab: Laboratory, friction: float, spin: float) -> Measured:
    radius = 0.15
    exact = 0.5 * radius * spin / (friction * g)
    film = lab.play(tripod(friction, spin), 2 * exact)
    rate = film.spins("disc")[:, 2]
    return _stop(film.times, rate, spin, exact, lab.time_step)


def _stop(times: Array, rate: Array, start: float, exact: float, step: float) -> Measured:
    """The time at which a rate has fallen to 1 % of the start, extended along its fall to zero."""
    stopped = np.flatnonzero(np.abs(rate) <= 0.01 * abs(start))
    if len(stopped):
        value = float(times[stopped[0]])
    else:  # along the mean fall
        value = float(times[-1] * start / (start - rate[-1])) if rate[-1] < start else float("inf")
    return Measured(value, exact, 2 * step + 0.01 * exact, scale=0.5 * exact,
                    curves={"measured": (times, rate), "exact": (times, start * np.maximum(0.0, 1 - times / exact))})


def ball_spin(lab: Laboratory, torsion: float, spin: float) -> Measured:
    radius = 0.1
    exact = 0.4 * radius**2 * spin / (torsion * g)
    scene = Scene((ground(), ball("ball", radius, 1.0, position=(0.0, 0.0, radius), spin=(0.0, 0.0, spin))),
                  Material(0.5, torsion=torsion))
    film = lab.play(scene, 2 * exact)
    return _stop(film.times, film.spins("ball")[:, 2], spin, exact, lab.time_step)


def ball_launch(lab: Laboratory, friction: float, speed: float) -> Measured:
    radius = 0.1
    scene = Scene((ground(), ball("ball", radius, 1.0, position=(0.0, 0.0, radius), velocity=(speed, 0.0, 0.0))),
                  Material(friction))
    film = lab.play(scene, 1.0)
    v = film.velocities("ball")[:, 0]
    exact = 5 / 7
    t = film.times
    return Measured(float(v[-1] / speed), exact, friction * g * lab.time_step / speed, scale=2 / 7,
                    curves={"measured": (t, v), "exact": (t, np.maximum(exact * speed, speed - friction * g * t))},
                    facts={"slip at the end [m/s]": float(v[-1] - radius * film.spins("ball")[-1, 1])})


def ball_roll(lab: Laboratory, rolling: float, speed: float) -> Measured:
    radius = 0.1
    deceleration = 5 / 7 * rolling / radius * g
    exact = speed**2 / (2 * deceleration)
    scene = Scene((ground(), ball("ball", radius, 1.0, position=(0.0, 0.0, radius), velocity=(speed, 0.0, 0.0),
                                  spin=(0.0, speed / radius, 0.0))), Material(1.0, torsion=rolling, rolling=rolling))
    film = lab.play(scene, 1.5 * speed / deceleration)
    x, t = film.positions("ball")[:, 0], film.times
    rolls = np.minimum(t, speed / deceleration)
    return Measured(float(x[-1]), exact, speed * lab.time_step + 0.01 * exact, scale=0.5 * exact,
                    curves={"measured": (t, x), "exact": (t, speed * rolls - 0.5 * deceleration * rolls**2)})


phenomena = (
    Phenomenon("disc-spin", "rotation", "Time in which friction stops a spinning disc",
               "A disc on three feet at radius R turns against mu m g R: it stops after I omega/(mu m g R), R/2 omega/(mu g) "
               "for I = m R²/2.", "time", "s", {"mu = 0.2": {"friction": 0.2, "spin": 20.0}}, disc_spin,
               ("time [s]", "spin [rad/s]")),
    Phenomenon("ball-spin", "rotation", "Time in which torsion stops a spinning ball",
               "With a torsional coefficient c [m] the torque about the normal is c m g: a ball stops after "
               "0.4 r² omega/(c g).", "time", "s", {"c = 10 mm": {"torsion": 0.01, "spin": 10.0}}, ball_spin,
               ("time [s]", "spin [rad/s]")),
    Phenomenon("ball-launch", "rotation", "Speed at which a sliding ball begins to roll",
               "Friction takes momentum and gives spin until v = omega r. About the contact the moment of momentum is kept: "
               "v = 5/7 of the first speed, whatever mu is.", "speed over the first", "",
               {"mu = 0.5": {"friction": 0.5, "speed": 2.0}}, ball_launch, ("time [s]", "speed [m/s]")),
    Phenomenon("ball-roll", "rotation", "Distance that a ball rolls",
               "With a rolling coefficient c [m] the torque against rolling is c m g: the ball decelerates by "
               "5/7 c g/r and stops after v²/(2 · 5/7 c g/r).", "distance", "m",
               {"c = 10 mm": {"rolling": 0.01, "speed": 1.0}}, ball_roll, ("time [s]", "distance [m]")),
)
