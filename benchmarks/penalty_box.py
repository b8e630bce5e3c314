#!/usr/bin/env python3
"""Paper 003's Table I by the penalty method: a box pushed over the ground, springs and dampers under its corners.

    benchmarks/penalty_box.py

0.5 kg on four corners, mu = 0.2, 2 N along y for 1 s; semi-implicit Euler with explicit contact forces: normal
-k z - c dz/dt >= 0, friction min(mu normal, d |dy/dt|) against the slip. The paper prints no k, c or d: k = 100 and
1000 N/m a corner follow from its mean depths, m g / 4 k = 12.26 and 1.226 mm; the dampings here are a share of the
critical one. Mean errors in mm over the states, along y and down, beside the printed ones. The depths agree; the way
along y is one of the dampings.
"""
import math

MASS, GRAVITY, PUSH, FRICTION = 0.5, 9.81, 2.0, 0.2
PRINTED = {(100, 0.01): (30.23, 12.24), (1000, 0.01): (63.87, 15.32), (100, 0.002): (2.862, 12.23), (1000, 0.002): (5.560, 1.218)}


def mean_errors(k, step, share, drag):
    stiffness = 4.0 * k
    damping = 2.0 * share * math.sqrt(stiffness * MASS)
    y = z = vy = vz = along = down = 0.0
    steps = round(1.0 / step)
    for i in range(1, steps + 1):
        normal = max(0.0, -stiffness * z - damping * vz) if z < 0.0 else 0.0
        friction = math.copysign(min(FRICTION * normal, drag * abs(vy)), vy)
        vz += step * (normal / MASS - GRAVITY)
        vy += step * (PUSH - friction) / MASS
        z += step * vz
        y += step * vy
        t = i * step
        along += abs(y - 0.5 * (PUSH / MASS - FRICTION * GRAVITY) * t * t)
        down += abs(z)
    return 1e3 * along / (steps + 1), 1e3 * down / (steps + 1)


def main():
    print("k [N/m]  step [s]  damping  drag [N s/m]    along     down   printed   printed")
    for (k, step), printed in PRINTED.items():
        for share in (0.0, 0.5):
            for drag in (10.0, 1e9):
                along, down = mean_errors(k, step, share, drag)
                print(f"{k:7d}  {step:8g}  {share:7g}  {drag:12g} {along:8.3f} {down:8.3f}  {printed[0]:8.3f}  {printed[1]:8.3f}")


if __name__ == "__main__":
    main()
