"""Impacts and energy."""

import numpy as np

from ..laboratory import Laboratory
from ..phenomenon import Measured, Phenomenon
from ..scene import Body, Box, HalfSpace, Joint, Material, Part, Scene, Sphere, ball, box, ground, matrix, turn

g = 9.81


def bounce(lab: Laboratory, restitution: float) -> Measured:
    height, radius = 1.0, 0.1
    scene = Scene((ground(), ball("ball", radius, 1.0, position=(0.0, 0.0, radius + height))),
                  Material(0.5, restitution=restitution))
    fall = np.sqrt(2 * height / g)
    film = lab.play(scene, fall * (1 + restitution) + 0.1)
    z, t = film.positions("ball")[:, 2] - radius, film.times
    after = z[t > fall + lab.time_step]
    exact = restitution**2 * height
    later = np.maximum(0.0, t - fall)
    path = np.where(t < fall, height - 0.5 * g * t**2, restitution * g * fall * later - 0.5 * g * later**2)
    # The impact lies somewhere in its step, on a path that is v h/2 off.
    return Measured(float(after.max()), exact, g * fall * lab.time_step, scale=0.5 * height,
                    curves={"measured": (t, z), "exact": (t, np.maximum(0.0, path))},
                    facts={"deepest [mm]": 1e3 * float(-z.min())})


def slide_energy(lab: Laboratory, speed: float) -> Measured:
    cube = box("block", (0.1, 0.1, 0.1), 1.0, position=(0.0, 0.0, 0.1), velocity=(speed, 0.0, 0.0))
    film = lab.play(Scene((ground(), cube), Material(0.0)), 2.0)
    v = np.linalg.norm(film.velocities("block")[:, :2], axis=1)
    change = 100 * (v**2 / speed**2 - 1)
    return Measured(float(np.abs(change).max()), 0.0, 1e-4, scale=10.0, curves={"change": (film.times, change)}).only_if(
        float(np.linalg.norm(film.positions("block")[-1, :2])) > 0.2 * speed * float(film.times[-1]))


def pendulum(lab: Laboratory, restitution: float) -> Measured:
    """A ball on an arm swings from the horizontal against a wall below its hinge."""
    length, radius = 1.0, 0.1
    bob = ball("bob", radius, 1.0, position=(length, 0.0, 0.0))
    wall = Body("wall", (Part(Box((0.1, 0.5, 0.5))),), position=(-radius - 0.1, 0.0, -length))
    scene = Scene((wall, bob), Material(0.0, restitution=restitution),
                  (Joint("hinge", "hinge", "bob", axis=(0.0, 1.0, 0.0)),))
    film = lab.play(scene, 3.0)
    energy = film.energies
    unit = 1.0 * g * length  # of the swing
    change = 100 * (energy - energy[0]) / unit
    # Semi-implicit Euler's energy swings by h/2 times the power of gravity, 0.62 m g sqrt(2 g l) at most.
    allowed = 100 * 0.31 * lab.time_step * np.sqrt(2 * g / length)
    return Measured(float(change.max()), 0.0, allowed, scale=50.0, upper_bound=True, curves={"energy": (film.times, change)},
                    facts={"energy at the end [%]": float(change[-1])}).only_if(
                        float(film.positions("bob")[:, 2].min()) < -0.9 * length)


def cradle(lab: Laboratory, gap: float) -> Measured:
    radius, speed, count = 0.05, 1.0, 5
    balls = tuple(ball(f"ball{k}", radius, 1.0, position=(k * (2 * radius + gap), 0.0, 0.0),
                       velocity=(speed if k == 0 else 0.0, 0.0, 0.0)) for k in range(count))
    scene = Scene(balls, Material(0.0, restitution=1.0), gravity=(0.0, 0.0, 0.0))
    film = lab.play(scene, 0.2 + count * gap / speed)
    v = np.array([film.velocities(f"ball{k}")[:, 0] for k in range(count)]) / speed
    curves = {f"ball {k + 1}": (film.times, v[k]) for k in range(count)}
    facts = {f"ball {k + 1} [of the first speed]": float(v[k, -1]) for k in range(count)}
    facts["momentum [of the first]"] = float(v[:, -1].sum())
    if gap > 0.0:
        return Measured(float(v[-1, -1]), 1.0, 1e-3, scale=0.5, curves=curves, facts=facts)
    kept = abs(float(v[:, -1].sum()) - 1.0) < 0.1 and float(np.diff(v[:, -1]).min()) > -1e-3
    return Measured(float((v[:, -1]**2).sum()), 1.0, 1e-3, scale=0.5, curves=curves, facts=facts).only_if(kept)


def painleve(lab: Laboratory, friction: float, speed: float) -> Measured:
    """A rod slides on its lower end, at the angle with tan = 2 at which the paradox needs the least friction, 4/3."""
    length, thick, angle = 1.0, 0.01, np.arctan(2.0)
    own = turn((0, 1, 0), -angle)
    corner = matrix(own) @ np.array([-length / 2, 0.0, -thick])
    rod = box("rod", (length / 2, thick, thick), 1.0, position=(0.0, 0.0, -float(corner[2])), rotation=own,
              velocity=(-speed, 0.0, 0.0))
    film = lab.play(Scene((ground(), rod), Material(friction)), 0.5)
    energy = film.energies
    change = 100 * (energy - energy[0]) / energy[0]
    end = np.array([p + r @ np.array([-length / 2, 0.0, -thick]) for p, r in
                    zip(film.positions("rod"), film.rotations("rod"))])
    # The same of semi-implicit Euler as for the pendulum: h/2 times the power of gravity in a free fall.
    power = g * np.sqrt(2 * g * float(film.positions("rod")[0, 2]))
    return Measured(float(change.max()), 0.0, 100 * 0.5 * lab.time_step * power / energy[0], scale=20.0, upper_bound=True,
                    curves={"energy": (film.times, change)}, facts={"deepest [mm]": 1e3 * float(-end[:, 2].min())}).only_if(
                        float(np.linalg.norm(film.positions("rod") - film.positions("rod")[0], axis=1).max()) > 0.05)


phenomena = (
    Phenomenon("bounce", "impact", "Height after a bounce",
               "Newton's law v⁺ = −e v⁻: a ball that falls from h comes back to e² h, with e = 0 it stays on the ground.",
               "height", "m", {"e = 0": {"restitution": 0.0}, "e = 0.8": {"restitution": 0.8}}, bounce,
               ("time [s]", "height [m]"), ("e = 0", "e = 0.8")),
    Phenomenon("slide-energy", "impact", "Energy of a slide without friction",
               "Nothing acts along the plane: kinetic energy stays.", "largest change", "%",
               {"2 m/s": {"speed": 2.0}}, slide_energy, ("time [s]", "change [%]")),
    Phenomenon("pendulum-energy", "impact", "Energy of a pendulum that hits a wall",
               "A hinge does no work, and an impact with e ≤ 1 takes energy: none is ever gained.", "largest gain", "%",
               {"e = 0": {"restitution": 0.0}, "e = 0.8": {"restitution": 0.8}}, pendulum,
               ("time [s]", "change over m g l [%]")),
    Phenomenon("cradle", "impact", "Newton's cradle",
               "Equal balls with e = 1 exchange velocities one pair after the other: the last leaves with the speed of "
               "the first. Where all touch, Newton's law of all pairs at once gives 0.4 to four balls and −0.6 to the first: "
               "many answers keep momentum and energy; the energy is measured.", "speed, or energy where they touch", "",
               {"gaps of 1 cm": {"gap": 0.01}, "touching": {"gap": 0.0}}, cradle, ("time [s]", "velocity over the first")),
    Phenomenon("painleve", "impact", "Painlevé's rod",
               "Rigid-body accelerations of a sliding rod contradict Coulomb's law for mu > 4/3 at tan(theta) = 2. A step of "
               "impulses has a solution, an impact without collision; friction only takes energy.", "largest gain of energy",
               "%", {"mu = 2": {"friction": 2.0, "speed": 2.0}}, painleve, ("time [s]", "change of energy [%]")),
)
