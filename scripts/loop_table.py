#!/usr/bin/python3
"""How the simulator's loop goes on every built-in scene with several solvers: the table of docs/experiments/simulated_scenes.md.

A line a start, printed as soon as it is known. Unsolved: steps whose solve ended above the tolerance; its last iterate is
taken. r_pen: the worst configuration residual. Contacts and modes are those of the run with the fewest unsolved steps,
modes of every tenth step. A run that takes longer than --seconds is stopped and its steps are told.
"""

import argparse
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile

STARTS = """box-on-plane boxes-fixed nunchuk fourbar fourbar:base=free arm7d quadruped quadruped:ground=steep
quadruped:ground=bumpy quadruped:gait=stand bdx-like lima-like misha-like walker-like gazelle-like ironman-like
fclib-boxes-stack fclib-chain fclib-capsules fclib-kapla-tower fclib-spheres fclib-chute cube-stack-hit two-cubes
cube-sliding cube-dragged humanoid humanoid:pose=standing hand hand:object=ball arm-on-wall humanoid-squat hoist
net""".split()


def simulate(arguments, start, solver, folder):
    """What a run gave, or why there is nothing."""
    scene, *settings = start.split(":")
    settings += [f"solver={solver}", "tolerance=1e-6", "max_iterations=1000", "every=10"]
    words = [arguments.conebench, "generate", scene, "--out", folder, "--steps", str(arguments.steps), "--json"]
    for setting in settings:
        words += ["--set", setting]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = process.communicate(timeout=arguments.seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    if not out:
        return {"failed": err.strip().splitlines()[-1] if err.strip() else f"ended with {process.returncode}"}
    run = json.loads(out)
    with open(os.path.join(folder, "trajectory.csv"), encoding="utf-8", newline="") as file:
        run["counts"] = [int(row["contacts"]) for row in csv.DictReader(file)]
    return run


def contacts(run):
    counts = run["counts"]
    modes = run["contacts"]
    total = max(1, sum(modes.values()))
    shares = ", ".join(f"{100 * modes[mode] / total:.0f}%" for mode in ("open", "stick", "slip"))
    return f"{min(counts)}–{max(counts)}, {sum(counts) / len(counts):.1f} | {shares}"


def column(run, steps):
    if "failed" in run:
        return f"{run['failed']} | –"
    of = "" if run["steps"] == steps else f" of {run['steps']}"
    return f"{run['unsolved_steps']}{of} | {run['worst_configuration_residual']:.0e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conebench", default="build/bin/conebench", metavar="FILE")
    parser.add_argument("--steps", type=int, default=2000, help="of each run (%(default)s)")
    parser.add_argument("--solvers", default="NSGS,ADMM-NCP-SA,CASCADE", metavar="ID,…", help="%(default)s")
    parser.add_argument("--seconds", type=float, default=600, help="after which a run is stopped (%(default)s)")
    parser.add_argument("starts", nargs="*", default=STARTS, metavar="SCENE[:KEY=VALUE…]", help="instead of all")
    arguments = parser.parse_args()
    solvers = arguments.solvers.split(",")
    print("| scene | contacts, mean | open, stick, slip | " + " | ".join(f"{s}: unsolved | r_pen" for s in solvers) + " |")
    print("| --- " * (3 + 2 * len(solvers)) + "|", flush=True)
    for start in arguments.starts:
        runs = []
        for solver in solvers:
            with tempfile.TemporaryDirectory() as folder:
                runs.append(simulate(arguments, start, solver, folder))
        done = [run for run in runs if "failed" not in run]
        best = min(done, key=lambda run: (-run["steps"], run["unsolved_steps"]), default=None)
        about = contacts(best) if best else "– | –"
        name = start.replace(":", " ")
        print(f"| `{name}` | {about} | " + " | ".join(column(run, arguments.steps) for run in runs) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
