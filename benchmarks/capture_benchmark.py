"""What a captured and a recorded step of MuJoCo cost beside mj_step, on a trotting quadruped.

Usage, by a Python that has mujoco 4 and the package's NumPy: capture_benchmark.py PYTHON_FOLDER [--steps 3000]
Step, capture and recorded capture take turns. `ratio`: capture against mj_step by medians, `means` by means. `steps/s`:
of record.mujoco(), mean.
"""

import argparse
import os
import sys
import tempfile
from time import perf_counter

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("python_folder")
parser.add_argument("--steps", type=int, default=3000)
arguments = parser.parse_args()
sys.path.insert(0, arguments.python_folder)
import conebench
import mujoco
import numpy as np
from conebench.capture import _mujoco

LEG = """
<body name="{0}_hip" pos="{1} {2} 0"><joint name="{0}_abduction" class="abduction"/>
 <geom type="cylinder" size="0.046 0.02" pos="0 {3} 0" euler="90 0 0" mass="0.7"/>
 <body name="{0}_thigh" pos="0 {4} 0"><joint name="{0}_hip" class="hip"/>
  <geom type="box" size="0.1 0.012 0.017" pos="0 0 -0.1" euler="0 90 0" mass="1.1"/>
  <body name="{0}_calf" pos="0 0 -0.213"><joint name="{0}_knee" class="knee"/>
   <geom type="cylinder" size="0.012 0.06" pos="0.008 0 -0.06" euler="0 -12 0" mass="0.1"/>
   <geom type="cylinder" size="0.011 0.032" pos="0.02 0 -0.148" euler="0 3 0" mass="0.05"/>
   <geom name="{0}_foot" class="foot" pos="0 0 -0.213"/>
  </body></body></body>"""
QUADRUPED = """
<mujoco>
 <option timestep="0.002" cone="{cone}" impratio="100" integrator="{integrator}"/>
 <default>
  <geom friction="0.6" margin="0.001" condim="1"/>
  <joint axis="0 1 0" damping="0.1" armature="0.01" frictionloss="0.2"/>
  <position kp="60" kv="2" forcerange="-24 24"/>
  <default class="abduction"><joint axis="1 0 0" range="-60 60"/></default>
  <default class="hip"><joint range="-90 200"/></default>
  <default class="knee"><joint range="-156 -48"/></default>
  <default class="foot"><geom type="sphere" size="0.022" mass="0.04" priority="1" condim="6" friction="0.8 0.02 0.01"/>
  </default>
 </default>
 <worldbody>
  <geom name="floor" type="plane" size="0 0 0.05"/>
  <body name="trunk" pos="0 0 0.32"><freejoint/>
   <geom type="box" size="0.188 0.046 0.057" mass="6.5"/>
   <geom type="cylinder" size="0.05 0.045" pos="0.285 0 0.01" mass="0.3"/>
   <geom type="sphere" size="0.047" pos="0.293 0 -0.06" mass="0.1"/>
   {legs}
  </body>
 </worldbody>
 <actuator>{servos}</actuator>
</mujoco>"""


def quadruped(integrator, cone):
    """12 joints with dry friction, self-collisions, feet with torsional and rolling friction (condim 6)."""
    legs = {a + b: (0.19 * x, 0.047 * y, 0.08 * y, 0.095 * y) for a, x in (("front_", 1), ("rear_", -1))
            for b, y in (("left", 1), ("right", -1))}
    servos = "".join(f'<position joint="{leg}_{joint}"/>' for leg in legs for joint in ("abduction", "hip", "knee"))
    bodies = "".join(LEG.format(leg, *at) for leg, at in legs.items())
    return mujoco.MjModel.from_xml_string(QUADRUPED.format(cone=cone, integrator=integrator, legs=bodies,
                                                            servos=servos))


def trot(data):
    phase = 4 * np.pi * data.time + np.array([0, np.pi, np.pi, 0])
    data.ctrl[1::3], data.ctrl[2::3] = 0.9 + 0.2 * np.sin(phase), -1.8 - 0.3 * np.maximum(0, np.cos(phase))


def measure(integrator, cone):
    model = quadruped(integrator, cone)
    data = mujoco.MjData(model)
    times, rows = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "quadruped.hdf5")
        with conebench.record(path) as record:
            for _ in range(arguments.steps):
                trot(data)
                moments = [perf_counter()]
                mujoco.mj_step(model, data)
                moments.append(perf_counter())
                _mujoco.step_of(model, data)
                moments.append(perf_counter())
                record.mujoco(model, data)
                moments.append(perf_counter())
                times.append(np.diff(moments))
                rows += data.nefc
        kilobytes = os.path.getsize(path) / 1e3 / arguments.steps
    step, capture, _ = np.median(times, axis=0) * 1e6
    mean_step, mean_capture, mean_recorded = np.mean(times, axis=0) * 1e6
    print(f"{integrator:13s} {cone:10s} {rows / arguments.steps:5.1f} {step:8.1f} {capture:8.1f} {capture / step:6.2f} "
          f"{mean_capture / mean_step:6.2f} {1e6 / mean_recorded:9.0f} {kilobytes:8.2f}")


if __name__ == "__main__":
    print(f"MuJoCo {mujoco.__version__}")
    print("integrator    cone        rows  step us  capture  ratio  means  steps/s  kB/step")
    for integrator, cone in (("Euler", "elliptic"), ("implicitfast", "elliptic"), ("implicitfast", "pyramidal"),
                             ("discrete", "elliptic")):
        measure(integrator, cone)
