"""Kamino's steps, captured, are what Kamino solved; its P-ADMM and DVI answer problems without a robot.

Usage, by a Python that has newton and the package's NumPy: newton_test.py PYTHON_FOLDER
Ends with 77 where newton is not installed. The first run compiles Kamino's kernels, for one to three minutes.
"""

import sys

sys.path.insert(0, sys.argv[1])
try:
    import newton
    import warp as wp

    import conebench
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
import numpy as np
import scipy.sparse as sp
from conebench.capture import _newton

wp.config.log_level = wp.LOG_WARNING
wp.set_device("cpu")
DT = 0.005


def robot(kind, integrator="euler", restitution=0.0, sparse=False):
    """A box thrown over the ground; a pendulum with dry friction on its limit; one with a drive of little effort."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverKamino.register_custom_attributes(builder)
    builder.default_shape_cfg.margin = builder.default_shape_cfg.gap = 0.0
    builder.default_shape_cfg.mu, builder.default_shape_cfg.restitution = 0.5, restitution
    builder.begin_world()
    box = builder.add_body(xform=wp.transform(wp.vec3(0, 0, 0.0999), wp.quat_identity()), label="box")
    builder.add_shape_box(box, hx=0.1, hy=0.1, hz=0.1, label="box")
    for k, axes in enumerate((dict(limit_lower=0.0, limit_upper=1.0, friction=0.02),
                              dict(limit_lower=-np.inf, limit_upper=np.inf, effort_limit=0.05, target_ke=10.0,
                                   target_kd=0.1, actuator_mode=newton.JointTargetMode.POSITION_VELOCITY))):
        link = builder.add_link(xform=wp.transform(wp.vec3(0.2, 1.0 + k, 2), wp.quat_identity()), label=f"link{k}")
        builder.add_shape_box(link, hx=0.2, hy=0.02, hz=0.02, label=f"link{k}")
        at, end = (wp.transform(wp.vec3(*point), wp.quat_identity()) for point in ((0, 1.0 + k, 2), (-0.2, 0, 0)))
        joint = builder.add_joint_revolute(-1, link, parent_xform=at, child_xform=end, axis=wp.vec3(0, -1, 0),
                                           label=f"hinge{k}", **axes)
        builder.add_articulation([joint])
    builder.add_ground_plane()
    builder.end_world()
    model = builder.finalize(device="cpu", skip_validation_joints=True)
    config = newton.solvers.SolverKamino.Config(dynamics_solver=kind, integrator=integrator,
                                                use_collision_detector=True,
                                                sparse_jacobian=sparse or kind == "dvi")
    if kind == "padmm":
        config.padmm.rho_0 = 0.1
    return model, newton.solvers.SolverKamino(model=model, config=config)


def csr(parts):
    return sp.csr_matrix(parts[:3], shape=parts[3])


def kaminos_own(solver, step):
    """Its D and v_f without the solver's scaling and penalty, the normals first."""
    kamino = solver._solver_kamino
    problem, n, contacts = kamino.problem_fd.data, len(step["R"]), int((step["cone"] > 0).sum())
    first = n - 3 * contacts
    order = np.r_[0:first, first + 3 * np.repeat(np.arange(contacts), 3) + np.tile([2, 0, 1], contacts)].astype(int)
    scale = problem.P.numpy()[:n].astype(float)
    matrix = problem.D.numpy()[: n * n].reshape(n, n) - kamino.solver_fd.data.state.sigma.numpy()[0][0] * np.eye(n)
    return (matrix / np.outer(scale, scale))[np.ix_(order, order)], (problem.v_f.numpy()[:n] / scale)[order]


def problem_of(step):
    return conebench.problem(M=csr(step["M"]), J=csr(step["J"]), v_free=step["v_free"], b=step["b"], R=step["R"],
                             blocks={name: step[name] for name in ("block_rows", "lower", "upper", "cone", "mu")},
                             normal="first", time_step=step["time_step"])


def captured_steps_are_kaminos(kind, **options):
    model, solver = robot(kind, **options)
    try:
        _newton.step_of(solver)
        raise AssertionError("a solver without a step was captured")
    except conebench.Error as error:
        assert "no step" in str(error), error
    state, after = model.state(), model.state()
    velocity = state.body_qd.numpy()
    velocity[0, :3] = [1.0, 0.3, -0.1]
    state.body_qd.assign(velocity)
    control, kinds, worst, residuals = model.control(), set(), 0.0, []
    for k in range(30):
        state.clear_forces()
        solver.step(state, after, control, None, DT)
        step = _newton.step_of(solver, state)
        M, J = csr(step["M"]).toarray(), csr(step["J"]).toarray()
        D, v_f = kaminos_own(solver, step)
        made = J @ np.linalg.solve(M, J.T) + np.diag(step["R"])
        worst = max(worst, np.abs(D - made).max() / np.abs(D).max())
        assert np.abs(v_f - J @ step["v_free"] - step["b"]).max() <= 1e-6 * np.abs(v_f).max()
        (name, answer), = step["answers"].items()
        reached = step["v_free"] + np.linalg.solve(M, J.T @ answer["r"])
        assert np.abs(reached - after.body_qd.numpy().ravel()).max() < 2e-5, (k, reached, after.body_qd.numpy())
        assert np.array_equal(step["velocity"], state.body_qd.numpy().ravel())
        for frame in step.get("frame", []):
            assert np.allclose(frame @ frame.T, np.eye(3), atol=1e-6) and np.allclose(frame[0], [0, 0, 1], atol=1e-6)
        assert step["step"] == k + 1
        assert len({len(step[name]) for name in ("name", "gap", "bodies", "identity", "cone")}) == 1
        known = step["identity"][step["identity"] > -2**63]
        assert len(set(known.tolist())) == len(known)
        problem = problem_of(step)
        kinds |= {what for what in ("joints", "intervals", "limits", "contacts") if getattr(problem, what)}
        residuals.append(conebench.judge(problem, answer["r"]).residuals["natural_map_scaled"])
        state, after = after, state
    assert worst <= 1e-6, worst
    assert kinds == {"joints", "intervals", "limits", "contacts"}, kinds
    assert any(name.startswith("hinge0: lower limit") for name in step["name"]), step["name"]
    print(f"{kind} {options}: {name}, D to {worst:.1e}, its answers: median {np.median(residuals):.1e}, "
          f"max {max(residuals):.1e}")
    assert np.median(residuals) < 1e-3


def other_solvers_are_refused():
    model, solver = robot("padmm")
    for given, said in ((newton.solvers.SolverXPBD(model), "SolverKamino, not SolverXPBD"), (solver, "no step")):
        try:
            _newton.step_of(given)
        except conebench.Error as error:
            assert said in str(error), error
        else:
            raise AssertionError(given)


def peers_answer_given_problems():
    from conebench.peers import kamino

    interval = conebench.problem(
        G=[[2.0, 0.5, 0, 0], [0.5, 1.0, 0, 0.3], [0, 0, 1, 0], [0, 0.3, 0, 1]], g=[-1.0, -1.0, 0.5, 2.0],
        blocks=[conebench.interval(-0.3, 0.2), conebench.friction(0.5)], normal="first")
    halves = conebench.problem(G=np.diag([1.0, 2.0, 3.0]), g=[1.0, -1.0, 1.0],
                               blocks=[conebench.interval(-np.inf, 0.2), conebench.unilateral(), conebench.bilateral()])
    for problem in (conebench.load("box-stack boxes=3"), interval, halves):
        for marked, options in ((kamino.Padmm, {}), (kamino.Padmm, {"acceleration": False}), (kamino.Dvi, {}),
                                (kamino.Dvi, {"unilateral": "apgd"})):
            answer = conebench.solve(problem, marked, tolerance=1e-5, max_iterations=20000, time_limit=60.0, **options)
            residual = answer.residuals["natural_map_scaled"]
            print(f"{problem.name} {marked.conebench['id']} {options}: {answer.status}, {answer.iterations} "
                  f"iterations, {residual:.1e}")
            assert residual < 5e-5, answer
            again = conebench.solve(problem, marked, tolerance=1e-5, max_iterations=20000, time_limit=60.0,
                                    start=answer.r, **options)
            assert again.residuals["natural_map_scaled"] < 5e-5, again
            assert again.iterations <= max(answer.iterations, 48), again
    short = conebench.solve(conebench.load("box-stack boxes=3"), kamino.Padmm, tolerance=1e-5, max_iterations=3)
    assert short.status == "max_iterations" and short.iterations == 3 and not short.claimed, short


captured_steps_are_kaminos("padmm")
captured_steps_are_kaminos("padmm", integrator="moreau", restitution=0.5, sparse=True)
captured_steps_are_kaminos("dvi")
other_solvers_are_refused()
peers_answer_given_problems()
