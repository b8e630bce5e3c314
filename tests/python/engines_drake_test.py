#!/usr/bin/env python3
"""Scenes of known outcome in Drake, for its contact approximations and CENIC.
usage: engines_drake_test.py PACKAGE_FOLDER      77: a module is not installed"""
import importlib.metadata, importlib.util, os, sys

for module in ("numpy", "pydrake"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
sys.path.insert(0, os.path.abspath(sys.argv[1]))
import numpy as np
from engine_checks import beyond, check, lift
from conebench.engines import Cannot
from conebench.engines.drake import Drake
from conebench.phenomena.laboratory import Laboratory
from conebench.phenomena.scene import (Body, Box, Cylinder, Drive, HalfSpace, Hull, Joint, Material, Part, Scene, ball,
                                       box, ground, turn)

g, dt = 9.81, 1e-3
best = Drake.variants["best"]
discrete = ("hydroelastic", "similar", "sap", "tamsi", "best")


def play(scene, seconds, pushes=None, options=best, time_step=dt):
    return Laboratory(Drake(), options, time_step).play(scene, seconds, pushes)


def block(mass=2.0, **more):
    return box("block", (0.1, 0.1, 0.1), mass, **{"position": (0, 0, 0.1), **more})


def refused(element, scene, options=best):
    try:
        Drake().world(scene, dt, options)
    except Cannot as error:
        check(error.element == element, f"cannot: {error}")
    else:
        raise SystemExit(f"FAILED: Drake took {element}")


def defect(film):
    """Of momentum over a step, without joints, over the greatest momentum or impulse of a body, as in Drake's tests of
    convergence, where all contacts show impulses; and how many steps did."""
    worst, steps = 0.0, 0
    for before, after, contacts, pushes in zip(film.states, film.states[1:], film.contacts, film.pushes):
        if any(contact.impulse is None for contact in contacts):
            continue
        steps += 1
        for k, body in enumerate(film.scene.moving):
            parts = [dt * (body.mass * np.array(film.scene.gravity) + pushes.get(body.name, (np.zeros(3),))[0])]
            parts += [contact.impulse * ((contact.second == body.name) - (contact.first == body.name))
                      for contact in contacts]
            missing = body.mass * (after.velocity[k] - before.velocity[k]) - sum(parts)
            worst = max(worst, np.abs(missing).max() / np.abs([*parts, body.mass * after.velocity[k]]).max())
    return worst, steps


def free():
    thrown = box("a", (0.1, 0.2, 0.3), 2.0, position=(0, 0, 5), velocity=(1, 0, 0), spin=(0, 0, 3))
    for name, options in Drake.variants.items():
        film = play(Scene((thrown,)), 0.3, None, options)
        x, t, R = film.positions("a")[-1], film.times[-1], film.rotations("a")[-1]
        nearer = 0.5 if name == "cenic" else 1.0  # two half steps
        check(np.abs(x[:2] - [t, 0]).max() < 1e-12 and abs(x[2] - 5 + g * t * (t + nearer * dt) / 2) < 1e-5
              and abs(np.arctan2(R[1, 0], R[0, 0]) - 3 * t) < 1e-5, f"{name}: free fall and a steady spin")
        bodies = (box("a", (0.1, 0.2, 0.3), 2.0),
                  box("b", (0.1, 0.2, 0.3), 2.0, position=(3, 0, 0), rotation=turn((0, 0, 1), 0.5)))
        world = Drake().world(Scene(bodies, gravity=(0, 0, 0)), dt, options)
        world.step({"a": ((1, 2, 3), (0, 0, 0.5)), "b": ((0, 0, 0), (0.1, 0.2, 0.3))})
        after = world.state()
        R = after.rotation[1]
        spins = [np.array([0, 0, 0.5]) / bodies[0].inertia, R @ (R.T @ [0.1, 0.2, 0.3] / bodies[1].inertia)]
        check(np.abs(after.velocity - dt * np.array([[0.5, 1, 1.5], [0, 0, 0]])).max() < 1e-15
              and np.abs(after.spin - dt * np.array(spins)).max() < 1e-5, "a force and a torque act at the centre")
        world.step({})
        check(np.abs(world.state().velocity - after.velocity).max() < 1e-15, "for one step")


def rest():
    corners = tuple((0.1 * x, 0.1 * y, 0.1 * x * y) for x in (-1, 1) for y in (-1, 1))  # a tetrahedron
    down = turn(np.array([-1, 1, 0]) / np.sqrt(2), np.arccos(1 / np.sqrt(3)))
    hull = Body("hull", (Part(Hull(corners)),), 1.0, (0.004,) * 3, (0, 0, 0.1 / np.sqrt(3)), down)
    disc = Body("disc", (Part(Cylinder(0.1, 0.1)),), 1.0, (0.0058, 0.0058, 0.005), (0, 0, 0.1))
    for name in discrete:
        for body in (block(), hull, disc, ball("ball", 0.1, 1.0, position=(0, 0, 0.1))):
            film = play(Scene((ground(), body)), 0.2, None, Drake.variants[name])
            carried = np.mean([sum(lift(c, body.name) for c in step) for step in film.contacts[-100:]])
            weight = carried / (body.mass * g * dt)
            moved = np.abs(film.positions(body.name) - body.position).max()
            check(abs(weight - 1) < 5e-2 and moved < 3e-4,
                  f"{name}: the {body.name}'s contacts carry {weight:.6f} weights; it moves {moved:.0e} m")
    for name in ("icf", "cenic"):
        film = play(Scene((ground(), block())), 0.2, None, Drake.variants[name])
        check(np.abs(film.positions("block") - [0, 0, 0.1]).max() < 3e-4, f"{name}: the block rests")
        check(film.contacts[-1] and all(c.impulse is None for c in film.contacts[-1]), "and shows no impulses")


def slide():
    exact = 4 / (2 * 0.5 * g)
    for name in (*discrete, "icf", "cenic"):
        film = play(Scene((ground(), block(velocity=(2, 0, 0)))), 0.6, None, Drake.variants[name])
        x = film.positions("block")
        check(abs(x[-1, 0] / exact - 1) < 1.5e-2, f"{name}: stops after {x[-1, 0]:.4f} of {exact:.4f} m")
        lifted = x[:, 2].max() - 0.1
        check((0.02 < lifted < 0.04) if name in ("sap", "similar") else lifted < 1e-4, f"and lifts by {lifted:.1e} m")
        if name in ("sap", "tamsi"):
            worst = max(beyond(c) for step in film.contacts for c in step if c.impulse is not None)
            check(worst < 1e-6, "within the cone")
    film = play(Scene((ground(), block(velocity=(2, 0, 0)))), 0.6, None, {})
    check(all(len(step) <= 1 for step in film.contacts), "a box has one point by default, on which it cannot slide")


def impulses():
    balls = (ball("a", 0.1, 1.0, position=(0, 0, 0.3), velocity=(1, 0, 0)),
             ball("b", 0.1, 2.0, position=(0.1, 0.02, 0.6)))
    for name in ("lagged", "similar", "sap", "tamsi"):
        film = play(Scene((ground(), *balls)), 0.5, {"b": ((0.3, 0, 0), (0, 0.01, 0))},
                    {"discrete_contact_approximation": name})
        pairs = {frozenset((c.first, c.second)) for step in film.contacts for c in step}
        check(pairs >= {frozenset(("ground", "a")), frozenset("ab")}, f"{name}: balls hit the ground and each other")
        check(all(c.impulse @ c.normal >= 0 for step in film.contacts for c in step), "pushing")
        missing, steps = defect(film)
        check(missing < 1e-5 and steps == len(film.contacts), f"by the equation of motion, to {missing:.0e}")
    for name in discrete:
        film = play(Scene((ground(), block())), 0.2, None, Drake.variants[name])
        film.states, film.contacts, film.pushes = film.states[100:], film.contacts[100:], film.pushes[100:]
        missing, steps = defect(film)
        check(missing < 1e-6 and steps == 100, f"{name}: a block at rest as well, to {missing:.0e}")
    apart = play(Scene((ground(), *balls), apart=(("a", "b"),)), 0.5)
    check(all({c.first, c.second} != {"a", "b"} for step in apart.contacts for c in step), "bodies may be kept apart")


def threshold():
    film = play(Scene((ground(), block())), 0.4, {"block": ((0.9 * 0.5 * 2 * g, 0, 0), (0, 0, 0))}, best)
    creep = 1e6 * film.velocities("block")[-1, 0]
    check(2 < creep < 10, f"it creeps by {creep:.1f} um/s at 0.9 of the limit")
    film = play(Scene((ground(), block())), 0.4, {"block": ((1.02 * 0.5 * 2 * g, 0, 0), (0, 0, 0))})
    check(film.velocities("block")[-1, 0] > 0.02, "and moves off beyond it")
    film = play(Scene((ground(), block())), 0.4, {"block": ((0.9 * 0.5 * 2 * g, 0, 0), (0, 0, 0))},
                Drake.variants["hydroelastic"])
    creep = 1e6 * film.velocities("block")[-1, 0]
    check(abs(creep - 0.9 / np.sqrt(1 - 0.81) * 100) < 1, f"by {creep:.1f} um/s with Drake's stiction tolerance")


def joints():
    def along(seconds, pushes=None, options=best, **more):
        scene = Scene((block(position=(0, 0, 0)),), joints=(Joint("rail", "slide", "block", axis=(1, 0, 0), **more),))
        film = play(scene, seconds, pushes and {"block": ((pushes, 0, 0), (0, 0, 0))}, options)
        if np.abs(film.positions("block")[:, 1:]).max() > 1e-12:
            raise SystemExit("FAILED: a block left its rail")
        return film.positions("block")[-1, 0], film.velocities("block")[-1, 0]

    for name in ("default", "sap", "icf", "cenic"):
        options = Drake.variants[name]
        check(abs(along(1.0, None, options, rate=2.0)[0] - 2) < 1e-9, f"{name}: on a rail, free")
        check(abs(along(1.0, 3.0, options, limits=(-0.1, 0.2))[0] - 0.2) < 1e-6, "pushed to its limit")
        check(abs(along(1.0, None, options, drive=Drive(1e4, 1e3, 100.0, 0.0, 4.0))[1] - 2) < 1e-9,
              "driven with the effort's acceleration")
        check(abs(along(3.0, None, options, drive=Drive(1e4, 1e3, 0.1, 0.0, 4.0))[0] - 0.1) < 1e-4, "to a position")
        held = along(0.5, 3.9, options, drive=Drive(damping=1e4, effort=4.0))[1]
        check(abs(held - 3.9 / 1e4) < 1e-6, "held within the effort, by the damper")
        check(abs(along(1.0, 4.1, options, drive=Drive(damping=1e4, effort=4.0))[1] - 0.05) < 1e-3, "but not above it")
    check(abs(along(1.0, None, {}, drive=Drive(damping=1e4, velocity=100.0, effort=4.0))[1] - 2) < 1e-9, "to a speed")
    check(abs(along(2.0, 2.0, {}, drive=Drive(100.0, 20.0, 0.1))[0] - 0.12) < 1e-4, "on a spring with its sag")
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


def stack():
    boxes = tuple(box(f"b{k}", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.1 + 0.2 * k)) for k in range(10))
    film = play(Scene((ground(), *boxes)), 2.0)
    moved = np.abs(film.states[-1].position - film.states[0].position).max(0)
    check(max(moved[:2]) < 1e-6 and moved[2] < 4e-4,
          f"ten boxes move {max(moved[:2]):.0e} m aside and sink {moved[2]:.0e} m")
    again = [play(Scene((ground(), *boxes[:3])), 0.1).states for _ in range(2)]
    check(all(np.array_equal(one.position, two.position) and np.array_equal(one.velocity, two.velocity)
              for one, two in zip(*again)), "two worlds agree to the bit")


def fixed():
    slope = Body("slope", (Part(HalfSpace()),), rotation=turn((0, 1, 0), 0.2))
    wall = Body("wall", (Part(Box((0.1, 1, 1))),), position=(1, 0, 0))
    sliding = block(position=(0.1 * np.sin(0.2), 0, 0.1 * np.cos(0.2)), rotation=turn((0, 1, 0), 0.2))
    film = play(Scene((slope, wall, sliding, box("arm", (0.1, 0.05, 0.05), 1.0, position=(1, 0, 1))), Material(0.1),
                      (Joint("axle", "hinge", "arm", "wall", (1, 0, 1), (1, 0, 0), rate=1.0),)), 0.5)
    way = np.linalg.norm(film.positions("block")[-1] - film.positions("block")[0])
    exact = g * (np.sin(0.2) - 0.1 * np.cos(0.2)) * 0.5**2 / 2
    check(abs(way / exact - 1) < 1e-2, f"down a slope {way:.4f} of {exact:.4f} m")
    check(abs(film.spins("arm")[-1, 0] - 1) < 1e-9, "an arm turns in the wall that holds it")


def limits_of_use():
    refused("restitution", Scene((block(),), Material(restitution=0.8)))
    refused("torsion", Scene((block(),), Material(torsion=0.01)))
    refused("rolling", Scene((block(),), Material(rolling=0.01)))
    refused("joint friction", Scene((block(),), joints=(Joint("j", "slide", "block", friction=1.0),)))
    driven = Scene((block(),), joints=(Joint("j", "slide", "block", drive=Drive(1.0, 1.0)),))
    refused("drive", driven, Drake.variants["tamsi"])
    for options in ({"stiction": 1e-4}, {"integrator": "odd"}):
        try:
            Drake().world(Scene((block(),)), dt, options)
        except ValueError as error:
            check(any(word in str(error) for word in ("stiction,", "stiction;", "odd")), f"one line: {error}")
        else:
            raise SystemExit(f"FAILED: Drake took {options}")
    check(Drake().about()["version"] == importlib.metadata.version("drake"), f"of {Drake().about()}")


free()
rest()
slide()
impulses()
threshold()
joints()
stack()
fixed()
limits_of_use()
