"""The Open Dynamics Engine (Debian's libode-dev, BSD or LGPL) through ode/ode_world.cpp, compiled when first used.

Contacts are ODE's with dContactApprox1: a pyramid of friction, its edges where ODE puts them or, with "along_slip", the
first along the slip at the step's start. They exist once bodies overlap. The default is QuickStep with
its own 20 iterations. ODE has no bounce below a speed that its user gives, here 0.1 m/s as in its demos, 0 in "best".
Nothing sleeps: ODE leaves that off. Joint friction and drives are motors; a drive is implicit, by its motor's CFM. Two
hulls touch at one point; "best" makes meshes of them. QuickStep takes rows in a random order, of the same seed for each
scene. The torques of torsional and rolling friction are not among the impulses."""

import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import Any, Dict, List, Mapping

import numpy as np
from scipy.spatial import ConvexHull

from . import Cannot, Contact, State, Wrench
from ._tree import Tree
from ..phenomena.scene import Array, Body, Box, Cylinder, HalfSpace, Hull, Joint, Part, Scene, Sphere, matrix

_defaults: Dict[str, Any] = {
    "iterations": 20,  # of QuickStep; 0: dWorldStep, Dantzig's method
    "relaxation": 1.3,  # of QuickStep
    "erp": 0.2,
    "cfm": 1e-10,
    "correcting_speed": float("inf"),  # at which contacts push bodies apart at most [m/s]
    "surface_layer": 0.0,  # depth to which they do not [m]
    "contacts": 16,  # of a pair of shapes at most
    "meshes": False,  # of triangles stand for hulls
    "along_slip": False,
    "bounce_speed": 0.1,  # [m/s]
}


class Ode:
    id = "ODE"
    package = ""
    variants: Dict[str, Dict[str, Any]] = {
        "default": {},
        "5 iterations": {"iterations": 5},
        "1000 iterations": {"iterations": 1000},
        "Dantzig": {"iterations": 0},
        "along slip": {"along_slip": True},
        "best": {"iterations": 1000, "along_slip": True, "surface_layer": 1e-5, "correcting_speed": 0.01,
                 "bounce_speed": 0.0, "meshes": True},
    }

    def about(self) -> Dict[str, str]:
        done = subprocess.run([program(), "--version"], stdout=subprocess.PIPE, text=True)
        if done.returncode:  # the library went after it was compiled
            raise ImportError(f"ODE: {program()} does not run; apt install libode-dev g++")
        return {"version": done.stdout.strip()}

    def world(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> "OdeWorld":
        unknown = sorted(set(options) - set(_defaults))
        if unknown:
            raise ValueError(f"ODE: unknown options {', '.join(unknown)}; known: {', '.join(_defaults)}")
        return OdeWorld(scene, time_step, {**_defaults, **options})


class OdeWorld:
    """A scene in a process of its own."""

    def __init__(self, scene: Scene, time_step: float, options: Mapping[str, Any]) -> None:
        self._scene, self._time_step, self._steps = scene, time_step, 0
        self._numbers = {body.name: k for k, body in enumerate(scene.bodies)}
        self._process = subprocess.Popen([program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.close = weakref.finalize(self, _end, self._process)
        for line in _lines(scene, time_step, options):
            self._write(line)
        answer = self._ask("start")
        if answer != "ready":
            raise Cannot(f"contact of {answer.split(' ', 1)[1]}", "ODE has no function for it")

    def state(self) -> State:
        rows = _rows(self._ask("state"), 13)
        rotations = np.array([matrix(row[3:7]) for row in rows]).reshape(-1, 3, 3)
        return State(self._steps * self._time_step, rows[:, :3], rotations, rows[:, 7:10], rows[:, 10:])

    def step(self, wrenches: Mapping[str, Wrench]) -> List[Contact]:
        pushes = [_text(self._numbers[name], *force, *torque) for name, (force, torque) in wrenches.items()]
        rows = _rows(self._ask(_text("step", len(pushes), *pushes)), 12)
        self._steps += 1
        names = [body.name for body in self._scene.bodies]
        return [Contact(names[int(row[0])], names[int(row[1])], row[2:5], row[5:8], float(row[8]), row[9:])
                for row in rows]

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._write(line)
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer or answer.startswith("error"):
            raise RuntimeError(f"ODE: {answer.strip() or 'its program ended'}")
        return answer.strip()


@functools.lru_cache(maxsize=None)
def program() -> str:
    """The compiled ode_world.cpp, in the user's cache. Raises ImportError where it cannot be made."""
    source = Path(__file__).parent / "ode" / "ode_world.cpp"
    compiler = shlex.split(os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++") or "")
    if not compiler:
        raise ImportError("ODE: no C++ compiler; apt install libode-dev g++")
    flags = _flags()
    key = hashlib.sha256(" ".join([source.read_text(), *compiler, *flags]).encode()).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "conebench"
    made = folder / f"ode_world-{key}"
    if made.exists():
        return str(made)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        new = Path(place) / "ode_world"
        done = subprocess.run([*compiler, "-std=c++17", "-O2", str(source), "-o", str(new), *flags],
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            why = next((line for line in done.stderr.splitlines() if "error" in line), "it does not compile")
            raise ImportError(f"ODE: {why.strip()}; apt install libode-dev g++")
        os.replace(new, made)
    return str(made)


def _flags() -> List[str]:
    for command in (["pkg-config", "--cflags", "--libs", "ode"], ["ode-config", "--cflags", "--libs"]):
        if shutil.which(command[0]):
            found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            if found.returncode == 0:
                return found.stdout.split()
    return ["-lode"]


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                pass  # of what it had not read
    process.wait()


def _lines(scene: Scene, time_step: float, options: Mapping[str, Any]) -> List[str]:
    """The scene as the program reads it."""
    material, numbers = scene.material, {body.name: k for k, body in enumerate(scene.bodies)}
    tree = Tree(scene)
    start = tree.state(0.0, *tree.start())
    found = [_text("gravity", *scene.gravity), _text("step_size", time_step),
             *(_text("option", name, value) for name, value in options.items()),
             _text("material", material.friction, material.torsion, material.rolling, material.restitution)]
    moving = {body.name: k for k, body in enumerate(scene.moving)}
    for body in scene.bodies:
        k = moving.get(body.name)
        found.append(_text("body", body.mass, *body.inertia, *body.position, *body.rotation,
                           *((0.0,) * 6 if k is None else (*start.velocity[k], *start.spin[k]))))
        found += [_part(part, body) for part in body.parts]
    joined = [(joint.child, joint.parent) for joint in scene.joints if joint.parent is not None]
    found += [_text("apart", numbers[one], numbers[other]) for one, other in (*scene.apart, *joined)]
    return found + [_joint(joint, numbers) for joint in scene.joints]


def _part(part: Part, body: Body) -> str:
    shape, frame = part.shape, (*part.position, *part.rotation)
    if isinstance(shape, Box):
        return _text("box", *shape.half, *frame)
    if isinstance(shape, Sphere):
        return _text("sphere", shape.radius, *frame)
    if isinstance(shape, Cylinder):
        return _text("cylinder", shape.radius, shape.half, *frame)
    if isinstance(shape, Hull):
        points = np.array(shape.points, float)
        middle = points.mean(0)  # ODE wants its origin in a hull
        at = np.array(part.position) + matrix(part.rotation) @ middle
        return _text("hull", *_hull(points - middle), *at, *part.rotation)
    if isinstance(shape, HalfSpace):
        at = matrix(body.rotation) @ np.array(part.position) + np.array(body.position)
        return _text("half_space", *at, *(matrix(body.rotation) @ matrix(part.rotation))[:, 2])
    raise Cannot(type(shape).__name__, "not a shape of ODE")


def _hull(points: Array) -> List[Any]:
    """Counts of points and faces, the points; a plane a face, its number of corners and these, from outside against
    the clock."""
    hull = ConvexHull(points)
    corners = points[hull.vertices]
    faces: List[Any] = []
    planes = _distinct(hull.equations)
    for plane in planes:
        normal = plane[:3]
        on = [k for k, corner in enumerate(corners) if abs(normal @ corner + plane[3]) < 1e-9 * np.abs(corners).max()]
        center = corners[on].mean(0)
        first = corners[on[0]] - center
        second = np.cross(normal, first)
        angles = [np.arctan2((corners[k] - center) @ second, (corners[k] - center) @ first) for k in on]
        faces += [*normal, -plane[3], len(on), *(on[k] for k in np.argsort(angles))]
    return [len(corners), len(planes), *corners.ravel(), *faces]


def _distinct(planes: Array) -> List[Array]:
    found: List[Array] = []
    for plane in planes:
        if not any(np.allclose(plane, other, atol=1e-9) for other in found):
            found.append(plane)
    return found


def _joint(joint: Joint, numbers: Mapping[str, int]) -> str:
    parent = -1 if joint.parent is None else numbers[joint.parent]
    words: List[Any] = ["joint", joint.kind, numbers[joint.child], parent, *joint.anchor, *joint.axis, joint.friction]
    if joint.limits:
        if joint.kind == "hinge" and max(np.abs(joint.limits)) > np.pi:
            raise Cannot("joint limits", "ODE's hinges have none beyond half a turn")
        words += ["limits", *joint.limits]
    if joint.drive:
        drive = joint.drive
        words += ["drive", drive.stiffness, drive.damping, drive.position, drive.velocity, drive.effort]
    return _text(*words, "end")


def _text(*words: Any) -> str:
    return " ".join(word if isinstance(word, str) else repr(float(word)) if isinstance(word, (float, np.floating))
                    else str(int(word)) for word in words)


def _rows(answer: str, size: int) -> Array:
    return np.array(answer.split(), float).reshape(-1, size)
