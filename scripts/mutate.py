#!/usr/bin/python3
"""Gives `conebench` mutated inputs of every kind that it reads, and checks what becomes of them.

    scripts/mutate.py --count 20000 --jobs 4
    scripts/mutate.py --only store:17          one of them again; --folder DIR keeps its files

A run must end within the time with a documented exit code (0 to 5) and, where that is 2 or 3, one line that begins with
"conebench: ". It must print no control characters, write nothing outside the folder that it is given, and leave every
input as it was. Kinds: problem (FCLIB), sample, suite, filter, store, model (MJCF), urdf, mesh, manifest, answer, reply
(of a program), entry (of `paper`). fuzz.sh goes deeper into problem, suite and filter.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXIT_CODES = range(6)
TOKENS = [b"NaN", b"-Infinity", b"1e999", b"-1", b"0", b"9223372036854775808", b"-2147483649", b"1e-320", b"null", b"[]",
          b"{}", b"true", b'""', b"../../../x", b"/dev/zero", b"/proc/self/mem", b"\x00", b"\xff\xfe", b"\x1b[2J", b"\r",
          b"%s%n", b"[" * 3000, b"a" * 70000, b"**/**", b"'", b'"', b"<", b"&a;", b"\xe2\x80\xae"]
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")

SUITE = {"name": "small", "problems": [{"scene": "box-stack", "options": {"boxes": 2}}, {"scene": "sliding-box"}],
         "solvers": ["NSGS", {"id": "PGS-NCP", "grid": {"relaxation": [1.0, 1.3]}}], "tolerances": [1e-4, 1e-6],
         "limits": {"iterations": 200, "seconds": 5, "memory_mb": 500}, "repeats": {"min": 1, "min_ms": 0, "max": 1}}
MODEL = """<mujoco model="two"><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>
<body name="a" pos="0 0 0.1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" friction="0.7 0.005 0.0001"/></body>
<body name="b" pos="0 0 0.5"><joint type="hinge" axis="0 1 0" range="-1 1" limited="true"/><geom size=".1" mass="2"/>
<body pos=".2 0 0"><joint type="ball"/><geom type="capsule" size=".05 .1"/></body></body></worldbody></mujoco>"""
URDF = """<?xml version="1.0"?><robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1"
 izz=".1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size=".2 .2 .2"/></geometry></collision></link>
<link name="arm"><inertial><origin xyz="0 0 .1"/><mass value="0.5"/><inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0"
 iyz="0"/></inertial></link><joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 .1"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
MESH = """# vtk DataFile Version 2.0
one cube
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 5 double
0 0 0  1 0 0  0 1 0  0 0 1  1 1 1
CELLS 2 10
4 0 1 2 3
4 1 2 3 4
CELL_TYPES 2
10 10
"""
GMSH = """$MeshFormat
4.1 0 8
$EndMeshFormat
$Nodes
1 4 1 4
3 1 0 4
1
2
3
4
0 0 0
1 0 0
0 1 0
0 0 1
$EndNodes
$Elements
1 1 1 1
3 1 4 1
1 1 2 3 4
$EndElements
"""
FILTERS = ["family=box* && problem~^b(ox|all).+$ && solver!=PGS-NCP && tolerance<=1e-6 && contacts>1",
           "solver=NSGS&&mu<5 && rows>=3"]
DESCRIBE = {"id": "X", "name": "A program", "options": [{"name": "omega", "type": "real", "default": 1, "minimum": 0,
            "maximum": 2, "doc": "step"}, {"name": "mode", "type": "text", "default": "a", "choices": ["a", "b"], "doc": "m"}]}
REPLY = {"status": "converged", "iterations": 3, "own_residual": 1e-9, "setup_s": 1e-9, "solve_s": 1e-9, "message": "done"}
SUITES = {"problems": [{"scene": "sliding-box"}], "solvers": ["NSGS"], "stop_by": "solver"}
ENTRY = {"id": "mine", "paper": "mine", "location": "Table 1", "title": "Sweeps",
         "suites": {"quick": SUITES, "full": SUITES},
         "tables": [{"title": "Sweeps", "corner": "box", "quantity": "mean(iterations)", "spread": "sd(iterations)",
                     "rows": [{"name": "all", "where": "problem~box"}], "columns": [{"name": "NSGS", "where": "solver=NSGS"}],
                     "published": {"all": [[12, 3]]}}],
         "checks": [{"id": "a", "claim": "few", "location": "Sec. 4", "problems": 1, "holds": "mean(iterations){solver=NSGS} < 100",
                     "mutated": [{"where": "solver=NSGS", "field": "iterations", "times": 1000}]}]}
PROGRAM = """#!/bin/sh
value() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/" "$2"; }
if grep -q '"request":"describe"' "$1"; then cp '%s' "$(value reply "$1")"; exit; fi
cp '%s' "$(value answer "$1").hdf5"
cp '%s' "$(value reply "$1")"
"""


def mutate(data, chance):
    """One to eight changes: bits, bytes, numbers, pieces, the end."""
    data = bytearray(data)
    numbers_only = chance.random() < 0.4
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        at = chance.randrange(len(data) + 1)
        piece = chance.randrange(1, 1 + max(1, min(64, len(data))))
        numbers = [found.span() for found in NUMBER.finditer(data)][:5000]
        change = 8 if numbers_only else chance.randrange(9)
        if change == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif change == 1 and at < len(data):
            data[at] = chance.randrange(256)
        elif change == 2:
            del data[at:at + piece]
        elif change == 3:
            data[at:at] = data[at:at + piece] * chance.choice([1, 1, 1, 100])
        elif change == 4:
            data[at:at] = chance.choice(TOKENS)
        elif change == 5:
            other = chance.randrange(len(data) + 1)
            data[at:at + piece] = data[other:other + piece]
        elif change == 6 and chance.random() < 0.3:
            del data[at:]
        elif change == 7 and at + 8 <= len(data):
            data[at:at + 8] = chance.choice([b"\xff" * 8, b"\x00" * 8, b"\x00" * 6 + b"\xf8\x7f", b"\xff" * 7 + b"\x7f"])
        elif numbers:
            begin, end = chance.choice(numbers)
            data[begin:end] = chance.choice(TOKENS[:12] + [b"7", b"1e300", b"0.5"])
    return bytes(data)


class Bench:
    def __init__(self, arguments, folder):
        self.conebench, self.folder, self.seed = str(pathlib.Path(arguments.conebench).resolve()), folder, arguments.seed
        self.timeout = arguments.timeout
        inputs = folder / "inputs"
        inputs.mkdir()
        (inputs / "small.json").write_text(json.dumps(SUITE))

        def made(*words):
            done = subprocess.run([self.conebench, *words], cwd=inputs, capture_output=True, text=True, check=False,
                                  env=self.environment(folder))
            if done.returncode != 0:
                sys.exit(f"mutate: {' '.join(words)}: {done.stderr}")

        made("generate", "box-stack", "--out", "p", "--set", "boxes=2")
        problem = shutil.copy(next((inputs / "p").glob("*.hdf5")), inputs / "problem.hdf5")
        made("generate", "soft-block", "--out", "soft", "--set", "nx=1", "--set", "ny=1", "--set", "nz=1")
        sample = next((inputs / "soft").glob("*.hdf5"))
        made("solve", "problem.hdf5", "--solver", "NSGS", "--write-solution", "answer.hdf5")
        made("solve", "sliding-box", "--solver", "NSGS", "--write-solution", "box.hdf5")
        made("run", "small.json", "--db", "small.sqlite")
        made("data", "add", "mine", "p")
        shutil.copy(folder / "home/mine.json", inputs / "mine.json")
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (24,), }"
        (inputs / "answer.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117).encode() + b"\n" + bytes(192))
        suites = [json.dumps(SUITE).encode(), (HERE.parent / "suites/default.json").read_bytes()]
        read = lambda file: pathlib.Path(file).read_bytes()
        # By kind: good ones, the file's name, and the command on it.
        self.kinds = {
            "problem": ([read(problem)], "x.hdf5", ["inspect", "x.hdf5", "--json"]),
            "sample": ([read(sample)], "x.hdf5", ["solve", "x.hdf5", "--solver", "NSGS", "--max-iterations", "50"]),
            "suite": (suites, "x.json", ["run", "x.json", "--db", "x.sqlite", "--dry-run"]),
            "filter": ([text.encode() for text in FILTERS], None,
                       ["run", "small.json", "--db", "x.sqlite", "--dry-run", "--filter"]),
            "store": ([read(inputs / "small.sqlite")], "x.sqlite",
                      ["report", "x.sqlite", "--out", "out", "--format", "json,md"]),
            "model": ([MODEL.encode()], "x.xml",
                      ["generate", "file", "--out", "out", "--set", "path=x.xml", "--steps", "2"]),
            "urdf": ([URDF.encode()], "x.urdf",
                     ["generate", "file", "--out", "out", "--set", "path=x.urdf", "--set", "base=free", "--set", "ground=plane",
                      "--steps", "2"]),
            "mesh": ([MESH.encode(), GMSH.encode()], "x.vtk",
                     ["generate", "soft-block", "--out", "out", "--set", "mesh=x.vtk"]),
            "manifest": ([read(inputs / "mine.json")], "home/mine.json", ["data", "verify"]),
            "answer": ([read(inputs / "answer.npy"), read(inputs / "answer.hdf5")], "x.npy",
                       ["judge", "problem.hdf5", "--reaction", "x.npy"]),
            "reply": ([json.dumps(REPLY).encode(), json.dumps(DESCRIBE).encode()], "reply",
                      ["solve", "sliding-box", "--solver", "X", "--program", "./program", "--stop-by", "solver",
                       "--time-limit", "5"]),
            "entry": ([json.dumps(ENTRY).encode()], "x.json", ["paper", "x.json", "--out", "out"]),
        }

    @staticmethod
    def environment(folder):
        return dict(os.environ, CONEBENCH_DATA_HOME=str(folder / "home"), HOME=str(folder), TMPDIR=str(folder / "tmp"))

    def run(self, kind, number):
        """What is wrong, or None; and the exit code."""
        chance = random.Random(f"{self.seed}:{kind}:{number}")
        seeds, name, command = self.kinds[kind]
        which = chance.randrange(len(seeds)) if number >= 0 else -1 - number
        data = mutate(seeds[which], chance) if number >= 0 else seeds[-1 - number]
        around = self.folder / f"{kind}-{number}"
        work = around / "work"
        for made in (work / "home", around / "home", around / "tmp"):
            made.mkdir(parents=True)
        for file in ("problem.hdf5", "small.json"):
            shutil.copy(self.folder / "inputs" / file, work)
        if kind == "reply":
            names = {"reply": json.dumps(REPLY).encode(), "describe": json.dumps(DESCRIBE).encode()}
            names["describe" if which else "reply"] = data
            for file, content in names.items():
                (work / file).write_bytes(content)
            shutil.copy(self.folder / "inputs/box.hdf5", work / "answer")
            (work / "program").write_text(PROGRAM % tuple(work / file for file in ("describe", "answer", "reply")))
            (work / "program").chmod(0o755)
        elif name is None:
            command = [*command, re.sub(rb"\x00", b"", data)]
        else:
            if kind == "answer" and data[:4] == b"\x89HDF":
                name, command = "x.hdf5", [word.replace("x.npy", "x.hdf5") for word in command]
            (work / name).write_bytes(data)
        before = {file: hashlib.sha256(file.read_bytes()).digest() for file in work.rglob("*") if file.is_file()}
        environment = dict(self.environment(around), CONEBENCH_DATA_HOME=str(work / "home"))
        try:
            done = subprocess.run([self.conebench, *command], cwd=work, capture_output=True, timeout=self.timeout,
                                  env=environment, stdin=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            return f"no end within {self.timeout} s", None
        wrong = None
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        if done.returncode not in EXIT_CODES:
            wrong = f"exit code {done.returncode}: {done.stderr[-300:]!r}"
        elif done.returncode in (2, 3) and sum(line.startswith(b"conebench: ") for line in lines) != 1:
            wrong = f"exit code {done.returncode} with {len(lines)} lines: {done.stderr[-300:]!r}"
        elif CONTROL.search(done.stdout) or CONTROL.search(done.stderr):
            wrong = f"control characters: {done.stdout[-300:]!r} {done.stderr[-300:]!r}"
        for file, digest in before.items():
            if not file.is_file() or hashlib.sha256(file.read_bytes()).digest() != digest:
                wrong = wrong or f"{file.name} was changed"
        outside = {entry.name for entry in around.iterdir()} - {"work", "home", "tmp"}
        written = outside | {str(entry) for entry in (around / "home").rglob("*") if entry.is_file()}
        wrong = wrong or (f"files outside of its folder: {written}" if written else None)
        if not wrong:
            shutil.rmtree(around)
        if number < 0 and done.returncode != 0:
            wrong = wrong or f"exit code {done.returncode}: {done.stderr.decode()}"
        return wrong, done.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1200, help="inputs, of all kinds together")
    parser.add_argument("--kinds", help="with commas between them")
    parser.add_argument("--only", help="KIND:NUMBER")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds")
    parser.add_argument("--conebench", default=HERE.parent / "build/bin/conebench")
    parser.add_argument("--folder", help="where to work; kept then")
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.folder or tempfile.mkdtemp(prefix="conebench-mutate-"))
    (folder / "home").mkdir(parents=True, exist_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    bench = Bench(arguments, folder)
    kinds = arguments.kinds.split(",") if arguments.kinds else list(bench.kinds)
    work = [(kinds[k % len(kinds)], k // len(kinds)) for k in range(arguments.count)]
    if arguments.only:
        kind, number = arguments.only.split(":")
        work = [(kind, int(number))]
    for kind in kinds:
        for which in range(len(bench.kinds[kind][0])):
            if wrong := bench.run(kind, -1 - which)[0]:
                sys.exit(f"mutate: {kind} as it is: {wrong}")
    codes, failures = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (kind, number), (wrong, code) in zip(work, pool.map(lambda one: bench.run(*one), work)):
            codes[kind, code] += 1
            if wrong:
                failures += 1
                print(f"{kind}:{number}: {wrong}; see {folder}/{kind}-{number}", flush=True)
    for kind in kinds:
        ends = {code: count for (of, code), count in sorted(codes.items(), key=str) if of == kind}
        print(f"  {kind}: {sum(ends.values())} inputs, by exit code {ends}")
    if failures:
        sys.exit(f"mutate: {failures} of {len(work)} went wrong")
    print(f"mutate: {len(work)} inputs, seed {arguments.seed}: none went wrong")
    if not arguments.folder:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
