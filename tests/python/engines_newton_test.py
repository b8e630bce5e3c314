#!/usr/bin/env python3
"""The adapter of Newton says the same of a scene as closed forms, and shows the solvers' known faults.
usage: engines_newton_test.py PACKAGE_FOLDER [default|best|others]      77: a module is not installed
Without warp's cache (WARP_CACHE_PATH) the kernels are compiled first, for a minute a solver."""
import importlib.util, os, sys

for module in ("numpy", "newton", "warp"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
sys.path.insert(0, os.path.abspath(sys.argv[1]))
import numpy as np
from engine_checks import check, floor_force
from conebench.engines import Cannot
from conebench.engines.newton import Newton
from conebench.phenomena.laboratory import Laboratory
from conebench.phenomena.scene import (Body, Box, Cylinder, Drive, Hull, Joint, Material, Part, Scene, ball, box,
                                       ground, matrix, turn)

engine = Newton()
parts = ("default", "best", "others")
chosen = set(parts).intersection(sys.argv[2:]) or parts
g, h = 9.81, 2e-3


def play(scene, seconds, variant, pushes=None, time_step=h):
    return Laboratory(engine, engine.variants[variant], time_step).play(scene, seconds, pushes)


def refused(scene, options, element):
    try:
        engine.world(scene, h, options)
    except Cannot as lacks:
        check(lacks.element == element, f"cannot: {lacks}")
    else:
        raise SystemExit(f"FAILED: {options} takes {element}")


def free_bodies(variant):
    film = play(Scene((ball("body", 0.1, 2.0, position=(0, 0, 5), velocity=(1, 0, 0), spin=(1, 2, 3)),)), 0.2, variant)
    t = film.times[-1]
    check(np.allclose(film.positions("body")[-1], (t, 0, 5 - g * t * (t + h) / 2), atol=1e-5)
          and np.allclose(film.spins("body")[-1], (1, 2, 3), atol=1e-4), f"{variant}: free fall in symplectic steps")
    turned = turn((0.6, 0, 0.8), 0.7)
    body = box("body", (0.1, 0.2, 0.3), 2.0, rotation=turned)
    wrench = ((1, 2, 3), (0.1, 0.2, 0.3))
    film = play(Scene((body,), gravity=(0, 0, 0)), 0.01, variant, lambda time: {"body": wrench} if time < h / 2 else {})
    r = matrix(turned)
    check(np.allclose(film.velocities("body")[1:], np.array(wrench[0]) * h / 2, rtol=1e-4), f"{variant}: a force "
          "acts for one step")
    check(np.allclose(r @ np.diag(body.inertia) @ r.T @ film.spins("body")[1], np.array(wrench[1]) * h, rtol=1e-3)
          and np.allclose(film.spins("body")[-1], film.spins("body")[1], rtol=0.02), f"{variant}: a torque, too")


def contacts(variant, exact):
    """`exact`: of a contact's distances [m]."""
    still = Scene((ground(), box("body", (0.1, 0.1, 0.1), 2.0, position=(0, 0, 0.1))))
    film = play(still, 0.4, variant)
    check(abs(floor_force(film)[-20:].mean() - 1) < 1e-3 and len(film.contacts[-1]) == 4
          and all(one.impulse @ one.normal >= 0 for step in film.contacts for one in step),
          f"{variant}: a box at rest weighs what it weighs, on four points")
    film = play(still, 0.4, variant, time_step=5e-3)
    check(abs(floor_force(film)[-20:].mean() - 1) < 1e-3 and len(film.contacts[-1]) == 4,
          f"{variant}: so it does with steps of 5 ms")
    film = play(Scene((ground(), box("body", (0.2, 0.2, 0.05), 1.0, position=(0, 0, 0.05), velocity=(2, 0, 0)))), 0.6,
                variant)
    distance, law = film.positions("body")[-1][0], 4 / (2 * 0.5 * g)
    check(abs(distance - law) < 1.5 * h and film.positions("body")[:, 2].max() < 0.05 + exact,
          f"{variant}: a box slides {distance:.4f} m, law {law:.4f}")
    early = [sum(one.impulse for one in step) for step in film.contacts[5:100]]
    change = [after.velocity[0] - before.velocity[0] for before, after in zip(film.states[5:100], film.states[6:101])]
    check(np.allclose(np.array(early) + (0, 0, -g * h), change, atol=2e-3 * g * h), f"{variant}: its impulses balance "
          "the momentum")
    scene = Scene((ground(), box("a", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.3), rotation=turn((1, 0, 0), 0.4)),
                   box("b", (0.1, 0.1, 0.1), 1.0, position=(0.05, 0, 0.7))))
    film, again = play(scene, 0.3, variant), play(scene, 0.3, variant)
    check(all(np.array_equal(one.position, other.position) and np.array_equal(one.spin, other.spin)
              for one, other in zip(film.states, again.states)), f"{variant}: the same bits again")


def shapes(variant, exact):
    points = 0.1 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
    normal = points[1:].mean(0) / np.linalg.norm(points[1:].mean(0))
    axis = np.cross(normal, (0, 0, -1))
    r = matrix(turn(axis / np.linalg.norm(axis), np.arccos(-normal[2])))
    standing = points @ r.T
    low = standing[:, 2].min()
    solids = {"tetrahedron": (Hull(tuple(map(tuple, standing))), -low), "cylinder": (Cylinder(0.1, 0.05), 0.05)}
    for name, (shape, height) in solids.items():
        film = play(Scene((ground(), Body("body", (Part(shape),), 1.0, (0.004,) * 3, (0, 0, height)))), 0.4, variant)
        check(abs(floor_force(film)[-20:].mean() - 1) < 1e-2 and abs(film.positions("body")[-1][2] - height) < exact,
              f"{variant}: a {name} stands on the ground")
    parts = (Part(Box((0.1, 0.1, 0.01)), (0, 0, -0.09)),
             Part(Hull(((-.1, -.1, .05), (.1, -.1, .05), (0, .1, .05), (0, 0, .1)))))
    film = play(Scene((ground(), Body("body", parts, 1.0, (0.01,) * 3, (0, 0, 0.1)))), 0.4, variant)
    check(abs(film.positions("body")[-1][2] - 0.1) < exact, f"{variant}: a body of two parts stands on one")


def bounce(variant):
    scene = Scene((ground(), ball("body", 0.1, 1.0, position=(0, 0, 1.1))), Material(restitution=0.8))
    height = (play(scene, 0.9, variant).positions("body")[250:, 2] - 0.1).max()
    check(abs(height - 0.64) < 0.02, f"{variant}: e = 0.8 bounces to {height:.4f}, law 0.64")
    height = (play(Scene(scene.bodies), 0.9, variant).positions("body")[250:, 2] - 0.1).max()
    check(height < 1e-3, f"{variant}: e = 0 does not")


def pendulum(variant, relative):
    small, arm, inertia = 0.05, 0.5, (0.01, 0.02, 0.03)
    bob = Body("body", (Part(Box((0.02, 0.02, 0.1))),), 1.5, inertia, (arm * np.sin(small), 0, -arm * np.cos(small)),
               turn((0, 1, 0), -small))
    film = play(Scene((bob,), joints=(Joint("hinge", "hinge", "body", axis=(0, 1, 0)),)), 2.2, variant)
    x = film.positions("body")[:, 0]
    falls = [k - x[k] / (x[k] - x[k - 1]) for k in range(1, len(x)) if x[k - 1] > 0 >= x[k]]
    law = 2 * np.pi * np.sqrt((1.5 * arm**2 + inertia[1]) / (1.5 * g * arm)) * (1 + small**2 / 16)
    period = (falls[1] - falls[0]) * h
    check(abs(period / law - 1) < relative, f"{variant}: a pendulum's period is {period:.4f} s, law {law:.4f}")


def slide(variant, seconds, pull=(0, 0, 0), axis=(1, 0, 0), **more):
    slider = box("body", (0.1, 0.1, 0.1), 1.5, position=(0.3, 0, 0))
    film = play(Scene((slider,), joints=(Joint("slide", "slide", "body", axis=axis, **more),), gravity=pull), seconds,
                variant)
    return (film.positions("body") - slider.position) @ axis, film.velocities("body") @ axis


def limits(variant, off):
    q, rate = slide(variant, 1.0, (0, 0, -g), (0, 0, 1), limits=(-0.1, 0.1))
    check(abs(q[-1] + 0.1) < off and abs(rate[-1]) < 1e-3, f"{variant}: a slide rests at its limit")
    bar = Body("body", (Part(Box((0.1, 0.02, 0.02))),), 1.5, (0.01, 0.02, 0.03), (0.5, 0, 0))
    scene = Scene((bar,), joints=(Joint("hinge", "hinge", "body", axis=(0, 1, 0), limits=(-0.3, 0.5)),))
    film = play(scene, 2.0, variant)
    x, _, z = film.positions("body")[-1]
    check(abs(np.arctan2(-z, x) - 0.5) < 10 * off, f"{variant}: a hinge rests at its limit")


def chain(variant):
    bars = (box("a", (0.3, 0.05, 0.05), 1.0, position=(0.3, 0, 2)),
            box("b", (0.3, 0.05, 0.05), 1.0, position=(0.9, 0, 2)))
    scene = Scene(bars, joints=(Joint("one", "hinge", "a", anchor=(0, 0, 2), axis=(0, 1, 0), rate=0.5),
                                Joint("two", "hinge", "b", "a", (0.6, 0, 2), (0, 1, 0), rate=-1.0)))
    state = engine.world(scene, h, engine.variants[variant]).state()
    check(np.allclose(state.velocity[1], (0, 0, -0.15)) and np.allclose(state.spin[1], (0, -0.5, 0)),
          f"{variant}: a chain starts with its joints' rates")


def stack(variant, off):
    boxes = (box(f"b{k}", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.1 + 0.2 * k)) for k in range(10))
    film = play(Scene((ground(), *boxes)), 2.0, variant, time_step=5e-3)
    sunk = abs(film.positions("b9")[-1] - (0, 0, 1.9)).max()
    force = floor_force(film)[-50:].mean()
    check(sunk < off and abs(force - 1) < 0.1, f"{variant}: a stack of 10 stands, off by {sunk:.1e} m, {force:.4f} of "
          "its weight below")


def xpbd():
    variant = "default"
    free_bodies(variant)
    contacts(variant, 1e-4)
    shapes(variant, 1e-4)
    bounce(variant)
    pendulum(variant, 3e-2)  # 2 % too long: five iterations
    limits(variant, 2e-3)
    chain(variant)
    stack(variant, 2e-2)
    film = play(Scene((ground(), ball("body", 0.1, 1.0, position=(0, 0, 0.1), velocity=(1, 0, 0), spin=(0, 10, 0))),
                      Material(0.5, rolling=0.01)), 0.5, variant)
    check(abs(1 - film.velocities("body")[-1][0] - 0.5 * g * 0.01 / 0.1 / 1.4) < 2e-3, "XPBD: rolling is a length")
    film = play(Scene((ground(), ball("body", 0.1, 1.0, position=(0, 0, 0.1), spin=(0, 0, 20))),
                      Material(0.5, torsion=0.005)), 0.1, variant)
    check(abs(20 - film.spins("body")[-1][2] - 0.1 * g * 0.005 / 0.004) < 1e-2, "XPBD: torsion is a length")
    film = play(Scene((ground(), box("body", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.1)))), 1.0, variant,
                {"body": ((0.9 * 0.5 * g, 0, 0), (0, 0, 0))})
    x = film.positions("body")[:, 0]
    creep = 1e6 * (x[-1] - x[250]) / 0.5
    check(100 < creep < 1e5, f"XPBD creeps by {creep:.0f} µm/s under 90 % of the threshold")
    hinged = (ball("body", 0.1, 1.0),)
    refused(Scene(hinged, joints=(Joint("hinge", "hinge", "body", friction=1.0),)), {}, "joint friction")
    refused(Scene(hinged, joints=(Joint("hinge", "hinge", "body", drive=Drive(1.0, 1.0, effort=1.0)),)), {},
            "drive's effort limit")
    scene = Scene((ground(), ball("body", 0.1, 1.0, position=(0, 0, 0.1))))
    for options, said in (({"iteration": 5}, "iteration"), ({"solver": "NSGS"}, "NSGS"),
                          ({"solver": "Kamino DVI", "padmm.rho": 1.0}, "padmm.rho"),
                          ({"solver": "Kamino DVI", "dynamics_solver": "padmm"}, "dynamics_solver")):
        try:
            engine.world(scene, h, options)
        except ValueError as error:
            check(said in str(error) and engine.id in str(error), f"one line: {error}")
        else:
            raise SystemExit(f"FAILED: {said} is taken")


def kamino():
    variant = "best"
    free_bodies(variant)
    contacts(variant, 1e-5)
    shapes(variant, 1e-4)
    bounce(variant)
    pendulum(variant, 1e-3)
    limits(variant, 2e-3)
    chain(variant)
    stack(variant, 1e-3)
    q, rate = slide(variant, 1.0, rate=1.0, friction=2.0)
    check(abs(q[-1] - 0.375) < 2 * h and abs(rate[-1]) < 1e-3, "Kamino: a slide stops by its friction")
    q, rate = slide(variant, 0.5, (0, 0, -g), (0, 0, 1), friction=15.0)
    check(abs(rate[-1]) < 1e-4 and abs(q[-1]) < 1e-4, "Kamino: and is held by it")
    for stiffness, damping in ((0, 100.0), (1e3, 50.0)):
        rate = slide(variant, 0.5, drive=Drive(stiffness, damping, 1e3, 1e3, 3.0))[1][-1]
        check(abs(rate - 1.0) < 1e-3, f"Kamino: a drive gives its effort, {rate:.5f}")
    q, _ = slide(variant, 1.0, (0, 0, -g), (0, 0, 1), drive=Drive(1e4, 100.0, 0.1))
    check(abs(q[-1] - 0.1 + 1.5 * g / 1e4) < 1e-5, "Kamino: a drive's spring carries the weight")
    spinning = Scene((ball("body", 0.1, 1.0),), Material(0.5, torsion=0.01))
    refused(spinning, engine.variants[variant], "torsional friction")
    block = Scene((ground(), box("body", (0.2, 0.2, 0.05), 1.0, position=(0, 0, 0.05), velocity=(2, 0, 0))))
    least = {name: floor_force(play(block, 0.3, name)).min() for name in (variant, "Kamino P-ADMM")}
    check(least["best"] > 0.999 and least["Kamino P-ADMM"] < 0.6,
          f"Kamino by default leaves points of a sliding box out, carries {least['Kamino P-ADMM']:.2f} of the weight "
          f"in some steps, {least['best']:.4f} with speculative contacts")


def others():
    scene = Scene((ground(), box("body", (0.2, 0.2, 0.05), 1.0, position=(0, 0, 0.05), velocity=(2, 0, 0))))
    for variant, depth, shown in (("VBD", 1e-3, True), ("Kamino DVI", 1e-4, True), ("Steel", 1e-4, True),
                                  ("Kamino LOX", 1e-4, True), ("Featherstone", 2e-3, False),
                                  ("SemiImplicit", 2e-3, False)):
        film = play(scene, 0.5, variant)
        distance, law = film.positions("body")[-1][0], 4 / (2 * 0.5 * g)
        check(abs(distance / law - 1) < 0.01 and 0.05 - film.positions("body")[-1][2] < depth,
              f"{variant}: a box slides {distance:.4f} m, law {law:.4f}")
        if shown:
            force = floor_force(film)[-20:].mean()
            check(abs(force - 1) < 0.05, f"{variant}: it carries {force:.4f} of the weight")
        else:
            check(all(one.impulse is None for one in film.contacts[-1]), f"{variant}: shows no impulses")
    try:
        film = play(scene, 0.5, "MuJoCo-Warp")
        check(abs(film.positions("body")[-1][0] / law - 1) < 0.02 and abs(floor_force(film)[-20:].mean() - 1) < 1e-2,
              f"MuJoCo-Warp: a box slides {film.positions('body')[-1][0]:.4f} m, law {law:.4f}")
    except Cannot as lacks:
        check(lacks.element == "solver MuJoCo-Warp", f"cannot: {lacks}")


print(engine.about())
for name, its in zip(parts, (xpbd, kamino, others)):
    if name in chosen:
        its()
