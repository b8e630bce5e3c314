#!/usr/bin/python3
"""Residuals of answers to small problems by exact rational arithmetic: Python alone, nothing of Conebench's.

    exact_judge.py CASES.json    exit code 1, with a line each, where a stored residual is not that of the given doubles

sigma = (G + R) λ + g is a fraction, also where M w = Jᵀ λ has to be solved for it; norms and projections then have
700 digits. A case is {joints, limits, dimension, mu, mu_r, G or M and J (rows), R, g, bias, gaps, time_step, impulse,
residuals: {name: value or null}, only: names to compare}; tangents first, (t1, t2, n, m1, m2). Formulas: docs/metrics.md.
"""

import json
import math
import sys
from decimal import Context, Decimal, getcontext, setcontext
from fractions import Fraction

setcontext(Context(prec=700, Emin=-99999, Emax=99999))
ZERO, ONE, TWO = Decimal(0), Decimal(1), Decimal(2)
RELATIVE = Decimal("1e-14")


def decimal(value):
    value = Fraction(value)
    return Decimal(value.numerator) / Decimal(value.denominator)


def fractions(matrix):
    return [[Fraction(x) for x in row] for row in matrix]


def product(matrix, vector):
    return [sum((a * x for a, x in zip(row, vector) if a and x), Fraction(0)) for row in matrix]


def solve(matrix, columns):
    """matrix⁻¹ columns by Gauss' elimination; columns is a list of vectors."""
    rows = [list(row) + [column[i] for column in columns] for i, row in enumerate(matrix)]
    size = len(rows)
    for k in range(size):
        pivot = next(i for i in range(k, size) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] if x else x for x in rows[k]]
        for i in range(size):
            factor = rows[i][k]
            if i != k and factor:
                rows[i] = [x - factor * y if y else x for x, y in zip(rows[i], rows[k])]
    return [[rows[i][size + c] for i in range(size)] for c in range(len(columns))]


def norm(x):
    return sum((a * a for a in x), ZERO).sqrt()


def dot(x, y):
    return sum((a * b for a, b in zip(x, y)), ZERO)


def minus(x, y):
    return [a - b for a, b in zip(x, y)]


def scaled(x, factor):
    return [a * factor for a in x]


class Contact:
    def __init__(self, mu, mu_r, dimension):
        self.mu, self.mu_r, self.dimension = mu, mu_r, dimension
        self.normal = 2 if dimension == 5 else dimension - 1

    def parts(self, x):
        """Tangents, normal, moments."""
        return x[: self.normal], x[self.normal], x[self.normal + 1 :]

    def gamma(self, v):
        tangents, _, moments = self.parts(v)
        return self.mu * norm(tangents) + self.mu_r * norm(moments)

    def augmented(self, v):
        result = list(v)
        result[self.normal] += self.gamma(v)
        return result

    def project(self, x):
        """The nearest point of K: the nearest of the best points for each choice of bounds that hold."""
        tangents, normal, moments = self.parts(x)
        slip, roll = norm(tangents), norm(moments)
        best = None
        for slides in (0, 1):
            for rolls in (0, 1) if moments else (0,):
                n = (normal + slides * self.mu * slip + rolls * self.mu_r * roll) / (
                    1 + slides * self.mu**2 + rolls * self.mu_r**2
                )
                n = max(n, ZERO)
                t = scaled(tangents, self.mu * n / slip) if slip > self.mu * n else tangents
                m = scaled(moments, self.mu_r * n / roll) if moments and roll > self.mu_r * n else moments
                point = t + [n] + m
                distance = norm(minus(x, point))
                if best is None or distance < best[0]:
                    best = distance, point
        return best[1]

    def natural(self, impulse, v):
        return minus(impulse, self.project(minus(impulse, v)))

    def dual(self, v):
        """v − P_K*(v) = −P_K(−v)."""
        return scaled(self.project(scaled(v, -1)), -1)

    def box(self, impulse, v):
        bound = self.mu * max(impulse[self.normal], ZERO)
        target = [max(min(a - b, bound), -bound) for a, b in zip(impulse, v)]
        target[self.normal] = max(impulse[self.normal] - v[self.normal], ZERO)
        return minus(impulse, target)

    def facets(self, impulse, v):
        if self.dimension == 2:
            return self.box(impulse, v)
        radius = self.mu * max(impulse[2], ZERO)
        half = ONE / TWO
        corner = radius * half.sqrt()
        corners = [(radius, ZERO), (corner, corner), (ZERO, radius), (-corner, corner),
                   (-radius, ZERO), (-corner, -corner), (ZERO, -radius), (corner, -corner)]  # fmt: skip
        x = [impulse[0] - v[0], impulse[1] - v[1]]
        inside, best = radius > 0, None
        for k, a in enumerate(corners):
            b = corners[(k + 1) % 8]
            side, away = minus(b, a), minus(x, a)
            inside = inside and away[0] * side[1] - away[1] * side[0] <= 0
            share = dot(away, side) / dot(side, side) if radius > 0 else ZERO
            share = min(max(share, ZERO), ONE)
            nearest = [a[0] + share * side[0], a[1] + share * side[1]]
            distance = norm(minus(x, nearest))
            if best is None or distance < best[0]:
                best = distance, nearest
        point = x if inside else best[1]
        return minus(impulse, point + [max(impulse[2] - v[2], ZERO)])

    def raisim(self, v, row):
        """σ + x d/d_n with the smallest x >= 0 with x = mu |σ_T + x d_T/d_n|; De Saxcé's where there is none."""
        tangents, _, _ = self.parts(v)
        if self.mu == 0 or not any(tangents) or row[-1] <= 0:
            return self.augmented(v)
        t = [d / row[-1] for d in row]
        a = 1 - self.mu**2 * dot(t[:-1], t[:-1])
        b = -2 * self.mu**2 * dot(tangents, t[:-1])
        c = -(self.mu**2) * dot(tangents, tangents)
        discriminant = b * b - 4 * a * c
        if discriminant < 0:
            return self.augmented(v)
        root = discriminant.sqrt()
        roots = [x for x in ((-b + root) / (2 * a), (-b - root) / (2 * a)) if x > 0]
        if not roots:
            return self.augmented(v)
        return [s + min(roots) * d for s, d in zip(v, t)]


def angle(impulse, slip):
    """Between −impulse and slip; a right angle where there is no impulse."""
    size = norm(impulse)
    if size == 0:
        return math.pi / 2
    a, b = scaled(impulse, -1 / size), scaled(slip, 1 / norm(slip))
    if len(a) == 1:
        return 0.0 if (a[0] > 0) == (b[0] > 0) else math.pi
    return math.atan2(float(abs(a[0] * b[1] - a[1] * b[0])), float(dot(a, b)))


def judge(case):
    """All residuals, and what each may miss by: a share 1e-23 of V, and 1e-29 of λ."""
    joints, limits, dimension = case["joints"], case["limits"], case["dimension"]
    impulse = [Fraction(x) for x in case["impulse"]]
    g = [Fraction(x) for x in case["g"]]
    compliance = [Fraction(x) for x in case["R"]]
    first = joints + limits
    rows = [[i] for i in range(first)] + [list(range(k, k + dimension)) for k in range(first, len(g), dimension)]
    if "G" in case:
        matrix = fractions(case["G"])
        sigma = product(matrix, impulse)
        diagonal = [[[matrix[i][j] for j in block] for i in block] for block in rows]
    else:
        mass, jacobian = fractions(case["M"]), fractions(case["J"])
        transposed = [list(column) for column in zip(*jacobian)]
        *response, w = solve(mass, jacobian + [product(transposed, impulse)])
        sigma = product(jacobian, w)
        diagonal = [[[sum(a * b for a, b in zip(jacobian[i], response[j])) for j in block] for i in block]
                    for block in rows]  # fmt: skip
    sigma = [s + r * x + a for s, r, x, a in zip(sigma, compliance, impulse, g)]
    for block, own in zip(rows, diagonal):
        for k, i in enumerate(block):
            own[k][k] += compliance[i]

    # Moments in units of impulses.
    length = [ONE] * len(g)
    if dimension == 5:
        known = {}
        for block, own in zip(rows[first:], diagonal[first:]):
            translations = sum((own[k][k] for k in range(3)), Fraction(0)) / 3
            rotations = (own[3][3] + own[4][4]) / 2
            known[block[0]] = decimal(translations / rotations).sqrt() if translations > 0 and rotations > 0 else None
        lengths = [x for x in known.values() if x is not None]
        mean = sum(lengths, ZERO) / len(lengths) if lengths else ONE
        for start, own in known.items():
            length[start + 3] = length[start + 4] = mean if own is None else own
    impulse = [decimal(x) / s for x, s in zip(impulse, length)]
    sigma = [decimal(x) * s for x, s in zip(sigma, length)]
    g = [decimal(x) * s for x, s in zip(g, length)]
    means = [sum((decimal(own[k][k]) * length[i] ** 2 for k, i in enumerate(block)), ZERO) / len(block)
             for block, own in zip(rows, diagonal)]  # fmt: skip
    positive = [x for x in means if x > 0]
    mean = sum(positive, ZERO) / len(positive) if positive else ONE
    means = [x if x > 0 else mean for x in means]
    size = max([norm([g[i] for i in block]) for block in rows] + [ZERO])
    size = size if size > 0 else ONE

    contacts = []
    for k, mu in enumerate(case["mu"]):
        mu_r = decimal(case["mu_r"][k]) / length[first + k * dimension + 3] if dimension == 5 else ZERO
        contacts.append(Contact(decimal(mu), mu_r, dimension))
    parts = []  # of each block: its contact (or None), λ, σ, 1 / r
    for b, block in enumerate(rows):
        contact = contacts[b - first] if b >= first else None
        parts.append((contact, [impulse[i] for i in block], [sigma[i] for i in block], means[b]))

    def over(measure, joint, limit, contact, with_gamma):
        values = [ZERO]
        for b, (own, x, v, step) in enumerate(parts):
            if own is not None:
                values.append(measure(contact(own, x, own.augmented(v) if with_gamma else v, step, b)))
            elif b < joints:
                values.append(abs(joint(v[0])))
            else:
                values.append(abs(limit(x[0], v[0], step)))
        return max(values)

    def componentwise(x):
        return max(abs(a) for a in x)

    def of_primal(measure):
        return over(measure, lambda v: ZERO, lambda x, v, _: min(x, ZERO),
                    lambda c, x, v, step, b: minus(x, c.project(x)), False)  # fmt: skip

    def of_dual(measure, with_gamma):
        return over(measure, lambda v: v, lambda x, v, _: min(v, ZERO),
                    lambda c, x, v, step, b: c.dual(v), with_gamma)  # fmt: skip

    def of_natural(measure, with_gamma):
        return over(measure, lambda v: v, lambda x, v, _: min(x, v),
                    lambda c, x, v, step, b: c.natural(x, v), with_gamma)  # fmt: skip

    def of_power(with_gamma):
        return over(abs, lambda v: ZERO, lambda x, v, _: x * v, lambda c, x, v, step, b: dot(x, v), with_gamma)

    def of_scaled(contact, with_gamma):
        return over(norm, lambda v: v, lambda x, v, step: min(x * step, v),
                    lambda c, x, v, step, b: contact(c, scaled(x, step), v, b), with_gamma) / size  # fmt: skip

    def raisim(c, x, v, b):
        row = [decimal(d) for d in diagonal[b][-1]]
        return c.natural(x, c.raisim(v, row))

    total = sum((dot(x, v) for _, x, v, _ in parts), ZERO)
    objective = (total + dot(impulse, g)) / 2
    gammas = sum((x[c.normal] * c.gamma(v) for c, x, v, _ in parts if c), ZERO)
    squares = ZERO
    for b, (c, x, v, _) in enumerate(parts):
        squares += dot(*[c.natural(x, c.augmented(v))] * 2) if c else (v[0] if b < joints else min(x[0], v[0])) ** 2
    denominator = max(norm(g), norm(impulse), norm(sigma))
    epsilon = Decimal(2) ** -52

    def divided(by):
        return squares.sqrt() / by if by > epsilon else squares.sqrt()

    worst = 0.0
    tau = Decimal(1e-6)
    for c, x, v, step in parts:
        if c is None:
            continue
        (x_t, normal, x_m), (v_t, _, v_m) = c.parts(x), c.parts(v)
        for mu, own, slip in ((c.mu, x_t, v_t), (c.mu_r, x_m, v_m)):
            if not own or mu == 0 or normal * step <= tau * size:
                continue
            if norm(slip) > max(tau * size, (mu * normal - norm(own)) * step):
                worst = max(worst, angle(own, slip))

    residuals = {
        "primal": of_primal(norm), "r_primal": of_primal(componentwise),
        "dual": of_dual(norm, True), "dual_ccp": of_dual(norm, False), "r_dual": of_dual(componentwise, True),
        "complementarity": of_power(True), "complementarity_ccp": of_power(False), "r_ncp": of_power(True),
        "natural_map": of_natural(norm, True), "natural_map_ccp": of_natural(norm, False),
        "r_nat": of_natural(componentwise, True),
        "natural_map_scaled": of_scaled(lambda c, x, v, b: c.natural(x, v), True),
        "natural_map_ccp_scaled": of_scaled(lambda c, x, v, b: c.natural(x, v), False),
        "natural_map_relative": divided(denominator), "natural_map_relative_g": divided(norm(g)),
        "objective": objective, "objective_ncp": objective + gammas, "duality_gap_ccp": abs(total),
        "dissipation_error": Decimal(worst),
        "signorini": over(abs, lambda v: ZERO, lambda x, v, step: min(x * step, v),
                          lambda c, x, v, step, b: min(x[c.normal] * step, v[c.normal]), False) / size,
    }  # fmt: skip
    if dimension != 5:
        residuals["natural_map_box_scaled"] = of_scaled(lambda c, x, v, b: c.box(x, v), False)
        residuals["natural_map_facets_scaled"] = of_scaled(lambda c, x, v, b: c.facets(x, v), False)
        residuals["natural_map_raisim_scaled"] = of_scaled(raisim, False)
    if case.get("gaps") is not None:
        depths = [ZERO]
        for k, gap in enumerate(case["gaps"]):
            n = first + k * dimension + contacts[k].normal
            c = sigma[n] - decimal(compliance[n]) * impulse[n] - decimal(case["bias"][n])
            depths.append(-(decimal(gap) + decimal(case["time_step"]) * c))
        residuals["penetration"] = max(depths)

    velocity = size * Decimal("1e-23")
    force = max([abs(x) for x in impulse] + [ZERO]) * Decimal("1e-29")
    power = len(g) * (velocity * max([abs(x) for x in impulse] + [ZERO]) + force * max([abs(x) for x in sigma] + [ZERO]))
    slack = dict.fromkeys(residuals, velocity + force)
    slack |= {name: Decimal("1e-23") for name in residuals if name.endswith("scaled") or name == "signorini"}
    slack |= {name: power for name in ("complementarity", "complementarity_ccp", "r_ncp", "objective", "objective_ncp",
                                       "duality_gap_ccp")}  # fmt: skip
    slack |= {"natural_map_relative": (velocity + force) / max(denominator, epsilon),
              "natural_map_relative_g": (velocity + force) / max(norm(g), epsilon),
              "dissipation_error": Decimal("1e-15")}  # fmt: skip
    return residuals, slack


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        cases = json.load(stream)
    wrong, compared = 0, 0
    for case in cases:
        exact, slack = judge(case)
        for name, value in exact.items():
            if name not in case.get("only", exact):
                continue
            stored = case["residuals"][name]
            compared += 1
            if stored is None or abs(Decimal(stored) - value) > RELATIVE * abs(value) + slack[name]:
                wrong += 1
                print(f"{case['name']}: {name}: exactly {float(value)!r}, stored {stored!r}")
    print(f"{compared} residuals of {len(cases)} answers, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
