#!/usr/bin/env python3
"""The loop around Pinocchio's constraint solvers says the same of a scene as closed forms, and shows its known faults.
usage: engines_pinocchio_test.py PACKAGE_FOLDER      77: a module is not installed, or pin is older than 4.1"""
import importlib.util, os, sys

for module in ("numpy", "pinocchio"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
sys.path.insert(0, os.path.abspath(sys.argv[1]))
import pinocchio

if not hasattr(pinocchio, "ADMMConstraintSolver"):
    print(f"skipped: needs pin 4.1, this is {pinocchio.__version__}")
    sys.exit(77)
import numpy as np
from engine_checks import balance, check, floor_force
from conebench.engines import Cannot
from conebench.engines.pinocchio import Pinocchio
from conebench.phenomena.laboratory import Laboratory
from conebench.phenomena.scene import (Body, Box, Cylinder, Drive, Hull, Joint, Material, Part, Scene, ball, box,
                                       ground, matrix, turn)

engine = Pinocchio()
g, h = 9.81, 2e-3


def play(scene, seconds, variant="best", pushes=None, time_step=h):
    return Laboratory(engine, engine.variants[variant], time_step).play(scene, seconds, pushes)


def free_bodies():
    for variant in engine.variants:
        film = play(Scene((ball("body", 0.1, 2.0, position=(0, 0, 5), velocity=(1, 0, 0)),)), 0.5, variant)
        t = film.times[-1]
        check(np.allclose(film.positions("body")[-1], (t, 0, 5 - g * t * (t + h) / 2), atol=1e-12),
              f"{variant}: free fall in symplectic steps")
    turned = turn((0.6, 0, 0.8), 0.7)
    body = box("body", (0.1, 0.2, 0.3), 2.0, rotation=turned)
    wrench = ((1, 2, 3), (0.1, 0.2, 0.3))
    film = play(Scene((body,), gravity=(0, 0, 0)), 0.01, pushes=lambda time: {"body": wrench} if time < h / 2 else {})
    r = matrix(turned)
    check(np.allclose(film.velocities("body")[1:], np.array(wrench[0]) * h / 2), "a force acts for one step")
    check(np.allclose(r @ np.diag(body.inertia) @ r.T @ film.spins("body")[1], np.array(wrench[1]) * h)
          and np.allclose(film.spins("body")[-1], film.spins("body")[1], rtol=0.02), "a torque acts for one step")
    scene = Scene((ball("body", 0.1, 1.0, velocity=(1, 0, 0), spin=(0, 0, 20)),), gravity=(0, 0, 0))
    speeds = {variant: np.linalg.norm(play(scene, 0.5, variant).velocities("body")[-1])
              for variant in ("best", "default")}
    # v + h (-w x v) in the axes of the body is longer than v by sqrt(1 + (h w)^2).
    grown = (1 + (20 * h) ** 2) ** (0.5 / h / 2)
    check(abs(speeds["best"] - 1) < 1e-12 and abs(speeds["default"] / grown - 1) < 1e-9,
          f"on a free-flyer joint a spinning ball's speed grows by {speeds['default']:.3f} in 0.5 s, else not")


def contacts():
    slab = box("a", (0.1, 0.2, 0.05), 2.0, position=(0, 0, 0.05), velocity=(1, 0.5, 0), spin=(0, 0, 3))
    scene = Scene((ground(), slab, box("b", (0.05, 0.05, 0.05), 1.0, position=(0.02, 0, 0.15))))
    for variant in engine.variants:
        film, again = play(scene, 0.2, variant), play(scene, 0.2, variant)
        error = balance(film)
        # A body on a free-flyer joint turns its velocity with an error of h |w|.
        check(error < (1e-10 if variant == "best" else 0.3), f"{variant}: impulses balance the momentum, {error:.1e}")
        check(all(np.array_equal(one.position, other.position) and np.array_equal(one.spin, other.spin)
                  for one, other in zip(film.states, again.states)), f"{variant}: the same bits again")
        touched = {name for step in film.contacts for one in step for name in (one.first, one.second)}
        check(touched == {"ground", "a", "b"}
              and all(one.impulse @ one.normal > -1e-9 for step in film.contacts for one in step),
              f"{variant}: contacts push")
        film = play(Scene((ground(), box("body", (0.1, 0.1, 0.1), 2.0, position=(0, 0, 0.1)))), 0.5, variant)
        check(abs(floor_force(film)[-1] - 1) < 1e-3, f"{variant}: a box at rest weighs what it weighs")
        tile = box("body", (0.1, 0.1, 0.02), 1.0, position=(0, 0, 0.02), velocity=(2, 0, 0))
        film = play(Scene((ground(), tile)), 1.0, variant)
        distance, law = film.positions("body")[-1][0], 4 / (2 * 0.5 * g)
        check(abs(distance - law) < 1.1 * h, f"{variant}: a box slides {distance:.4f} m, law {law:.4f}")
        lift = film.positions("body")[:, 2].max() - 0.02
        check(lift > 0.02 if variant == "ADMM, convex" else lift < 1e-6, f"{variant}: and lifts by {lift:.1e} m")


def shapes():
    points = 0.1 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
    normal = points[1:].mean(0) / np.linalg.norm(points[1:].mean(0))
    axis = np.cross(normal, (0, 0, -1))
    r = matrix(turn(axis / np.linalg.norm(axis), np.arccos(-normal[2])))
    standing = points @ r.T
    low = standing[:, 2].min()
    solids = {"tetrahedron": (Hull(tuple(map(tuple, standing))), -low), "cylinder": (Cylinder(0.1, 0.05), 0.05)}
    for name, (shape, height) in solids.items():
        film = play(Scene((ground(), Body("body", (Part(shape),), 1.0, (0.004,) * 3, (0, 0, height)))), 0.5)
        check(abs(floor_force(film)[-1] - 1) < 1e-6 and abs(film.positions("body")[-1][2] - height) < 1e-9,
              f"a {name} stands on the ground")
    parts = (Part(Box((0.1, 0.1, 0.01)), (0, 0, -0.09)),
             Part(Hull(((-.1, -.1, .05), (.1, -.1, .05), (0, .1, .05), (0, 0, .1)))))
    film = play(Scene((ground(), Body("body", parts, 1.0, (0.01,) * 3, (0, 0, 0.1)))), 0.5)
    check(abs(film.positions("body")[-1][2] - 0.1) < 1e-9, "a body of two parts stands on one")
    tilted = box("body", (0.1, 0.1, 0.1), 1.0, rotation=turn((1, 0, 0), 2e-3), position=(0, 0, 0.1 + 1e-4))
    film = play(Scene((ground(), tilted)), 0.5)
    check(abs(film.positions("body")[-1][2] - 0.1) < 1e-6 and abs(film.rotations("body")[-1] - np.eye(3)).max() < 1e-6,
          "a box lies down flat: each point of a patch has its own gap")
    roller = Body("body", (Part(Cylinder(0.1, 0.05)),), 1.0, (0.004, 0.004, 0.005), (0, 0, 0.1),
                  turn((1, 0, 0), np.pi / 2), (0.5, 0, 0), (0, 5, 0))
    film = play(Scene((ground(), roller)), 0.5)
    check(np.allclose(film.positions("body")[-1], (0.25, 0, 0.1), atol=1e-5), "a cylinder rolls")


def bounce():
    scene = Scene((ground(), ball("body", 0.1, 1.0, position=(0, 0, 1.1))), Material(restitution=0.8))
    film = play(scene, 0.9)
    height = (film.positions("body")[250:, 2] - 0.1).max()
    check(abs(height - 0.64) < 0.01, f"e = 0.8 bounces to {height:.4f}, law 0.64")
    film = play(Scene(scene.bodies), 0.9)
    check((film.positions("body")[250:, 2] - 0.1).max() < 1e-9, "e = 0 does not bounce")


def joints():
    for variant in engine.variants:
        off = 2e-5 if variant == "best" else 2e-3
        small, arm, inertia = 0.05, 0.5, (0.01, 0.02, 0.03)
        bob = Body("body", (Part(Box((0.02, 0.02, 0.1))),), 1.5, inertia,
                   (arm * np.sin(small), 0, -arm * np.cos(small)), turn((0, 1, 0), -small))
        film = play(Scene((bob,), joints=(Joint("hinge", "hinge", "body", axis=(0, 1, 0)),)), 3.2, variant)
        x = film.positions("body")[:, 0]
        falls = [k - x[k] / (x[k] - x[k - 1]) for k in range(1, len(x)) if x[k - 1] > 0 >= x[k]]
        law = 2 * np.pi * np.sqrt((1.5 * arm**2 + inertia[1]) / (1.5 * g * arm)) * (1 + small**2 / 16)
        check(abs((falls[1] - falls[0]) * h - law) < 1e-4, f"{variant}: a pendulum's period is {law:.4f} s")
        slider = box("body", (0.1, 0.1, 0.1), 1.5, position=(0.3, 0, 0))

        def slide(seconds, pull=(0, 0, 0), axis=(1, 0, 0), **more):
            film = play(Scene((slider,), joints=(Joint("slide", "slide", "body", axis=axis, **more),), gravity=pull),
                        seconds, variant)
            return (film.positions("body") - slider.position) @ axis, film.velocities("body") @ axis

        q, rate = slide(1.0, rate=1.0, friction=2.0)
        check(abs(q[-1] - 0.375) < h and abs(rate[-1]) < 1e-5, f"{variant}: a slide stops by its friction")
        q, rate = slide(0.5, (0, 0, -g), (0, 0, 1), friction=15.0)
        check(abs(rate[-1]) < 1e-5 and abs(q[-1]) < 1e-5, f"{variant}: and is held by it")
        for stiffness, damping in ((0, 100.0), (1e3, 50.0), (1e4, 1e4)):
            rate = slide(0.5, drive=Drive(stiffness, damping, 1e3, 1e3, 3.0))[1][-1]
            check(abs(rate - 1.0) < off, f"{variant}: a drive gives its effort, {rate:.5f}")
        for stiffness, damping in ((1e4, 100.0), (1e6, 1e4)):
            for effort in (np.inf, 1e4):
                q, _ = slide(1.0, (0, 0, -g), (0, 0, 1), drive=Drive(stiffness, damping, 0.1, effort=effort))
                check(abs(q[-1] - 0.1 + 1.5 * g / stiffness) < off, f"{variant}: a drive's spring carries the weight")
        q, rate = slide(1.0, (0, 0, -g), (0, 0, 1), limits=(-0.1, 0.1))
        check(abs(q[-1] + 0.1) < 1e-5 and abs(rate[-1]) < 1e-4, f"{variant}: a slide rests at its limit")
        bar = Body("body", (Part(Box((0.1, 0.02, 0.02))),), 1.5, inertia, (arm, 0, 0))
        film = play(Scene((bar,), joints=(Joint("hinge", "hinge", "body", axis=(0, 1, 0), limits=(-0.3, 0.5)),)), 2.0,
                    variant)
        x, _, z = film.positions("body")[-1]
        check(abs(np.arctan2(-z, x) - 0.5) < 1e-4, f"{variant}: a hinge rests at its limit")
    trolley, load = box("a", (0.1, 0.1, 0.1), 2.0), box("body", (0.05, 0.05, 0.05), 1.0, position=(0.4, 0, 0))
    film = play(Scene((load, trolley), joints=(
        Joint("slide", "slide", "body", "a", (0.2, 0, 0), (1, 0, 0), drive=Drive(0, 100.0, 0, 1e3, 3.0)),),
                      gravity=(0, 0, 0)), 0.3)
    check(np.allclose(film.velocities("body")[-1], (0.9, 0, 0))
          and np.allclose(film.velocities("a")[-1], (-0.45, 0, 0)), "a drive acts on both bodies")
    chain = (box("a", (0.3, 0.05, 0.05), 1.0, position=(0.3, 0, 2)),
             box("b", (0.3, 0.05, 0.05), 1.0, position=(0.9, 0, 2)))
    scene = Scene(chain, joints=(Joint("one", "hinge", "a", anchor=(0, 0, 2), axis=(0, 1, 0), rate=0.5),
                                 Joint("two", "hinge", "b", "a", (0.6, 0, 2), (0, 1, 0), rate=-1.0)))
    start = engine.world(scene, h, engine.variants["best"])
    check(np.allclose(start.state().velocity[1], (0, 0, -0.15)) and np.allclose(start.state().spin[1], (0, -0.5, 0))
          and start.joint_rates() == {"one": 0.5, "two": -1.0}, "a chain starts with its joints' rates")


def stack():
    boxes = (box(f"b{k}", (0.05, 0.05, 0.05), 1.0, position=(0, 0, 0.05 + 0.1 * k)) for k in range(10))
    film = play(Scene((ground(), *boxes)), 2.0)
    off = abs(film.positions("b9")[-1] - (0, 0, 0.95)).max()
    check(off < 1e-9 and abs(floor_force(film) - 1).max() < 1e-6, f"a stack of 10 stands, off by {off:.0e} m")


def limits_of_use():
    scene = Scene((ground(), ball("body", 0.1, 1.0, position=(0, 0, 0.1))))
    for options, said in (({"iteration": 5}, "iteration"), ({"solver": "NSGS"}, "NSGS"), ({"floating": "ball"}, "ball"),
                          ({"solver": "PGS", "anderson_capacity": 5}, "anderson_capacity")):
        try:
            engine.world(scene, h, options)
        except ValueError as error:
            check(said in str(error) and engine.id in str(error), f"one line: {error}")
        else:
            raise SystemExit(f"FAILED: {said} is taken")
    for material, element in ((Material(0.5, torsion=0.1), "torsional friction"),
                              (Material(0.5, rolling=0.1), "rolling friction")):
        try:
            engine.world(Scene(scene.bodies, material), h, {})
        except Cannot as lacks:
            check(lacks.element == element, f"cannot: {lacks}")
        else:
            raise SystemExit(f"FAILED: {element} is taken")


print(engine.about())
free_bodies()
contacts()
shapes()
bounce()
joints()
stack()
limits_of_use()
