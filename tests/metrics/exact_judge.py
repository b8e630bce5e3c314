#!/usr/bin/python3
"""Residuals of answers to small problems by exact rational arithmetic: Python alone, nothing of Conebench's.

    exact_judge.py CASES.json    exit code 1, with a line each, where a stored residual is not that of the given doubles

sigma = (G + R) λ + g is a fraction, also where M w = Jᵀ λ has to be solved for it; norms and projections then have
700 digits. A case is {joints, limits, intervals: [[lower, upper]], contacts: [{shape: "discs" or "pyramid", groups: their
sizes, mu: one a tangential row}], G or M and J (rows), R, g, bias, gaps, time_step, impulse, residuals: {name: value or
null}, only: names to compare}. null is no bound; a contact has its first group, the normal, the other groups. Formulas:
docs/metrics.md.
"""

import itertools
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
    """mu: one a group, in scaled variables."""

    def __init__(self, shape, groups, mu):
        self.pyramid, self.mu = shape == "pyramid", mu
        self.normal = groups[0]
        starts = [0] + [1 + sum(groups[:k]) for k in range(1, len(groups))]
        self.groups = [list(range(start, start + size)) for start, size in zip(starts, groups)]
        self.rows = 1 + sum(groups)

    def parts(self, x):
        """The entries of each group."""
        return [[x[k] for k in group] for group in self.groups]

    def speed(self, v):
        return max(abs(a) for a in v) if self.pyramid else norm(v)

    def force(self, x):
        return sum((abs(a) for a in x), ZERO) if self.pyramid else norm(x)

    def gamma(self, v):
        return sum((mu * self.speed(part) for mu, part in zip(self.mu, self.parts(v))), ZERO)

    def augmented(self, v):
        result = list(v)
        result[self.normal] += self.gamma(v)
        return result

    def joined(self, normal, parts):
        point = [normal] * self.rows
        for group, part in zip(self.groups, parts):
            for k, value in zip(group, part):
                point[k] = value
        return point

    def candidates(self, x):
        """Points of K, among them the nearest to x."""
        normal, parts = x[self.normal], self.parts(x)
        if self.pyramid:
            # Each entry shortened by the same, as it were if the m largest stay.
            (part,), (mu,) = parts, self.mu
            sizes = sorted((abs(a) for a in part), reverse=True)
            for m in range(1, len(sizes) + 1):
                cut = max((sum(sizes[:m], ZERO) - mu * normal) / (m + mu**2), ZERO)
                short = [max(abs(a) - cut, ZERO) if mu else ZERO for a in part]
                n = max([normal + mu * cut, ZERO] + ([sum(short, ZERO) / mu] if mu else []))
                yield self.joined(n, [[-b if a < 0 else b for a, b in zip(part, short)]])
            yield self.joined(ZERO, [[ZERO] * len(part)])
            return
        lengths = [norm(part) for part in parts]
        for chosen in itertools.product((0, 1), repeat=len(parts)):
            n = (normal + sum((on * mu * a for on, mu, a in zip(chosen, self.mu, lengths)), ZERO)) / (
                1 + sum((on * mu**2 for on, mu in zip(chosen, self.mu)), ZERO)
            )
            n = max(n, ZERO)
            yield self.joined(n, [scaled(part, mu * n / a) if a > mu * n else part
                                  for part, mu, a in zip(parts, self.mu, lengths)])  # fmt: skip

    def project(self, x):
        return min(self.candidates(x), key=lambda point: norm(minus(x, point)))

    def natural(self, impulse, v):
        return minus(impulse, self.project(minus(impulse, v)))

    def dual(self, v):
        """v − P_K*(v) = −P_K(−v)."""
        return scaled(self.project(scaled(v, -1)), -1)

    def box(self, impulse, v):
        bound = self.mu[0] * max(impulse[self.normal], ZERO)
        target = [max(min(a - b, bound), -bound) for a, b in zip(impulse, v)]
        target[self.normal] = max(impulse[self.normal] - v[self.normal], ZERO)
        return minus(impulse, target)

    def facets(self, impulse, v):
        if self.rows == 2:
            return self.box(impulse, v)
        radius = self.mu[0] * max(impulse[2], ZERO)
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
        (tangents,), (mu,) = self.parts(v), self.mu
        if mu == 0 or not any(tangents) or row[-1] <= 0:
            return self.augmented(v)
        t = [d / row[-1] for d in row]
        a = 1 - mu**2 * dot(t[:-1], t[:-1])
        b = -2 * mu**2 * dot(tangents, t[:-1])
        c = -(mu**2) * dot(tangents, tangents)
        discriminant = b * b - 4 * a * c
        if discriminant < 0:
            return self.augmented(v)
        root = discriminant.sqrt()
        roots = [x for x in ((-b + root) / (2 * a), (-b - root) / (2 * a)) if x > 0]
        if not roots:
            return self.augmented(v)
        return [s + min(roots) * d for s, d in zip(v, t)]


class Row:
    """A joint, limit or interval; None is no bound."""

    def __init__(self, kind, lower, upper):
        self.kind, self.lower, self.upper = kind, lower, upper

    def clipped(self, x):
        x = x if self.lower is None else max(x, self.lower)
        return x if self.upper is None else min(x, self.upper)

    def primal(self, x):
        return x - self.clipped(x)

    def dual(self, v):
        """The part of v that no impulse allows."""
        return (min(v, ZERO) if self.upper is None else ZERO) + (max(v, ZERO) if self.lower is None else ZERO)

    def natural(self, x, v, step):
        """(x − P(x − v / step)) step."""
        return (x - self.clipped(x - v / step)) * step

    def power(self, x, v):
        if self.kind != "interval":
            return x * v if self.kind == "limit" else ZERO
        bound = self.lower if v > 0 else self.upper
        return ZERO if bound is None else (x - bound) * v

    def gap(self, x, v):
        bound = self.lower if v > 0 else self.upper
        return (x - (bound or ZERO)) * v


def angle(impulse, slip):
    """Between −impulse and slip; a right angle where there is no impulse."""
    size = norm(impulse)
    if size == 0:
        return math.pi / 2
    a, b = scaled(impulse, -1 / size), scaled(slip, 1 / norm(slip))
    along = dot(a, b)
    return math.atan2(float(norm(minus(b, scaled(a, along)))), float(along))


def ratios(law):
    """mu_k / mu_g of a contact's rows, 1 on the normal, whose place is behind the first group."""
    coefficients = iter(Fraction(mu) for mu in law["mu"])
    groups = [[next(coefficients) for _ in range(size)] for size in law["groups"]]
    rows = [[mu / group[0] if mu != group[0] else Fraction(1) for mu in group] for group in groups]
    return rows[0] + [Fraction(1)] + [ratio for group in rows[1:] for ratio in group]


def judge(case):
    """All residuals, and what each may miss by: a share 1e-23 of V, and 1e-29 of λ."""
    laws, intervals = case["contacts"], case.get("intervals", [])
    impulse = [Fraction(x) for x in case["impulse"]]
    g = [Fraction(x) for x in case["g"]]
    compliance = [Fraction(x) for x in case["R"]]
    bounds = [("joint", None, None)] * case["joints"] + [("limit", 0, None)] * case["limits"]
    bounds += [("interval", *pair) for pair in intervals]
    sets = [Row(kind, *(None if x is None else decimal(x) for x in pair)) for kind, *pair in bounds]
    first = len(sets)
    rows = [[i] for i in range(first)]
    for law in laws:
        start = rows[-1][-1] + 1 if rows else 0
        rows.append(list(range(start, start + 1 + len(law["mu"]))))
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

    # Each group of tangential rows is a ball, moments are in units of impulses.
    known = []
    for law, own in zip(laws, diagonal[first:]):
        split = law["groups"][0] + 1
        weighted = [own[k][k] * ratio**2 for k, ratio in enumerate(ratios(law))]
        near, far = weighted[:split], weighted[split:]
        near, far = (sum(part, Fraction(0)) / max(len(part), 1) for part in (near, far))
        known.append(decimal(near / far).sqrt() if near > 0 and far > 0 else None)
    lengths = [x for x in known if x is not None]
    mean = sum(lengths, ZERO) / len(lengths) if lengths else ONE
    length = [ONE] * len(g)
    for law, block, own in zip(laws, rows[first:], known):
        tangents, coefficients = [i for k, i in enumerate(block) if k != law["groups"][0]], iter(law["mu"])
        mu = []
        for k, size in enumerate(law["groups"]):
            unit = ONE if k == 0 else mean if own is None else own
            group = [decimal(next(coefficients)) for _ in range(size)]
            mu.append(group[0] / unit)
            for coefficient in group:
                length[tangents.pop(0)] = unit if coefficient == group[0] else unit * coefficient / group[0]
        sets.append(Contact(law["shape"], law["groups"], mu))
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

    # Of each block: its set, λ, σ, 1 / r.
    parts = [(own, [impulse[i] for i in block], [sigma[i] for i in block], step)
             for own, block, step in zip(sets, rows, means)]  # fmt: skip

    def over(measure, row, contact, with_gamma):
        values = [ZERO]
        for b, (own, x, v, step) in enumerate(parts):
            if b >= first:
                values.append(measure(contact(own, x, own.augmented(v) if with_gamma else v, step, b)))
            else:
                values.append(abs(row(own, x[0], v[0], step)))
        return max(values)

    def componentwise(x):
        return max(abs(a) for a in x)

    def of_primal(measure):
        return over(measure, lambda c, x, v, _: c.primal(x), lambda c, x, v, step, b: minus(x, c.project(x)), False)

    def of_dual(measure, with_gamma):
        return over(measure, lambda c, x, v, _: c.dual(v), lambda c, x, v, step, b: c.dual(v), with_gamma)

    def of_natural(measure, with_gamma):
        return over(measure, lambda c, x, v, _: c.natural(x, v, ONE), lambda c, x, v, step, b: c.natural(x, v), with_gamma)

    def of_power(with_gamma):
        return over(abs, lambda c, x, v, _: c.power(x, v), lambda c, x, v, step, b: dot(x, v), with_gamma)

    def of_scaled(contact, with_gamma):
        return over(norm, lambda c, x, v, step: c.natural(x, v, step),
                    lambda c, x, v, step, b: contact(c, scaled(x, step), v, b), with_gamma) / size  # fmt: skip

    def raisim(c, x, v, b):
        row = [decimal(d) * length[i] for d, i in zip(diagonal[b][-1], rows[b])]
        return c.natural(x, c.raisim(v, row))

    total = sum((dot(x, v) for _, x, v, _ in parts), ZERO)
    gap = sum((dot(x, v) if b >= first else c.gap(x[0], v[0]) for b, (c, x, v, _) in enumerate(parts)), ZERO)
    objective = (total + dot(impulse, g)) / 2
    gammas = sum((x[c.normal] * c.gamma(v) for c, x, v, _ in parts[first:]), ZERO)
    squares = sum((c.natural(x[0], v[0], ONE) ** 2 for c, x, v, _ in parts[:first]), ZERO)
    for c, x, v, _ in parts[first:]:
        squares += dot(*[c.natural(x, c.augmented(v))] * 2)
    denominator = max(norm(g), norm(impulse), norm(sigma))
    epsilon = Decimal(2) ** -52

    def divided(by):
        return squares.sqrt() / by if by > epsilon else squares.sqrt()

    worst = 0.0
    tau = Decimal(1e-6)
    for c, x, v, step in parts[first:]:
        for mu, own, slip in zip(c.mu, c.parts(x), c.parts(v)):
            if mu == 0 or x[c.normal] * step <= tau * size:
                continue
            if c.speed(slip) > max(tau * size, (mu * x[c.normal] - c.force(own)) * step):
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
        "objective": objective, "objective_ncp": objective + gammas, "duality_gap_ccp": abs(gap),
        "signorini": over(abs, lambda c, x, v, step: min(x * step, v) if c.kind == "limit" else ZERO,
                          lambda c, x, v, step, b: min(x[c.normal] * step, v[c.normal]), False) / size,
    }  # fmt: skip
    if not any(law["shape"] == "pyramid" for law in laws):
        residuals["dissipation_error"] = Decimal(worst)
    if all(law["shape"] == "discs" and law["groups"] in ([1], [2]) and law["groups"] == laws[0]["groups"] for law in laws):
        residuals["natural_map_box_scaled"] = of_scaled(lambda c, x, v, b: c.box(x, v), False)
        residuals["natural_map_facets_scaled"] = of_scaled(lambda c, x, v, b: c.facets(x, v), False)
        residuals["natural_map_raisim_scaled"] = of_scaled(raisim, False)
    if case.get("gaps") is not None:
        depths = [ZERO]
        for k, gap in enumerate(case["gaps"]):
            n = rows[first + k][sets[first + k].normal]
            c = sigma[n] - decimal(compliance[n]) * impulse[n] - decimal(case["bias"][n])
            depths.append(-(decimal(gap) + decimal(case["time_step"]) * c))
        residuals["penetration"] = max(depths)
    elif not laws:
        residuals["penetration"] = ZERO

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
        for name, value in case["residuals"].items():
            if value is not None and name not in exact:
                wrong += 1
                print(f"{case['name']}: {name}: stored {value!r}, though it is not defined")
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
