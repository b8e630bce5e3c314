"""Pinocchio's steps, captured, are what Pinocchio solves; its ADMM and PGS answer problems without a robot.

Usage, by a Python that has pin 4.1 and the package's NumPy: pinocchio_test.py PYTHON_FOLDER
Ends with 77 where pin 4.1 is not installed.
"""

import sys

sys.path.insert(0, sys.argv[1])
try:
    import pinocchio as pin
except ImportError:
    pin = None
if not hasattr(pin, "ADMMConstraintSolver"):  # as that of 3.7
    print("skipped: Pinocchio is not installed")
    sys.exit(77)
import conebench
import numpy as np
from conebench.capture import _pinocchio
from conebench.peers import pinocchio as peers

DT = 1e-3
CORNERS = ((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))
FOOT = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.2]))


def walker():
    """A trunk on four legs of two links, standing; the knees are 1e-7 rad before their upper limits."""
    def link(name, mass, inertia, z):
        return (f'<link name="{name}"><inertial><origin xyz="0 0 {z}"/><mass value="{mass}"/><inertia ixx="{inertia}" '
                f'iyy="{inertia}" izz="{inertia / 4}" ixy="0" ixz="0" iyz="0"/></inertial></link>')

    def hinge(name, parent, child, xyz, upper):
        return (f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
                f'<axis xyz="0 1 0"/><origin xyz="{xyz}"/>'
                f'<limit lower="-2.5" upper="{upper}" effort="20" velocity="20"/></joint>')

    parts = [link("trunk", 4, 0.05, 0)]
    for k, (x, y) in enumerate(CORNERS):
        parts += [link(f"thigh{k}", 0.5, 2e-3, -0.1), link(f"shank{k}", 0.2, 1e-3, -0.1),
                  hinge(f"hip{k}", "trunk", f"thigh{k}", f"{x} {y} 0", 2),
                  hinge(f"knee{k}", f"thigh{k}", f"shank{k}", "0 0 -0.2", -1.4)]
    model = pin.buildModelFromXML(f'<robot name="walker">{"".join(parts)}</robot>', pin.JointModelFreeFlyer())
    q = pin.neutral(model)
    q[3:7] = np.array([0.1, 0.05, -0.2, 1.0]) / np.linalg.norm([0.1, 0.05, -0.2, 1.0])
    q[7:] = np.tile([0.7, -1.4 - 1e-7], 4)
    v = np.random.default_rng(0).normal(size=model.nv) * 0.1
    v[2] = -0.3
    return model, q, v


def constraints(model, q):
    """Contacts on tilted ground, dry friction and limits of the hinges, a weld and a ball joint."""
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    tilted = pin.utils.rpyToMatrix(0.1, -0.2, 0.3)
    listed = []
    for k in range(4):
        joint = model.getJointId(f"knee{k}")
        ground = (data.oMi[joint] * FOOT).translation - tilted @ np.array([0.02, -0.01, 1e-4 * k])
        listed.append(pin.PointContactConstraintModel(model, 0, pin.SE3(tilted, ground), joint, FOOT))
        listed[-1].setFriction(0.5 + 0.1 * k)
        listed[-1].name = f"foot{k}"
    hinges = pin.StdVec_Index()
    hinges.extend(range(2, model.njoints))
    friction = pin.JointFrictionConstraintModel(model, hinges, np.full(model.nv, -0.3), np.full(model.nv, 0.3))
    friction.setTimeStep(DT)
    limits = pin.JointLimitConstraintModel(model, hinges, model.lowerPositionLimit, model.upperPositionLimit,
                                           np.full(model.nq, 0.01))
    limits.makeSelectionFilteredByLimitProximity(q)
    weld = pin.FrameAnchorConstraintModel(model, 3, pin.SE3.Identity(), 5, data.oMi[5].inverse() * data.oMi[3])
    ball = pin.PointAnchorConstraintModel(model, 0, pin.SE3(np.eye(3), data.oMi[7].translation), 7, pin.SE3.Identity())
    listed += [friction, limits, weld, ball]
    listed[0].setCompliance(np.array([0.0, 0.0, 1e-3]))
    return listed


def problem_of(step):
    table = {name: step[name] for name in ("block_rows", "cone", "lower", "upper", "mu")}
    return conebench.problem(M=step["M"], J=step["J"], v_free=step["v_free"], b=step.get("b"), R=step["R"],
                             blocks=table, normal="first")


def own_delassus(model, q, listed):
    """Pinocchio's, from its Cholesky decomposition of the whole system."""
    data = model.createData()
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for one in listed:
        models.append(pin.ConstraintModel(one))
        datas.append(models[-1].createData())
    data.q_in = q
    pin.crba(model, data, q, pin.Convention.WORLD)
    for one, its in zip(models, datas):
        one.calc(model, data, its)
    made = pin.ConstraintCholeskyDecomposition(model, data, models, datas)
    made.compute(model, data, models, datas, 1e-10)  # with 0, redundant rows give NaN
    return made, made.getDelassusOperatorCholeskyExpression(), models, datas, data


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def refused(words, call):
    try:
        call()
    except conebench.Error as error:
        check(words in str(error), f"refused: {error}")
        return
    raise SystemExit(f"FAILED: no conebench.Error with {words!r}")


def with_capture():
    model, q, v = walker()
    listed = constraints(model, q)
    plain = _pinocchio.step_of(model, q, v, listed, DT)
    order = np.arange(len(plain["J"]))
    order[:12] = (3 * np.arange(4)[:, None] + np.array([2, 0, 1])).ravel()
    holder, operator, models, datas, data = own_delassus(model, q, listed)
    G = plain["J"] @ np.linalg.solve(plain["M"], plain["J"].T)
    own = np.array(operator.matrix(True, False))[np.ix_(order, order)]
    given = np.array(operator.getCompliance()).ravel()[order]
    check(np.abs(own - G - np.diag(given)).max() < 1e-9 * np.abs(own).max(), "G is Pinocchio's Delassus to 1e-9")
    check(np.abs(plain["R"] - given).max() < 1e-15 and plain["R"][0] == 1e-3, "R is the models' compliance")

    # The rates of gaps and limits, by differences.
    later = _pinocchio.step_of(model, pin.integrate(model, q, 1e-7 * v), v, listed, DT)
    rate = (later["gap"] - plain["gap"]) / 1e-7
    first = plain["block_rows"][:-1]
    measured = np.flatnonzero(np.isfinite(rate))
    check(len(measured) == 8 and np.allclose(rate[measured], (plain["J"] @ v)[first[measured]], atol=1e-5),
          "the first row of a contact and of a limit is the rate of its gap")
    check(np.allclose(plain["gap"][:4], 1e-4 * np.arange(4)) and np.allclose(plain["gap"][12:16], 1e-7),
          "gaps are those of q")
    tilted = pin.utils.rpyToMatrix(0.1, -0.2, 0.3)
    check(np.allclose(plain["frame"], tilted.T[[2, 0, 1]]) and plain["point"].shape == (4, 3), "frames in the world")
    check(plain["name"][:2] == ["foot0", "foot1"] and plain["name"][4] == "hip0 friction"
          and plain["name"][12] == "knee0 upper limit" and plain["name"][16] == "anchor 6: knee1 on knee0", "names")
    bodies = [tuple(plain["body_names"][k] for k in pair) for pair in plain["bodies"][[0, 5, 12, 16]]]
    check(bodies == [("universe", "knee0"), ("hip0", "knee0"), ("hip0", "knee0"), ("knee0", "knee1")], "bodies")
    check(np.allclose(plain["upper"][12:20], 0.3 * DT), "friction is bounded by its impulse")

    # Its own answers.
    rows = np.empty_like(order)
    rows[order] = np.arange(len(order))
    bias = np.zeros(len(order))
    bias[first[measured]] = plain["gap"][measured] / DT
    g = (plain["J"] @ plain["v_free"] + bias)[rows]
    free = v + DT * np.array(pin.aba(model, model.createData(), q, v, np.zeros(model.nv)))
    check(np.allclose(plain["v_free"], free, atol=1e-14), "v_free is v + dt aba")
    for name in ("ADMM", "PGS"):
        settings, result = getattr(pin, name + "SolverSettings")(), getattr(pin, name + "SolverResult")()
        settings.max_iterations = 50000
        settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = 1e-10
        settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0
        _, operator, models, datas, _ = kept = own_delassus(model, q, listed)
        getattr(pin, name + "ConstraintSolver")().solve(operator, g, models, datas, settings, result)
        step = _pinocchio.step_of(model, q, v, listed, DT, g=g, delassus=operator, result=result, settings=settings,
                                  seconds=1e-3, step=7, time=0.007)
        answer = step["answers"][f"Pinocchio {pin.__version__} {name}"]
        check(np.allclose(step["b"], bias, atol=1e-12) and np.allclose(step["R"], given), f"{name}: b and R")
        after = step["v_free"] + np.linalg.solve(step["M"], step["J"].T @ answer["r"])
        sigma = step["J"] @ after + step["b"] + step["R"] * answer["r"]
        if name == "ADMM":
            own = np.array(result.retrieveConstraintVelocities())[order]
            check(np.abs(own - sigma).max() < 1e-6, "its velocities are J v+ + b + R r")
        judged = conebench.judge(problem_of(step), answer["r"], 1e-8)
        check(answer["status"] == "converged" and answer["tolerance"] == 1e-10 and answer["law"] == "ncp"
              and 0 < answer["iterations"] <= 50001, f"{name}: {answer['iterations']} iterations")
        # PGS claims too much: its contacts are looked at just after their own updates.
        residual = judged.residuals["natural_map_scaled"]
        check(residual < (1e-7 if name == "ADMM" else 1e-4), f"{name}: judged {residual:.1e}")
        del kept

    refused("q has the shape", lambda: _pinocchio.step_of(model, q[1:], v, listed, DT))
    refused("time_step", lambda: _pinocchio.step_of(model, q, v, listed, 0.0))
    refused("g has 3 rows", lambda: _pinocchio.step_of(model, q, v, listed, DT, g=np.zeros(3)))
    refused("after solve()", lambda: _pinocchio.step_of(model, q, v, listed, DT, g=g, result=pin.PGSSolverResult()))
    none = _pinocchio.step_of(model, q, v, [], DT)
    check(none["J"].shape == (0, model.nv) and none["block_rows"].tolist() == [0], "a step without constraints")


def many_boxes():
    return conebench.load("box-stack boxes=3")


def with_peers():
    rng = np.random.default_rng(3)
    worst = {}
    for _ in range(20):
        blocks = [conebench.bilateral() for _ in range(rng.integers(0, 5))]
        blocks += [conebench.unilateral() for _ in range(rng.integers(0, 4))]
        for _ in range(rng.integers(1, 5)):
            low, high = np.sort(rng.normal(size=2) * 1e-5)
            blocks.append(conebench.interval(*[(low, high), (low, np.inf), (-np.inf, high)][rng.integers(3)]))
        blocks += [conebench.friction(rng.uniform(0.1, 1)) for _ in range(rng.integers(1, 5))]
        blocks = [blocks[k] for k in rng.permutation(len(blocks))]
        n = sum(block.rows for block in blocks)
        factor = rng.normal(size=(n, n + 3))
        posed = conebench.problem(factor @ factor.T * 1e3 / n, rng.normal(size=n) * 1e-2, blocks=blocks, normal="last",
                                  R=rng.uniform(0, 10, n))
        for solver, options in ((peers.Admm, {}),
                                (peers.Admm, {"delassus": "dense", "rule": "spectral", "anderson": 10}),
                                (peers.Admm, {"rule": "linear", "anderson": 5}), (peers.Pgs, {})):
            answer = conebench.solve(posed, solver, tolerance=1e-10, **options)
            key = f"{solver.conebench['id']} {options}"
            worst.setdefault(key, []).append(answer.residuals["natural_map_scaled"])
            check(answer.status == "converged", f"{key}: {answer.iterations} iterations")
            # A few iterations more or less are exactly those that were allowed.
            few = conebench.solve(posed, solver, tolerance=1e-300, max_iterations=3, **options)
            if few.status == "max_iterations":
                check(few.iterations == 3, f"{key}: 3 iterations")
    for key, residuals in worst.items():
        print(f"{key}: judged at most {max(residuals):.1e}")
        if "ADMM" in key:
            check(max(residuals) < 1e-7, "ADMM's claims hold on these")
        else:
            check(np.median(residuals) < 1e-7, "half of PGS's claims hold on these")

    G = np.diag([1e-3, 1e-3, 2e-3]) + 1e-4
    answers = [conebench.solve(conebench.problem(G / size, [1.0, 0.2, -2.0], [0.5], normal="last"), peers.Admm,
                               tolerance=1e-9)
               for size in (1.0, 1024.0)]
    check(np.allclose(answers[0].r * 1024, answers[1].r, rtol=1e-12, atol=0)
          and answers[0].iterations == answers[1].iterations, "the iterates are free of units")
    given = conebench.problem(np.eye(1), [1.0], blocks=[conebench.interval(0.3, 0.3)])
    check(conebench.solve(given, peers.Admm).solved, "an interval that does not hold 0")
    again = conebench.solve(many_boxes(), peers.Admm, tolerance=1e-10)
    warm = conebench.solve(many_boxes(), peers.Admm, tolerance=1e-10, start=again.r)
    check(again.solved and warm.solved and warm.iterations < again.iterations, "a start is used")
    flat = conebench.solve(conebench.problem(np.zeros((3, 3)), [0.0, 0.0, -1.0], [0.5], normal="last"), peers.Admm)
    check(flat.status in ("breakdown", "max_iterations"), f"G = 0: {flat.status}, {flat.reason}")
    refused("cones have 3 rows",
            lambda: conebench.solve(conebench.problem(np.eye(2), [1.0, -1.0], [0.5], dimension=2, normal="last"),
                                    peers.Pgs))
    # Its PGS copies the matrix to the stack.
    contacts = 400
    many = conebench.problem(np.eye(3 * contacts), np.tile([0.1, 0.0, -1.0], contacts), np.full(contacts, 0.5),
                             normal="last")
    check(conebench.solve(many, peers.Pgs).solved, "1,200 rows fit")


with_capture()
with_peers()
