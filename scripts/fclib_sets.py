#!/usr/bin/python3
"""Makes the six sets of FCLIB's families and prints what came out as a Markdown table (docs/experiments/simulated_scenes.md).

Each set goes to a folder of its own below OUT. The executable is build/bin/conebench, or what CONEBENCH in the environment
names.
"""

import argparse
import csv
import json
import os
import pathlib
import resource
import subprocess
import sys

SETS = ["fclib-boxes-stack", "fclib-chain", "fclib-capsules", "fclib-kapla-tower", "fclib-spheres", "fclib-chute"]


def make(conebench, scene, settings, folder):
    command = [conebench, "generate", scene, "--out", str(folder), "--replace"]
    for setting in settings:
        command += ["--set", setting]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if outcome.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {outcome.returncode}: {outcome.stderr.strip()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(conebench, name, folder, seconds):
    samples = json.loads((folder / "samples.json").read_text())
    with open(folder / "trajectory.csv", newline="") as stream:
        steps = list(csv.DictReader(stream))
    contacts = [int(step["contacts"]) for step in steps if int(step["contacts"]) > 0]
    modes = samples["contacts"]
    total = sum(modes.values())
    last = subprocess.run([conebench, "inspect", str(folder / samples["files"][-1]), "--json"], capture_output=True,
                          text=True, check=True)
    dofs = json.loads(last.stdout)["densities"]["degrees_of_freedom"]
    size = sum((folder / file).stat().st_size for file in samples["files"]) / 1e6
    shares = ", ".join(f"{round(100 * modes[mode] / total)}%" for mode in ("open", "stick", "slip"))
    cells = [f"`{name}`", dofs, f"{min(contacts)}–{max(contacts)}", shares, samples["steps_done"],
             len(samples["files"]), f"{size:.0f}", samples["unsolved_steps"],
             f"{samples['worst_residual']:.0e}", f"{samples['worst_configuration_residual']:.0e}", f"{seconds:.0f}"]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, metavar="OUT", help="folder of the sets' folders")
    parser.add_argument("sets", nargs="*", default=SETS, metavar="SCENE[:KEY=VALUE…]",
                        help=f"instead of {' '.join(SETS)}")
    arguments = parser.parse_args()
    conebench = os.environ.get("CONEBENCH", "build/bin/conebench")
    print("| set | dofs | contacts | open, stick, slip | steps | samples | MB | unsolved | worst residual | r_pen | CPU s |")
    print("| --- " * 11 + "|")
    for entry in arguments.sets:
        scene, *settings = entry.split(":")
        folder = arguments.out / "_".join([scene, *settings])
        seconds = make(conebench, scene, settings, folder)
        print(row(conebench, " ".join([scene, *settings]), folder, seconds), flush=True)


if __name__ == "__main__":
    main()
