"""What stands by friction: stacks, a house of cards, an arch, a pinched box."""

from typing import List, Sequence, Tuple

import numpy as np

from ..laboratory import Film, Laboratory
from ..phenomenon import Measured, Phenomenon
from ..scene import Array, Body, Hull, Joint, Material, Part, Scene, box, ground, turn

g = 9.81


def stack_scene(ratio: float, count: int = 10) -> Scene:
    """Boxes on each other whose masses grow from 1 kg at the bottom to `ratio` at the top."""
    masses = ratio ** (np.arange(count) / (count - 1))
    return Scene((ground(), *(box(f"box{k + 1}", (0.1, 0.1, 0.1), float(mass), position=(0.0, 0.0, 0.1 + 0.2 * k))
                              for k, mass in enumerate(masses))), Material(0.5))


def _displacement(film: Film) -> Array:
    """Of the body that is farthest from its start, one a state [mm]."""
    start = film.states[0].position
    return np.array([1e3 * float(np.linalg.norm(state.position - start, axis=1).max()) for state in film.states])


def _floor(film: Film) -> Array:
    """Impulse of the ground over the weight's, one a step."""
    unit = film.scene.weight * film.time_step
    share = []
    for contacts in film.contacts:
        total = 0.0
        for contact in contacts or []:
            if contact.impulse is not None and "ground" in (contact.first, contact.second):
                total += float(contact.impulse[2]) * (1.0 if contact.first == "ground" else -1.0)
        share.append(total / unit)
    return np.array(share)


def _stands(lab: Laboratory, scene: Scene, seconds: float, scale: float) -> Measured:
    film = lab.play(scene, 0.25 * seconds if lab.quick else seconds)
    moved = _displacement(film)
    # Rounding decides whether bodies at a distance of zero touch in the first step: one may fall for a step before it is
    # held, by g h², and be held that far from where it started. The first half is for coming to rest.
    return Measured(float(moved[len(moved) // 2:].max()), 0.0, 2e3 * g * film.time_step**2, scale=scale,
                    curves={"displacement": (film.times, moved)})


def stack(lab: Laboratory, ratio: float) -> Measured:
    measured = _stands(lab, stack_scene(ratio), 2.0, 100.0)
    assert lab.film is not None
    if lab.film.has_impulses:
        share = _floor(lab.film)
        measured.facts = {"floor force over weight, first step": float(share[0]),
                          "floor force over weight, last quarter": float(share[-len(share) // 4:].mean())}
    return measured


def card_house_scene(levels: int) -> Scene:
    """Pairs of leaning cards with a card across two neighbours' tops."""
    length, width, thick, lean = 0.2, 0.06, 0.004, np.radians(20.0)  # halves: width, thick
    s, c = np.sin(lean), np.cos(lean)
    spacing = 2 * (length * s + 2 * thick * c + 0.002)
    bodies: List[Body] = [ground()]
    z = 0.0

    def card(name: str, x: float, height: float, about_y: float, extent: float) -> Body:
        return box(name, (extent / 2, width, thick), 0.02, position=(x, 0.0, height),
                   rotation=turn((0, 1, 0), about_y))

    for level in range(levels):
        pairs = levels - level
        for k in range(pairs):
            x = (k - 0.5 * (pairs - 1)) * spacing
            off, height = 0.5 * length * s + thick * c, z + 0.5 * length * c + thick * s
            bodies.append(card(f"left{level}.{k}", x - off, height, -(0.5 * np.pi - lean), length))
            bodies.append(card(f"right{level}.{k}", x + off, height, -(0.5 * np.pi + lean), length))
        z += length * c + 2 * thick * s
        for k in range(pairs - 1):
            x = (k - 0.5 * (pairs - 2)) * spacing
            bodies.append(card(f"across{level}.{k}", x, z + thick, 0.0, spacing - 0.002))
        z += 2 * thick
    return Scene(tuple(bodies), Material(0.6))


def card_house(lab: Laboratory, levels: int) -> Measured:
    return _stands(lab, card_house_scene(levels), 3.0, 50.0)


def prism(name: str, corners: Sequence[Tuple[float, float]], half: float, density: float) -> Body:
    """A polygon in x and z, symmetric about a parallel of x, drawn out along y by a half depth; mass and moments are
    exact."""
    p = np.array(corners, float)
    q = np.roll(p, -1, axis=0)
    cross = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
    area = 0.5 * cross.sum()
    centre = ((p + q) * cross[:, None]).sum(0) / (6 * area)
    p, q = p - centre, q - centre
    cross = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
    xx, zz = ((p**2 + p * q + q**2) * cross[:, None]).sum(0) / 12
    mass = density * abs(area) * 2 * half
    xx, zz = mass * xx / area, mass * zz / area
    yy = mass * half**2 / 3
    points = tuple((float(x), side * half, float(z)) for side in (-1.0, 1.0) for x, z in p)
    return Body(name, (Part(Hull(points)),), float(mass), (float(yy + zz), float(xx + zz), float(yy + xx)),
                (float(centre[0]), 0.0, float(centre[1])))


def arch_scene(stones: int) -> Scene:
    """Half a ring of equal stones; those at the ends do not move."""
    inner, outer, depth = 0.85, 1.15, 0.15
    half = 0.5 * np.pi / stones
    shape = [(r * np.cos(a), r * np.sin(a)) for r, a in ((inner, -half), (outer, -half), (outer, half), (inner, half))]
    # One stone about x, whose frame turns to each place.
    model = prism("stone", shape, depth, 2000.0)
    bodies = []
    for k in range(stones):
        angle = np.pi - (2 * k + 1) * half
        place = (model.position[0] * np.cos(angle), 0.0, model.position[0] * np.sin(angle))
        fixed = k in (0, stones - 1)
        bodies.append(Body(f"stone{k + 1}", model.parts, 0.0 if fixed else model.mass,
                           (0.0, 0.0, 0.0) if fixed else model.inertia, place, turn((0, 1, 0), -angle)))
    return Scene(tuple(bodies), Material(0.7))


def arch(lab: Laboratory, stones: int) -> Measured:
    return _stands(lab, arch_scene(stones), 2.0, 100.0)


def pinch_scene(friction: float) -> Scene:
    """A box between two fingers that slide along x."""
    fingers = (box("left", (0.05, 0.1, 0.1), 1.0, position=(-0.15, 0.0, 0.0)),
               box("right", (0.05, 0.1, 0.1), 1.0, position=(0.15, 0.0, 0.0)))
    held = box("box", (0.1, 0.1, 0.1), 1.0)
    return Scene((*fingers, held), Material(friction),
                 tuple(Joint(f"slide of {body.name}", "slide", body.name, anchor=body.position, axis=(1.0, 0.0, 0.0))
                       for body in fingers))


def pinch(lab: Laboratory, friction: float) -> Measured:
    scene, seconds, resolution = pinch_scene(friction), 0.5, 0.01
    hold = 1.0 * g / (2 * friction)
    curve: "dict[float, float]" = {}

    def holds(share: float) -> bool:
        force = share * hold
        film = lab.play(scene, seconds, {"left": ((force, 0.0, 0.0), (0.0, 0.0, 0.0)),
                                         "right": ((-force, 0.0, 0.0), (0.0, 0.0, 0.0))})
        z = film.positions("box")[:, 2]
        curve[share] = float(z[-1 - int(round(0.1 / lab.time_step))] - z[-1]) / 0.1
        return curve[share] < 0.5 * resolution * g * 0.9 * seconds

    value = lab.threshold(holds, 0.1, 3.0, resolution)
    shares = sorted(curve)
    return Measured(value, 1.0, resolution, scale=0.5, curves={"measured": (shares, [curve[s] for s in shares])})


phenomena = (
    Phenomenon("stack", "structures", "Stack of ten boxes",
               "At rest every body stays where it is, whatever the masses are. Displacement of the box that moved most, in the "
               "second half of 2 s. "
               "Where impulses are readable: the floor carries the whole weight in each step.", "displacement", "mm",
               {f"top {ratio:g} times the bottom": {"ratio": ratio} for ratio in (1.0, 1e2, 1e4)}, stack,
               ("time [s]", "displacement [mm]"), ("top 1 times the bottom",)),
    Phenomenon("card-house", "structures", "House of cards",
               "Cards that lean by 20° stand where mu exceeds tan(20°) = 0.36: here mu = 0.6. Displacement of the card that "
               "moved most, in the second half of 3 s.", "displacement", "mm", {"3 levels": {"levels": 3}}, card_house,
               ("time [s]", "displacement [mm]")),
    Phenomenon("arch", "structures", "Arch of stones",
               "Half a ring stands where its thickness exceeds 0.107 of its mean radius (Heyman) and friction prevents slip: "
               "here 0.3 and mu = 0.7. Displacement of the stone that moved most, in the second half "
               "of 2 s.", "displacement", "mm",
               {"25 stones": {"stones": 25}}, arch, ("time [s]", "displacement [mm]")),
    Phenomenon("pinch", "structures", "Force that holds a pinched box",
               "Two fingers that press with F carry 2 mu F at most: a box of weight W falls below F = W/(2 mu). Bisection in F "
               "to 1 %.", "threshold over W/(2 mu)", "", {"mu = 0.5": {"friction": 0.5}}, pinch,
               ("force over W/(2 mu)", "speed of the fall [m/s]")),
)
