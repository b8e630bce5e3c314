"""MuJoCo's steps, captured, are what MuJoCo solved: its own forces at a tolerance of 0 solve the compliant CCP.

Usage, by a Python that has mujoco 4 and the package's NumPy: capture_mujoco_test.py PYTHON_FOLDER
Ends with 77 where mujoco 4 is not installed.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, sys.argv[1])
try:
    import mujoco
except ImportError:
    mujoco = None
if not hasattr(mujoco, "mjtIntegrator") or not hasattr(mujoco.mjtIntegrator, "mjINT_DISCRETE"):
    print("skipped: MuJoCo 4 is not installed")
    sys.exit(77)
import conebench
import numpy as np
from conebench.capture import _mujoco

MODELS = Path(__file__).resolve().parents[2] / "examples" / "models"

# A loop closed by a ball, a coupled joint, a shoulder of three hinges, a tendon at its limit and one with friction, a
# ball joint at its limit, a slider; sliding, spinning and rolling contacts and one without friction.
MACHINE = """
<mujoco>
 <compiler autolimits="true"/>
 <option timestep="0.002" cone="elliptic" impratio="3"/>
 <default><joint armature="0.01" damping="0.05"/><geom density="500"/></default>
 <worldbody>
  <geom name="floor" type="plane" size="0 0 1" condim="1" friction="0.7 0.01 0.002"/>
  <body name="crank" pos="0 0 1"><joint name="crank" axis="0 1 0" frictionloss="0.05"/>
   <geom type="capsule" size="0.02" fromto="0 0 0 0.2 0 0" contype="0" conaffinity="0"/>
   <body name="rod" pos="0.2 0 0"><joint name="rod" axis="0 1 0" range="-5 5"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" contype="0" conaffinity="0"/></body></body>
  <body name="slide" pos="0.5 0 1"><joint name="slide" type="slide" axis="1 0 0" range="-0.1 0.1" frictionloss="0.3"/>
   <geom type="box" size="0.03 0.03 0.03" contype="0" conaffinity="0"/></body>
  <body name="arm" pos="0 1 1"><joint name="yaw" axis="0 0 1"/><joint name="pitch" axis="0 1 0" range="-20 20"/>
   <joint name="roll" axis="1 0 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
   <body name="hand" pos="0.32 0 0"><joint name="wrist" type="ball" range="0 15"/>
    <geom type="box" pos="0.08 0.02 0" size="0.08 0.05 0.01"/></body></body>
  <body name="ball" pos="0 -1 0.0495"><freejoint name="ball"/>
   <geom name="ball" type="sphere" size="0.05" condim="6"/></body>
  <body name="top" pos="0.5 -1 0.0495"><freejoint/><geom name="top" type="cylinder" size="0.05 0.05" condim="4"/></body>
  <body name="ice" pos="1 -1 0.0495"><freejoint/><geom name="ice" type="box" size="0.05 0.05 0.05" condim="1"/></body>
  <body name="box" pos="1.5 -1 0.0495"><freejoint/><geom name="box" type="box" size="0.05 0.05 0.05"/></body>
 </worldbody>
 <equality>
  <connect name="pin" body1="rod" body2="slide" anchor="0.3 0 0"/>
  <joint name="gear" joint1="roll" joint2="yaw" polycoef="0 0.5 0 0 0"/>
 </equality>
 <tendon>
  <fixed name="string" range="-0.01 0.01"><joint joint="yaw" coef="1"/><joint joint="pitch" coef="-0.5"/></fixed>
  <fixed name="belt" frictionloss="0.01"><joint joint="crank" coef="1"/><joint joint="slide" coef="2"/></fixed>
 </tendon>
</mujoco>"""
BIN = '<mujoco><option timestep="0.004" cone="{}"/><worldbody><geom name="floor" type="plane" size="0 0 1"/>{}' + \
    "</worldbody></mujoco>"
BOX = '<body name="box{0}" pos="{1} 0 {2}" euler="{3} 10 0"><freejoint/>' + \
    '<geom {4} type="box" size="0.1 0.1 0.1"/></body>'


def bin_of(count, cone="elliptic", attributes=""):
    boxes = "".join(BOX.format(k, 0.03 * (k % 3), 0.11 + 0.22 * k, 5 * k, attributes) for k in range(count))
    return mujoco.MjModel.from_xml_string(BIN.format(cone, boxes))


def machine():
    return mujoco.MjModel.from_xml_string(MACHINE)


def quadruped():
    return mujoco.MjModel.from_xml_path(str(MODELS / "quadruped.xml"))


def shake(model, data, seed=0):
    data.qvel[:] = np.random.default_rng(seed).normal(size=model.nv) * 0.3


def dense(matrix):
    if not isinstance(matrix, tuple):
        return np.asarray(matrix)
    values, columns, starts, shape = matrix
    made = np.zeros(shape)
    made[np.repeat(np.arange(shape[0]), np.diff(starts)), columns] = values
    return made


def own_forces_are_the_optimum(name, model, integrator, steps, jacobian="AUTO"):
    """Through record() and its file to the judge; and the step is that of the state before it."""
    model.opt.integrator = getattr(mujoco.mjtIntegrator, "mjINT_" + integrator)
    model.opt.jacobian = getattr(mujoco.mjtJacobian, "mjJAC_" + jacobian)
    model.opt.tolerance, model.opt.ls_tolerance, model.opt.iterations, model.opt.ls_iterations = 0, 1e-6, 500, 200
    data, before = mujoco.MjData(model), mujoco.MjData(model)
    shake(model, data)
    kinds = set()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "steps.hdf5")
        with conebench.record(path) as record:
            for _ in range(steps):
                mujoco.mj_copyData(before, model, data)
                mujoco.mj_step(model, data)
                record.mujoco(model, data)
                step = _mujoco.step_of(model, data)
                kinds |= set(np.asarray(data.efc_type).tolist())
                (_, answer), = step["answers"].items()
                assert np.abs(step["velocity"] - before.qvel).max() <= 1e-11 * max(1, np.abs(before.qvel).max())
                M, J = dense(step["M"]), dense(step["J"])
                if step["metric"] == "mass":
                    full = np.zeros_like(M)
                    mujoco.mj_fullM(model, data, full)
                    assert np.array_equal(M, full)
                reached = step["v_free"] + np.linalg.solve(M, J.T @ answer["r"])
                expected = data.qvel if integrator == "DISCRETE" else before.qvel + model.opt.timestep * data.qacc
                assert np.abs(reached - expected).max() <= 1e-9, (name, np.abs(reached - expected).max())
        worst = 0.0
        for problem in conebench.recording(path):
            (engine, answer), = problem.answers.items()
            assert problem.law == answer.law == "ccp" and engine.startswith(f"MuJoCo {mujoco.__version__} Newton")
            judged = conebench.judge(problem, answer.r, verdict="natural_map_ccp_scaled")
            worst = max(worst, judged.residuals["natural_map_ccp_scaled"])
    print(f"{name}, {integrator.lower()}, {jacobian.lower()}: {len(kinds)} kinds of rows, worst {worst:.1e}")
    assert worst <= 1e-10, (name, integrator, worst)
    return kinds


def rows_have_names_bodies_and_signs():
    model = machine()
    data = mujoco.MjData(model)
    shake(model, data)
    names = set()
    for _ in range(150):
        mujoco.mj_step(model, data)
        step = _mujoco.step_of(model, data)
        names |= set(step["name"])
        assert len({len(step[one]) for one in ("name", "gap", "bodies", "identity", "cone")}) == 1
        assert len(set(step["identity"].tolist())) == len(step["identity"])
        for frame in step.get("frame", []):
            assert np.allclose(frame @ frame.T, np.eye(3), atol=1e-12)
    for name in ("pin", "gear", "crank friction", "belt friction", "slide friction", "string lower limit",
                 "wrist upper limit", "floor – ball", "floor – top", "floor – ice", "floor – box"):
        assert name in names, (name, names)
    k = step["name"].index("floor – ball")
    assert [step["body_names"][b] for b in step["bodies"][k]] == ["world", "ball"]
    first, end = step["block_rows"][k:k + 2]
    assert end - first == 6 and np.allclose(step["mu"][first:end], [0, 1, 1, 0.01, 0.002, 0.002])
    dof = model.jnt_dofadr[model.joint("ball").id]
    J = dense(step["J"])
    assert np.allclose(J[first, dof:dof + 3], [0, 0, 1]), J[first]  # away from the floor
    ball = conebench.capture.mujoco(model, data)
    assert ball.names == step["name"] and ball.time_step == model.opt.timestep


def forward_prepares_the_same_step():
    model = quadruped()
    data, other = mujoco.MjData(model), mujoco.MjData(model)
    shake(model, data)
    for _ in range(150):
        mujoco.mj_step(model, data)
    mujoco.mj_copyData(other, model, data)
    mujoco.mj_forward(model, other)
    mujoco.mj_step(model, data)
    one, two = _mujoco.step_of(model, other), _mujoco.step_of(model, data)
    for name in ("velocity", "v_free", "b", "R", "gap", "point", "frame", "identity", "lower"):
        assert np.allclose(one[name], two[name], atol=1e-12, equal_nan=True), name


def contacts_keep_their_identity():
    model = bin_of(1)
    data = mujoco.MjData(model)
    data.qpos[:7] = [0, 0, 0.0999, 1, 0, 0, 0]
    data.qvel[:4] = 0.3, 0.1, -0.1, 0.5
    before, kept, lost = {}, 0, 0
    for _ in range(80):
        mujoco.mj_step(model, data)
        step = _mujoco.step_of(model, data)
        axes = data.xmat[1].reshape(3, 3)
        corners = {identity: np.sign(((step["point"][k] - data.xpos[1]) @ axes)[:2]).tolist()
                   for k, identity in enumerate(step["identity"].tolist())}
        shared = set(before) & set(corners)
        assert all(before[one] == corners[one] for one in shared), (before, corners)
        kept, lost = kept + len(shared), lost + len(before) - len(shared)
        before = corners
    assert kept >= 40 and lost >= 1, (kept, lost)


def pyramids_are_edges_or_cones():
    model = bin_of(2, "pyramidal")
    model.opt.tolerance, model.opt.iterations = 0, 500
    data = mujoco.MjData(model)
    for _ in range(120):
        mujoco.mj_step(model, data)
    edges, cone = _mujoco.step_of(model, data), _mujoco.step_of(model, data, pyramid="cone")
    assert (edges["cone"] == 0).all() and (cone["cone"] == 3).all() and len(cone["cone"]) == data.ncon > 0
    (answer,), (joined,) = edges["answers"].values(), cone["answers"].values()
    push = dense(edges["J"]).T @ answer["r"]
    assert np.abs(dense(cone["J"]).T @ joined["r"] - push).max() <= 1e-12 * np.abs(push).max()
    force = np.zeros(6)
    for k in range(data.ncon):
        mujoco.mj_contactForce(model, data, k, force)
        assert np.allclose(joined["r"][3 * k:3 * k + 3], force[:3] * model.opt.timestep, atol=1e-12)
    problem = conebench.capture.mujoco(model, data, pyramid="cone")
    residual = conebench.judge(problem, joined["r"], verdict="natural_map_ccp_scaled").residuals
    print(f"pyramids as cones: {residual['natural_map_ccp_scaled']:.1e}")


def refused(say, make):
    try:
        made = make()
    except conebench.Error as error:
        assert say in str(error) and "\n" not in str(error), error
    else:
        raise AssertionError((say, made))


def what_cannot_be_held_is_refused():
    model = bin_of(1)
    data = mujoco.MjData(model)
    refused("no step yet", lambda: _mujoco.step_of(model, data))
    mujoco.mj_step(model, data)
    refused("pyramid: must be", lambda: _mujoco.step_of(model, data, pyramid="round"))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    refused("RK4", lambda: _mujoco.step_of(model, data))
    still = mujoco.MjModel.from_xml_string("<mujoco><worldbody/></mujoco>")
    refused("nothing in the model can move", lambda: _mujoco.step_of(still, mujoco.MjData(still)))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    data.warning[int(mujoco.mjtWarning.mjWARN_CNSTRFULL)].number = 1
    refused("were left out", lambda: _mujoco.step_of(model, data))
    _mujoco.step_of(model, data)  # the next step, of which nothing is missing


kinds = set()
for integrator in ("EULER", "IMPLICIT", "IMPLICITFAST", "DISCRETE"):
    kinds |= own_forces_are_the_optimum("quadruped", quadruped(), integrator, 60)
    kinds |= own_forces_are_the_optimum("machine", machine(), integrator, 60)
kinds |= own_forces_are_the_optimum("machine", machine(), "EULER", 60, "SPARSE")
kinds |= own_forces_are_the_optimum("bin", bin_of(6), "IMPLICITFAST", 60, "SPARSE")
kinds |= own_forces_are_the_optimum("bin of pyramids", bin_of(3, "pyramidal"), "EULER", 60)
own_forces_are_the_optimum("sticky bin", bin_of(3, attributes='adhesion="3"'), "EULER", 60)
assert kinds == set(range(8)), kinds
rows_have_names_bodies_and_signs()
forward_prepares_the_same_step()
contacts_keep_their_identity()
pyramids_are_edges_or_cones()
what_cannot_be_held_is_refused()
