"""Answers of independent methods to problems with intervals and friction cones of any size.

Clarabel (second-order cones, an interior point in Rust) answers the convex relaxation, and, where its De Saxcé term is
iterated, the NCP. Pinocchio 4 (ADMM on boxes and Coulomb's cones) answers the NCP with intervals and 3D contacts. Problems
go to conebench as files of version 4. Usage, by a Python that has the library, h5py, numpy and scipy:
    independent_answers_test.py CONEBENCH clarabel|pinocchio
Ends with 77 where the library is not installed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

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
    starts = np.r_[0, np.cumsum(rows)]
    # λ = d x with one d a block: Clarabel's own test is absolute.
    traces = np.array([np.trace(g_matrix[a:b, a:b]) for a, b in zip(starts[:-1], starts[1:])]) / rows
    scale = np.repeat(1 / np.sqrt(traces), rows)
    size = np.abs(scale * g).max()
    parts, offsets, cones = [], [], []
    for start, count, (kind, data) in zip(starts, rows, kinds):
        if kind == "interval":
            block = sparse.lil_matrix((2, n))
            block[0, start], block[1, start] = -1.0, 1.0  # s = λ − l ≥ 0, s = u − λ ≥ 0
            offsets.append(np.array([-data[0], data[1]]) / (scale[start] * size))
            cones.append(clarabel.NonnegativeConeT(2))
        else:
            block = sparse.lil_matrix((count, n))
            block[0, start] = -1.0
            for k, mu in enumerate(data):
                block[k + 1, start + k + 1] = -1.0 / mu
            offsets.append(np.zeros(count))
            cones.append(clarabel.SecondOrderConeT(int(count)))
        parts.append(block)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    scaled = g_matrix * np.outer(scale, scale)
    solver = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(scaled)), scale * g / size,
                                    sparse.csc_matrix(sparse.vstack(parts)), np.concatenate(offsets), cones, settings)
    return size * scale * np.array(solver.solve().x)


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


class Conebench:
    """The executable, on one problem at a time."""

    def __init__(self, executable, folder):
        self.executable, self.folder = executable, pathlib.Path(folder)

    def run(self, *words):
        done = subprocess.run([self.executable, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def set_problem(self, g_matrix, g, rows, kinds):
        import h5py

        self.file = self.folder / "problem.hdf5"
        n = len(g)
        lower, upper, mu = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n)
        for start, (kind, data) in zip(np.r_[0, np.cumsum(rows)], kinds):
            if kind == "interval":
                lower[start], upper[start] = data
            else:
                mu[start + 1 : start + 1 + len(data)] = data
        with h5py.File(self.file, "w") as file:
            group = file.create_group("conebench")
            group["version"] = np.int32(4)
            group["G"], group["b"] = g_matrix, g
            group["block_rows"] = np.r_[0, np.cumsum(rows)].astype(np.int32)
            group["lower"], group["upper"], group["mu"] = lower, upper, mu
            group["cone"] = np.array([0 if kind == "interval" else 2 for kind, _ in kinds], np.uint8)

    def residual(self, answer, name):
        np.save(self.folder / "answer.npy", answer)
        return self.run("judge", self.file, "--reaction", self.folder / "answer.npy", "--json")["residuals"][name]

    def answer(self, solver, verdict):
        import h5py

        out = self.folder / "solution.hdf5"
        done = self.run("solve", self.file, "--solver", solver, "--tolerance", 1e-11, "--max-iterations", 500000,
                        "--time-limit", 20, "--verdict", verdict, "--write-solution", out, "--json")  # fmt: skip
        assert done["solved"], f"{solver}: {done['residuals'][verdict]}"
        with h5py.File(out) as file:
            return file["solution/r"][()]


def compare(conebench, case, answer, solvers, verdict):
    """The judge's residual of the independent answer, and the largest difference of the velocities to each solver's."""
    conebench.set_problem(*case)
    # Impulses need not be unique; velocities of a convex problem are.
    differences = [np.abs(case[0] @ (conebench.answer(solver, verdict) - answer)).max() for solver in solvers]
    return conebench.residual(answer, verdict), max(differences) / np.abs(case[1]).max()


def with_clarabel(conebench):
    rng = np.random.default_rng(7)
    settled = 0
    for trial in range(24):
        case = random_problem(rng, int(rng.integers(0, 6)), int(rng.integers(1, 6)), [2, 3, 4, 6])
        # Where Clarabel says that it is done, the judge finds up to 1e-4.
        verdict = "natural_map_ccp_scaled"
        residual, difference = compare(conebench, case, clarabel_answer(*case), ["APGD-CCP", "ADMM-CCP"], verdict)
        assert residual < 1e-4 and difference < 1e-4, f"cone problem {trial}: {residual:.1e}, {difference:.1e}"
        ncp = clarabel_ncp(*case)
        if ncp is None:
            continue
        # The NCP may have several answers; that this is one is what the judge says.
        residual = conebench.residual(ncp, "natural_map_scaled")
        assert residual < 1e-4, f"NCP {trial}: {residual:.1e}"
        settled += 1
    print(f"24 cone problems and {settled} NCPs agree with Clarabel")
    assert settled >= 8


def with_pinocchio(conebench):
    rng = np.random.default_rng(11)
    for trial in range(20):
        intervals, contacts = int(rng.integers(1, 8)), int(rng.integers(1, 8))
        n = intervals + 3 * contacts
        factor = rng.normal(size=(n, n + 3))
        g_matrix, g = factor @ factor.T / n, rng.normal(size=n)
        bounds = np.sort(rng.normal(size=(intervals, 2)) * 0.3, axis=1)
        frictions = rng.uniform(0.1, 1.0, contacts)
        # Pinocchio has the normal last, files first.
        order = np.r_[np.arange(intervals),
                      (intervals + 3 * np.arange(contacts)[:, None] + np.array([2, 0, 1])).ravel()]  # fmt: skip
        answer = pinocchio_answer(g_matrix, g, bounds, frictions)[order]
        kinds = [("interval", pair) for pair in bounds] + [("cone", np.full(2, mu)) for mu in frictions]
        case = g_matrix[np.ix_(order, order)], g[order], np.array([1] * intervals + [3] * contacts), kinds
        residual, difference = compare(conebench, case, answer, ["NSGS", "ADMM-NCP-SA", "CASCADE"], "natural_map_scaled")
        assert residual < 1e-8 and difference < 1e-6, f"NCP {trial}: {residual:.1e}, {difference:.1e}"
    print("20 NCPs agree with Pinocchio")


def main():
    executable, library = sys.argv[1:]
    try:
        __import__(library)
        import h5py  # noqa: F401
    except ImportError:
        print(f"skipped: {library.capitalize()} is not installed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        conebench = Conebench(executable, folder)
        with_clarabel(conebench) if library == "clarabel" else with_pinocchio(conebench)
    return 0


if __name__ == "__main__":
    sys.exit(main())
