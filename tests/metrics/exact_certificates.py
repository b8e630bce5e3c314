#!/usr/bin/python3
"""Certificates that a problem has no solution, by exact rational arithmetic: Python alone, nothing of Conebench's.

    exact_certificates.py CASES.json    exit code 1, with a line each, where a certificate does not prove what it claims

A case is {name, kinds ("free", "nonnegative" or "zero", by row), friction (mu, by row: that of a contact's normal), A
(rows: G, or J), g, z, margin, speed_bound (null: infinite), velocity_scale (V), verdict_bound}. The rule:
docs/metrics.md, Feasibility.
"""

import json
import sys
from fractions import Fraction

EPSILON = Fraction(1, 2**52)
DIGITS = 1 + Fraction(1, 10**12)  # margin and bound are doubles


def faults(case):
    z = [Fraction(x) for x in case["z"]]
    g = [Fraction(x) for x in case["g"]]
    rows = [[Fraction(x) for x in row] for row in case["A"]]
    for kind, x in zip(case["kinds"], z):
        if (kind == "zero" and x != 0) or (kind == "nonnegative" and x < 0):
            yield f"an entry of z is {float(x)} where it is {kind}"
    reached = -sum(a * b for a, b in zip(g, z))
    norm = sum(abs(x) for x in z)
    if not reached > 0 or not -Fraction(case["margin"]) * norm <= reached * DIGITS:
        yield f"-g.z / |z| is {float(reached / norm)}, reported is {-case['margin']}"
    left = Fraction(0)
    for column in zip(*rows):
        terms = [a * x for a, x in zip(column, z) if a and x]
        if not terms:
            continue
        total = abs(sum(terms))
        if total > 4 * (len(terms) + 1) * EPSILON * sum(abs(term) for term in terms) * DIGITS:
            yield f"{float(total)} is left of a column, which is more than rounding"
        left = max(left, total / max(abs(a) for a in column))
    # sqrt(1 + mu^2) in double, less than DIGITS allow for.
    allowed = sum(Fraction((1.0 + mu * mu) ** 0.5) * abs(x) for mu, x in zip(case["friction"], z))
    least = reached - left * 10**10 * max(abs(x) for x in g)
    reported = Fraction(case["verdict_bound"]) * Fraction(case["velocity_scale"]) * allowed
    if not 0 < reported <= least * DIGITS:
        yield f"the bound on the verdict is {float(least / allowed)} m/s, reported is {float(reported / allowed)}"
    bound = case["speed_bound"]
    if left and (bound is None or Fraction(bound) * left > reached * DIGITS):
        yield f"the bound is {float(reached / left)} m/s, reported is {bound}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    found = [f"{case['name']}: {fault}" for case in cases for fault in faults(case)]
    print("\n".join(found))
    return 1 if found or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
