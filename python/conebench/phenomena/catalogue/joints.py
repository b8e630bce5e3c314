"""Joints with dry friction, and drives at their limit."""

import numpy as np

from ..laboratory import Laboratory
from ..phenomenon import Measured, Phenomenon
from ..scene import Body, Cylinder, Drive, Joint, Part, Scene, box

g = 9.81


def wheel(friction: float = 0.0, rate: float = 0.0, drive: "Drive | None" = None) -> Scene:
    """A disc that turns about its axis, which stands upright."""
    mass, radius = 2.0, 0.2
    inertia = (mass * radius**2 / 4, mass * radius**2 / 4, mass * radius**2 / 2)
    body = Body("wheel", (Part(Cylinder(radius, 0.02)),), mass, inertia, spin=(0.0, 0.0, rate))
    return Scene((body,), joints=(Joint("hinge", "hinge", "wheel", rate=rate, friction=friction, drive=drive),))


moment = 2.0 * 0.2**2 / 2  # of the wheel


def held_arm(lab: Laboratory, share: float) -> Measured:
    """An arm held level by the friction of its hinge."""
    seconds = 2.0 if lab.quick else 5.0
    arm = box("arm", (0.25, 0.02, 0.02), 1.0, position=(0.25, 0.0, 0.0))
    torque = 1.0 * g * 0.25
    film = lab.play(Scene((arm,), joints=(Joint("hinge", "hinge", "arm", axis=(0.0, 1.0, 0.0),
                                                friction=torque / share),)), seconds)
    angle = -np.arctan2(film.positions("arm")[:, 2], film.positions("arm")[:, 0]) * 1e6
    first = len(angle) // 5
    rate = float(angle[-1] - angle[first]) / (film.times[-1] - film.times[first])
    return Measured(abs(rate), 0.0, 1.0, scale=1000.0, curves={"angle": (film.times, angle)})


def spin_down(lab: Laboratory, torque: float, rate: float) -> Measured:
    exact = moment * rate / torque
    film = lab.play(wheel(torque, rate), 1.5 * exact)
    w, t = film.spins("wheel")[:, 2], film.times
    stopped = np.flatnonzero(np.abs(w) <= 0.01 * rate)
    value = float(t[stopped[0]]) if len(stopped) else float("inf")
    return Measured(value, exact, 2 * lab.time_step + 0.01 * exact, scale=0.5 * exact,
                    curves={"measured": (t, w), "exact": (t, rate * np.maximum(0.0, 1 - t / exact))})


def drive_limit(lab: Laboratory, effort: float) -> Measured:
    seconds = 0.5
    film = lab.play(wheel(drive=Drive(damping=10.0, velocity=1000.0, effort=effort)), seconds)
    w, t = film.spins("wheel")[:, 2], film.times
    exact = effort / moment * float(t[-1])
    return Measured(float(w[-1]), exact, 1e-3 * exact, scale=0.5 * exact,
                    curves={"measured": (t, w), "exact": (t, effort / moment * t)})


phenomena = (
    Phenomenon("joint-hold", "joints", "Arm that the friction of its hinge holds",
               "Dry friction of a joint holds any torque up to its own: an arm whose weight makes 90 % of it does not turn; "
               "1 µrad/s counts as not turning.",
               "rate", "µrad/s", {"90 %": {"share": 0.9}}, held_arm, ("time [s]", "angle [µrad]")),
    Phenomenon("joint-spin-down", "joints", "Time in which friction of a joint stops a wheel",
               "Dry friction tau stops a wheel with I omega after I omega/tau.", "time", "s",
               {"0.4 N m": {"torque": 0.4, "rate": 10.0}}, spin_down, ("time [s]", "rate [rad/s]")),
    Phenomenon("drive-limit", "joints", "Drive at its effort limit",
               "A drive that wants more than its effort gives its effort: the wheel turns with effort · t/I.", "rate after 0.5 s",
               "rad/s", {"1 N m": {"effort": 1.0}}, drive_limit, ("time [s]", "rate [rad/s]")),
)
