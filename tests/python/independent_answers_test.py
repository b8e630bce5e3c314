"""Answers of independent methods to problems with intervals and friction cones of any size.

Clarabel (second-order cones, an interior point in Rust) answers the convex relaxation, and, where its De Saxcé term is
iterated, the NCP. Pinocchio 4 (ADMM on boxes and Coulomb's cones) answers the NCP with intervals and 3D contacts. Usage:
    independent_answers_test.py PACKAGE_FOLDER clarabel|pinocchio
Ends with 77 where the library is not installed.
"""

import sys

import numpy as np

SKIPPED = 77


def random_problem(rng, intervals, contacts, sizes, rank_share=0.8):
    """G (n, n), g (n,), rows of each block, and the blocks as (kind, data); a contact's normal comes first."""
    kinds = [("interval", np.sort(rng.normal(size=2)) * 0.3) for _ in range(intervals)]
    for _ in range(contacts):
        size = int(rng.choice(sizes))
        mu = np.r_[np.full(min(size, 2), rng.uniform(0.2, 1.0)), rng.uniform(0.02, 0.3, max(size - 2, 0))]
        kinds.append(("cone", mu))
    rows = np.array([1 if kind == "interval" else 1 + len(data) for kind, data in kinds])
    n = int(rows.sum())
    factor = rng.normal(size=(n, max(1, int(rank_share * n))))
    g_matrix = factor @ factor.T / n
    # A free velocity of the bodies, so that the velocities are consistent and the problem has a solution.
    free = factor @ rng.normal(size=factor.shape[1])
    starts = np.r_[0, np.cumsum(rows)[:-1]]
    for start, (kind, _) in zip(starts, kinds):
        if kind == "cone":
            free[start] = -abs(free[start])
    return g_matrix, free, rows, kinds


def clarabel_answer(g_matrix, g, rows, kinds):
    """λ of min ½ λᵀGλ + gᵀλ over intervals and cones ‖D⁻¹ λ_T‖ ≤ λ_N."""
    import clarabel
    from scipy import sparse

    n = len(g)
    parts, offsets, cones = [], [], []
    start = 0
    for size, (kind, data) in zip(rows, kinds):
        if kind == "interval":
            block = sparse.lil_matrix((2, n))
            block[0, start], block[1, start] = -1.0, 1.0  # s = λ − l ≥ 0, s = u − λ ≥ 0
            parts.append(block)
            offsets.append([-data[0], data[1]])
            cones.append(clarabel.NonnegativeConeT(2))
        else:
            block = sparse.lil_matrix((size, n))
            block[0, start] = -1.0
            for k, mu in enumerate(data):
                block[k + 1, start + k + 1] = -1.0 / mu
            parts.append(block)
            offsets.append(np.zeros(size))
            cones.append(clarabel.SecondOrderConeT(int(size)))
        start += size
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    solver = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(g_matrix)), g, sparse.csc_matrix(sparse.vstack(parts)),
                                    np.concatenate(offsets), cones, settings)
    return np.array(solver.solve().x)


def de_saxce(sigma, rows, kinds):
    """Γ(σ) of the whole problem: ‖D σ_T‖ on the normals."""
    gamma = np.zeros_like(sigma)
    start = 0
    for size, (kind, data) in zip(rows, kinds):
        if kind == "cone":
            gamma[start] = np.linalg.norm(data * sigma[start + 1 : start + size])
        start += size
    return gamma


def clarabel_ncp(g_matrix, g, rows, kinds, rounds=200):
    """The fixed point of λ = CCP(g + Γ(σ)), or None where it does not settle."""
    gamma = np.zeros_like(g)
    for _ in range(rounds):
        answer = clarabel_answer(g_matrix, g + gamma, rows, kinds)
        new = de_saxce(g_matrix @ answer + g, rows, kinds)
        if np.abs(new - gamma).max() < 1e-11 * np.abs(g).max():
            return answer
        gamma = new
    return None


def pinocchio_answer(g_matrix, g, intervals, frictions):
    """λ of the NCP by ADMM; rows: intervals, then (t1, t2, n) a contact."""
    import pinocchio as pin

    chain, parent = pin.Model(), 0
    for k in range(len(intervals)):
        parent = chain.addJoint(parent, pin.JointModelRX(), pin.SE3.Identity(), f"joint{k}")
    joints = pin.StdVec_Index()
    for k in range(len(intervals)):
        joints.append(k + 1)
    friction = pin.JointFrictionConstraintModel(chain, joints)
    friction.setFrictionLowerLimit(np.array([l for l, _ in intervals]))
    friction.setFrictionUpperLimit(np.array([u for _, u in intervals]))
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    models.append(pin.ConstraintModel(friction))
    for mu in frictions:
        contact = pin.PointContactConstraintModel(chain, 1)
        contact.setFriction(float(mu))
        models.append(pin.ConstraintModel(contact))
    for model in models:
        datas.append(model.createData())
    settings = pin.ADMMSolverSettings()
    settings.max_iterations = 50000
    settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = 1e-12
    settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0
    result = pin.ADMMSolverResult()
    pin.ADMMConstraintSolver().solve(pin.DelassusOperatorDense(np.asfortranarray(g_matrix)), g, models, datas, settings,
                                     result)
    return np.array(result.retrieveConstraintImpulses())


def blocks_of(conebench, kinds):
    return [conebench.interval(*data) if kind == "interval" else conebench.friction(data) for kind, data in kinds]


def compare(conebench, problem, answer, solvers, relaxed):
    """The judge's residual of the independent answer, and the largest difference of the velocities to each solver's."""
    name = "natural_map_ccp_scaled" if relaxed else "natural_map_scaled"
    residual = conebench.judge(problem, answer).residuals[name]
    size = np.abs(problem.g).max()
    differences = []
    for solver in solvers:
        own = conebench.solve(problem, solver, tolerance=1e-11, max_iterations=200000, time_limit=20, verdict=name)
        assert own.solved, f"{solver} does not solve {problem.name}: {own.residuals[name]}"
        # Impulses need not be unique; velocities of a convex problem are.
        differences.append(np.abs(problem.G @ (own.r - answer)).max() / size)
    return residual, max(differences)


def with_clarabel(conebench):
    rng = np.random.default_rng(7)
    seen = settled = 0
    for trial in range(30):
        case = random_problem(rng, int(rng.integers(0, 6)), int(rng.integers(1, 6)), [2, 3, 4, 6])
        g_matrix, g, rows, kinds = case
        problem = conebench.problem(g_matrix, g, blocks=blocks_of(conebench, kinds), normal="first", name=f"trial {trial}")
        residual, difference = compare(conebench, problem, clarabel_answer(*case), ["APGD-CCP", "ADMM-CCP"], True)
        assert residual < 1e-5 and difference < 1e-5, f"cone problem {trial}: {residual:.1e}, {difference:.1e}"
        seen += 1
        ncp = clarabel_ncp(*case)
        if ncp is None:
            continue
        # The NCP may have several answers; that this is one is what the judge says.
        residual = conebench.judge(problem, ncp).residuals["natural_map_scaled"]
        assert residual < 1e-5, f"NCP {trial}: {residual:.1e}"
        settled += 1
    print(f"{seen} cone problems and {settled} NCPs agree with Clarabel")
    assert settled >= 10


def with_pinocchio(conebench):
    rng = np.random.default_rng(11)
    for trial in range(20):
        intervals, contacts = int(rng.integers(1, 8)), int(rng.integers(1, 8))
        n = intervals + 3 * contacts
        factor = rng.normal(size=(n, n + 3))
        g_matrix, g = factor @ factor.T / n, rng.normal(size=n)
        bounds = np.sort(rng.normal(size=(intervals, 2)) * 0.3, axis=1)
        frictions = rng.uniform(0.1, 1.0, contacts)
        answer = pinocchio_answer(g_matrix, g, bounds, frictions)
        blocks = [conebench.interval(l, u) for l, u in bounds] + [conebench.friction(mu) for mu in frictions]
        problem = conebench.problem(g_matrix, g, blocks=blocks, normal="last", name=f"trial {trial}")
        residual, difference = compare(conebench, problem, answer, ["NSGS", "ADMM-NCP-SA", "CASCADE"], False)
        assert residual < 1e-8 and difference < 1e-6, f"NCP {trial}: {residual:.1e}, {difference:.1e}"
    print("20 NCPs agree with Pinocchio")


def main():
    package, library = sys.argv[1:]
    sys.path.insert(0, package)
    try:
        __import__(library)
    except ImportError:
        print(f"skipped: {library.capitalize()} is not installed")
        return SKIPPED
    import conebench

    with_clarabel(conebench) if library == "clarabel" else with_pinocchio(conebench)
    return 0


if __name__ == "__main__":
    sys.exit(main())
