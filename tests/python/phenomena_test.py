#!/usr/bin/env python3
"""Phenomena: Conebench's own loop is right on all of them, relaxed models err as their papers say, and the judge sees what
a film hides.
usage: phenomena_test.py PACKAGE_FOLDER CASES      CASES: loop, relaxed, judge or mujoco; 77: a module is not installed"""
import importlib.util, os, sys

for module in ("numpy", "scipy", *(["mujoco"] if sys.argv[2] == "mujoco" else [])):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
sys.path.insert(0, os.path.abspath(sys.argv[1]))
import numpy as np
import conebench
from conebench.engines import Cannot, Contact, State
from conebench.phenomena.catalogue import catalogue
from conebench.phenomena.judge import judge_film
from conebench.phenomena.laboratory import Film, Laboratory
from conebench.phenomena.scene import Material, Scene, box, ground, matrix

if sys.argv[2] in ("loop", "relaxed"):
    try:
        conebench.simulate("box-on-plane", steps=1)
    except conebench.Error as error:
        print(f"skipped: {error}")
        sys.exit(77)


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def laboratory(variant, time_step=0.005, quick=False):
    from conebench.engines.conebench import Conebench

    return Laboratory(Conebench(), Conebench.variants[variant], time_step, quick)


def measure(lab, phenomenon, case=None):
    one = catalogue[phenomenon]
    return one.measure(lab, **one.cases[case or next(iter(one.cases))])


def loop():
    for variant in ("NSGS-AA", "default"):
        lab = laboratory(variant, quick=True)
        for one in catalogue.values():
            for case in one.cases:
                measured = measure(lab, one.id, case)
                check(measured.right, f"{variant}, {one.id}, {case}: {measured.value:.4g} {one.unit}, exact "
                                      f"{measured.exact:.4g} +- {measured.allowed:.3g}")
    for phenomenon, case in (("stopping-distance", "mu = 0.5"), ("bounce", "e = 0.8")):
        errors = [measure(laboratory("default", step), phenomenon, case).error for step in (0.01, 0.005, 0.0025)]
        check(errors[2] < 0.6 * errors[0], f"{phenomenon}: the error shrinks with the step, {errors}")


def relaxed():
    for variant, phenomenon, case in (("PGS-CCP", "lift", "6 m/s"), ("PGS-LCP", "isotropy", None)):
        measured = measure(laboratory(variant), phenomenon, case)
        check(not measured.right, f"{variant} shows in {phenomenon}: {measured.value:.4g}")
    sizes = [measure(laboratory("PGS-CCP", step), "lift", "2 m/s").value for step in (0.01, 0.005)]
    check(sizes[0] > 1.0, f"a CCP lifts a sliding cube: {sizes} mm at steps of 10 and 5 ms")


def sliding(sign=1.0, share=1.0, lift=0.0):
    """A cube that slides for two steps, with the exact impulses but for a sign and a share of friction."""
    h, mu, g, m = 0.01, 0.5, 9.81, 2.0
    scene = Scene((ground(), box("block", (0.1, 0.1, 0.1), m, position=(0.0, 0.0, 0.1 + lift), velocity=(2.0, 0.0, 0.0))),
                  Material(mu))

    def state(k):
        v = 2.0 - k * mu * share * g * h
        return State(k * h, np.array([[2.0 * k * h, 0.0, 0.1 + lift]]), np.eye(3)[None], np.array([[v, 0.0, 0.0]]),
                     np.zeros((1, 3)))

    def contacts(k):
        # Friction at the height of the floor turns the cube forward: the front corners carry more.
        x, found = state(k).position[0, 0], []
        for side in (-1, 1):
            for end in (-1, 1):
                normal = m * g * h / 4 * (1 + end * mu * share)
                found.append(Contact("ground", "block", np.array([x + 0.1 * end, 0.1 * side, lift]), np.array([0.0, 0, 1]),
                                     lift, sign * np.array([-mu * share * normal, 0.0, normal])))
        return found

    return Film(scene, h, [state(0), state(1), state(2)], [contacts(0), contacts(1)], [{}, {}])


def judge():
    exact = judge_film(sliding())
    check(exact["equation of motion"]["max"] < 1e-14 and exact["natural map"]["max"] < 1e-14 and
          exact["cone"]["max"] < 1e-15, f"exact steps have no residual: {exact}")
    wrong = judge_film(sliding(sign=-1.0))
    check(wrong["equation of motion"]["max"] > 0.1, "impulses of the wrong sign do not explain the motion")
    more = judge_film(sliding(share=1.2))
    check(more["equation of motion"]["max"] < 1e-14 and more["cone"]["max"] > 1e-3,
          "friction beyond the cone is found, though it explains the motion")
    less = judge_film(sliding(share=0.8))
    check(less["cone"]["max"] == 0.0 and less["natural map"]["max"] > 1e-3, "friction that is not whole while it slides")
    unknown = sliding()
    for step in unknown.contacts:
        for contact in step:
            contact.gap = np.nan
    check(judge_film(unknown)["natural map"]["max"] < 1e-14, "a gap that an engine does not show counts as closed")
    high = judge_film(sliding(lift=0.01))
    check(high["natural map"]["max"] > 1e-2, f"a contact that carries with a gap of 1 cm: {high['natural map']['max']:.2g} m/s")
    film = sliding()
    for step in film.contacts:
        for contact in step:
            contact.impulse = None
    blind = judge_film(film)
    check(blind["natural map"]["impulses"] == "best" and blind["equation of motion"]["max"] < 1e-6,
          f"without impulses the best admissible ones explain the motion: {blind}")
    lifted = sliding(share=1.2)
    for step in lifted.contacts:
        for contact in step:
            contact.impulse = None
    check(judge_film(lifted)["equation of motion"]["max"] > 1e-3, "no admissible impulses brake more than mu m g")


def mujoco():
    from conebench.engines.mujoco import MuJoCo

    lab = Laboratory(MuJoCo(), {}, 0.005)
    creep = measure(lab, "creep", "mu = 0.5, 90 %").value
    check(10.0 < creep < 10000.0, f"MuJoCo creeps at its defaults: {creep:.0f} µm/s")
    best = Laboratory(MuJoCo(), MuJoCo.variants["best"], 0.005)
    check(measure(best, "creep").right, "and not with noslip")
    lift = measure(best, "lift", "6 m/s").value
    check(100.0 < lift < 500.0, f"a stiff convex relaxation lifts a cube at 6 m/s by {lift:.0f} mm")
    check(measure(lab, "isotropy").value > 20.0, "pyramids are not isotropic")
    try:
        measure(lab, "bounce", "e = 0.8")
        check(False, "MuJoCo has no restitution")
    except Cannot as lacks:
        check(lacks.element == "restitution", "MuJoCo says that it has no restitution")
    for variant in MuJoCo.variants:
        lab = Laboratory(MuJoCo(), MuJoCo.variants[variant], 0.005)
        measure(lab, "stopping-distance", "mu = 0.5")
        motion = judge_film(lab.film)["equation of motion"]["max"]
        check(motion < 1e-4, f"{variant}: its impulses explain its motion to {motion:.1e} m/s")


{"loop": loop, "relaxed": relaxed, "judge": judge, "mujoco": mujoco}[sys.argv[2]]()
