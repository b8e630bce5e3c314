#!/usr/bin/env python3
"""Scenes of known outcome in DART, for all its solvers and detectors.
usage: engines_dart_test.py PACKAGE_FOLDER      77: a module is not installed"""
import importlib.metadata, importlib.util, os, sys

for module in ("numpy", "scipy", "dartpy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
sys.path.insert(0, os.path.abspath(sys.argv[1]))
import numpy as np
from engine_checks import beyond, check, lift
from conebench.engines import Cannot
from conebench.engines.dart import Dart
from conebench.phenomena.laboratory import Laboratory
from conebench.phenomena.scene import (Body, Cylinder, Drive, Hull, Joint, Material, Part, Scene, ball, box, ground,
                                       turn)

g, dt = 9.81, 1e-3
awake = {"sleep": False}
best = Dart.variants["best"]


def play(scene, seconds, pushes=None, options=awake, time_step=dt):
    return Laboratory(Dart(), options, time_step).play(scene, seconds, pushes)


def block(mass=2.0, **more):
    return box("block", (0.1, 0.1, 0.1), mass, **{"position": (0, 0, 0.1), **more})


def refused(element, scene, options=awake):
    try:
        Dart().world(scene, dt, options)
    except Cannot as error:
        check(error.element == element, f"cannot: {error}")
    else:
        raise SystemExit(f"FAILED: DART took {element}")


def defects(film):
    """Of momentum and angular momentum over a step, without joints, over m g dt and that at an arm of 0.1 m."""
    worst = np.zeros(2)
    for before, after, contacts, pushes in zip(film.states, film.states[1:], film.contacts, film.pushes):
        for k, body in enumerate(film.scene.moving):
            force, torque = (np.array(part, float) for part in pushes.get(body.name, (np.zeros(3), np.zeros(3))))
            push, turning = dt * (force + body.mass * np.array(film.scene.gravity)), dt * torque
            for contact in contacts:
                impulse = contact.impulse * ((contact.second == body.name) - (contact.first == body.name))
                push, turning = push + impulse, turning + np.cross(contact.point - before.position[k], impulse)
            rotation = before.rotation[k]
            inertia = rotation @ np.diag(body.inertia) @ rotation.T
            turning = turning - dt * np.cross(before.spin[k], inertia @ before.spin[k])
            missing = (body.mass * (after.velocity[k] - before.velocity[k]) - push,
                       inertia @ (after.spin[k] - before.spin[k]) - turning)
            worst = np.maximum(worst, np.abs(missing).max(1) / (body.mass * g * dt * np.array([1, 0.1])))
    return worst


def free():
    film = play(Scene((box("a", (0.1, 0.2, 0.3), 2.0, position=(0, 0, 5), velocity=(1, 0, 0), spin=(0, 0, 3)),)), 0.5)
    x, t = film.positions("a")[-1], film.times[-1]
    check(np.abs(x - [t, 0, 5 - g * t * (t + dt) / 2]).max() < 1e-12, "free fall by semi-implicit Euler")
    R = film.rotations("a")[-1]
    check(abs(np.arctan2(R[1, 0], R[0, 0]) - 3 * t) < 1e-9, "and a steady spin about an axis")
    bodies = (box("a", (0.1, 0.2, 0.3), 2.0),
              box("b", (0.1, 0.2, 0.3), 2.0, position=(3, 0, 0), rotation=turn((0, 0, 1), 0.5)))
    world = Dart().world(Scene(bodies, gravity=(0, 0, 0)), dt, awake)
    world.step({"a": ((1, 2, 3), (0, 0, 0.5)), "b": ((0, 0, 0), (0.1, 0.2, 0.3))})
    first = world.state()
    R = first.rotation[1]
    spins = [np.array([0, 0, 0.5]) / bodies[0].inertia, R @ (R.T @ [0.1, 0.2, 0.3] / bodies[1].inertia)]
    check(np.abs(first.velocity - dt * np.array([[0.5, 1, 1.5], [0, 0, 0]])).max() < 1e-15
          and np.abs(first.spin - dt * np.array(spins)).max() < 1e-6, "a force and a torque act at the centre of mass")
    world.step({})
    check(np.abs(world.state().velocity - first.velocity).max() < 1e-15, "for one step")


def rest():
    corners = tuple((0.1 * x, 0.1 * y, 0.1 * x * y) for x in (-1, 1) for y in (-1, 1))  # a tetrahedron
    down = turn(np.array([-1, 1, 0]) / np.sqrt(2), np.arccos(1 / np.sqrt(3)))
    hull = Body("hull", (Part(Hull(corners)),), 1.0, (0.004,) * 3, (0, 0, 0.1 / np.sqrt(3)), down)
    disc = Body("disc", (Part(Cylinder(0.1, 0.1)),), 1.0, (0.0058, 0.0058, 0.005), (0, 0, 0.1))
    for name, options in Dart.variants.items():
        # iterative solvers at DART's tolerances sink; FCL has one or two points on a plane, which do not carry the hull
        loose = name in ("pgs", "nsgs", "fbf", "plane")
        for body in (block(), hull):
            if name == "own detector" and body is hull:
                refused("hull", Scene((ground(), body)), options)
                continue
            film = play(Scene((ground(), body)), 0.2, None, options)
            solved = [step for step in film.contacts if step and step[0].impulse is not None]
            weight = np.mean([sum(lift(c, body.name) for c in step) for step in solved[-50:]]) / (body.mass * g * dt)
            moved = np.abs(film.positions(body.name) - body.position).max()
            check(abs(weight - 1) < (1e-2 if loose else 1e-5), f"{name}: the {body.name}'s contacts carry {weight:.7f}")
            check(all(c.impulse @ c.normal >= 0 and abs(c.normal[2]) > 0.99 for step in solved for c in step)
                  and moved < (1e-2 if loose else 1e-5), f"{name}: and it moves {moved:.0e} m")
    asleep = play(Scene((ground(), block())), 0.7, None, {}).contacts[-1]
    check(asleep and all(c.impulse is None for c in asleep), "contacts of a body asleep show no impulses")
    film = play(Scene((ground(), disc)), 0.2, None, best)
    check(np.abs(film.positions("disc") - disc.position).max() < 1e-5, "a cylinder stands")
    film = play(Scene((ground(), *(Body(f"b{k}", (Part(Hull(tuple((x, y, z) for x in (-.1, .1) for y in (-.1, .1)
                                                                 for z in (-.1, .1)))),), 1.0, (0.04 / 6,) * 3,
                                        (0, 0, 0.1 + 0.2 * k)) for k in range(3)))), 0.5, None, best)
    check(np.abs(film.states[-1].position - film.states[0].position).max() < 1e-4, "hulls stand on each other")


def slide():
    exact = 4 / (2 * 0.5 * g)
    for name, options in Dart.variants.items():
        if name in ("plane", "associated"):
            continue
        film = play(Scene((ground(), block(velocity=(2, 0, 0)))), 0.5, None, options)
        x = film.positions("block")
        check(abs(x[-1, 0] - exact + dt) < 2e-5, f"{name}: stops after {x[-1, 0]:.6f} m, v dt / 2 before {exact:.6f}")
        check(np.abs(x[:, 2] - 0.1).max() < 2e-5, "and stays on the ground")
        if options.get("solver") in ("nsgs", "fbf"):
            check(max(beyond(c) for step in film.contacts for c in step) < 1e-12, "within the cone")
        linear, angular = defects(first(film, 200))
        check(max(linear, angular) < 1e-6, f"and by the equation of motion, {linear:.0e} and {angular:.0e}")
    film = play(Scene((ground(), block(velocity=(2, 0, 0)))), 0.5, None, Dart.variants["associated"])
    lifted = film.positions("block")[:, 2].max() - 0.1
    check(0.03 < lifted < 0.04, f"the convex relaxation lifts it by {lifted:.4f} m")


def first(film, steps):
    film.states, film.contacts, film.pushes = film.states[:steps + 1], film.contacts[:steps], film.pushes[:steps]
    return film


def tumbling():
    dropped = Scene((ground(), block(position=(0, 0, 0.4), rotation=turn((0.6, 0.8, 0), 0.4), velocity=(1, 0, 0)),
                     ball("ball", 0.1, 1.0, position=(0.1, 0.02, 0.8))))
    film = play(dropped, 0.4, {"ball": ((0.3, 0, 0), (0, 0.01, 0))})
    linear, angular = defects(film)
    check(linear < 1e-9 and angular < 1e-9, f"impacts by the equation of motion, {linear:.0e} and {angular:.0e}")
    check({frozenset((c.first, c.second)) for step in film.contacts for c in step}
          >= {frozenset(("ground", "block")), frozenset(("block", "ball"))}, "between the bodies that are named")
    apart = play(Scene(dropped.bodies, apart=(("ball", "block"),)), 0.4)
    check(all({c.first, c.second} != {"ball", "block"} for step in apart.contacts for c in step),
          "which may be kept apart")


def threshold():
    for part, moves in ((0.9, False), (0.99, False), (1.01, True)):
        film = play(Scene((ground(), block())), 0.5, {"block": ((part * 0.5 * 2 * g, 0, 0), (0, 0, 0))})
        speed = film.velocities("block")[-1, 0]
        check((speed > 0.01) == moves and (moves or speed < 1e-6), f"pushed with {part} of the limit: {speed:.1e} m/s")


def joints():
    def along(seconds, pushes=None, options=awake, **more):
        scene = Scene((block(position=(0, 0, 0)),), joints=(Joint("rail", "slide", "block", axis=(1, 0, 0), **more),))
        film = play(scene, seconds, pushes and {"block": ((pushes, 0, 0), (0, 0, 0))}, options)
        if np.abs(film.positions("block")[:, 1:]).max() > 1e-12:
            raise SystemExit("FAILED: a block left its rail")
        return film.positions("block")[-1, 0], film.velocities("block")[-1, 0]

    for options in (awake, best):
        check(abs(along(1.0, None, options, rate=2.0)[0] - 2) < 1e-9, "on a rail, free")
        check(abs(along(2.0, None, options, rate=2.0, friction=3.0)[0] - 4 / 3) < 2e-3, "stopped by friction")
        check(abs(along(0.5, 2.9, options, friction=3.0)[0]) < 1e-9, "held by friction")
        check(abs(along(1.0, 3.1, options, friction=3.0)[1] - 0.05) < 1e-6, "but not above it")
        check(abs(along(1.0, 3.0, options, limits=(-0.1, 0.2))[0] - 0.2) < 1e-6, "pushed to its limit")
        check(abs(along(1.0, None, options, drive=Drive(damping=1e4, velocity=100.0, effort=4.0))[1] - 2) < 1e-9,
              "driven with the effort's acceleration")
        check(abs(along(3.0, None, options, drive=Drive(1e4, 1e3, 0.1, 0.0, 4.0))[0] - 0.1) < 1e-4, "to a position")
        check(abs(along(0.5, 3.9, options, drive=Drive(damping=1e4, effort=4.0))[0]) < 1e-9, "held within the effort")
        check(abs(along(1.0, 4.1, options, drive=Drive(damping=1e4, effort=4.0))[1] - 0.05) < 1e-6, "but not above it")
    check(abs(along(1.0, 2.0, drive=Drive(100.0, 20.0, 0.1))[0] - 0.1 - 0.02) < 1e-3, "on a spring with its sag")
    length, angle = 0.5, 0.05
    film = play(Scene((ball("bob", 0.05, 1.0, position=(length * np.sin(angle), 0, -length * np.cos(angle))),),
                      joints=(Joint("pivot", "hinge", "bob", axis=(0, 1, 0)),)), 3.2)
    x, t = film.positions("bob")[:, 0], film.times
    k = np.flatnonzero((x[:-1] > 0) & (x[1:] <= 0))
    crossings = t[k] + dt * x[k] / (x[k] - x[k + 1])
    exact = 2 * np.pi * np.sqrt((0.4 * 0.05**2 + length**2) / (g * length)) * (1 + angle**2 / 16)
    period = (crossings[-1] - crossings[0]) / (len(crossings) - 1)
    check(abs(period / exact - 1) < 1e-5, f"a pendulum's period {period:.6f} s")
    arm = box("arm", (0.2, 0.05, 0.05), 2.0, position=(0.2, 0, 0))
    for friction, holds in ((4.0, True), (3.9, False)):
        film = play(Scene((arm,), joints=(Joint("pivot", "hinge", "arm", axis=(0, 1, 0), friction=friction),)), 0.5)
        check((abs(film.spins("arm")[-1, 1]) < 1e-6) == holds, f"an arm of 3.924 N m on a hinge with {friction} N m")
    film = play(Scene((arm,), joints=(Joint("pivot", "hinge", "arm", axis=(0, 1, 0), limits=(-0.1, 0.3)),)), 1.0)
    R = film.rotations("arm")[-1]
    check(abs(np.arctan2(R[0, 2], R[0, 0]) - 0.3) < 1e-6, "falls to its limit")
    pair = (block(position=(0, 0, 0)), box("tail", (0.1, 0.05, 0.05), 1.0, position=(0.3, 0, 0)))
    film = play(Scene(pair, joints=(Joint("pivot", "hinge", "tail", "block", (0.15, 0, 0), (0, 1, 0), rate=2.0),),
                      gravity=(0, 0, 0)), 0.5)
    check(np.allclose(film.states[0].velocity, [[0, 0, 0], [0, 0, -0.3]]), "a child's velocity is that of its joint")
    ends = [np.linalg.norm(s.position[0] + s.rotation[0] @ [0.15, 0, 0] - s.position[1] + s.rotation[1] @ [0.15, 0, 0])
            for s in film.states]
    check(max(ends) < 1e-12, "and stays at it")


def bounce():
    film = play(Scene((ground(), ball("ball", 0.1, 1.0, position=(0, 0, 1.1))), Material(0.5, restitution=0.8)), 1.2)
    height = (film.positions("ball")[500:, 2] - 0.1).max()
    check(abs(height - 0.64) < 3e-3, f"a ball bounces to {height:.4f} of 0.64 m")


def stack():
    boxes = tuple(box(f"b{k}", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.1 + 0.2 * k)) for k in range(10))
    for name in ("default", "awake"):
        film = play(Scene((ground(), *boxes)), 2.0, None, Dart.variants[name])
        moved = np.abs(film.states[-1].position - film.states[0].position).max()
        check(moved < 1e-4, f"{name}: ten boxes move {moved:.0e} m in 2 s")
    again = [play(Scene((ground(), *boxes[:4])), 0.2, None, best).states for _ in range(2)]
    check(all(np.array_equal(one.position, two.position) and np.array_equal(one.velocity, two.velocity)
              for one, two in zip(*again)), "two worlds agree to the bit")


def limits_of_use():
    refused("torsion", Scene((block(),), Material(torsion=0.01)))
    refused("rolling", Scene((block(),), Material(rolling=0.01)))
    refused("drive", Scene((block(),), joints=(Joint("j", "slide", "block", drive=Drive(stiffness=1.0, effort=1.0)),)))
    for options in ({"detectr": "ode"}, {"detector": "odd"}):
        try:
            Dart().world(Scene((block(),)), dt, options)
        except ValueError as error:
            check(any(word in str(error) for word in ("detectr", "odd")), f"one line: {error}")
        else:
            raise SystemExit(f"FAILED: DART took {options}")
    check(Dart().about()["version"] == importlib.metadata.version("dartpy"), f"of {Dart().about()}")


free()
rest()
slide()
tumbling()
threshold()
joints()
bounce()
stack()
limits_of_use()
