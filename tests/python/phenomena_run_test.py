#!/usr/bin/env python3
"""`conebench phenomena`: a crash, a hang, a NaN or a missing package costs its cells alone; the run resumes and compares.
usage: phenomena_run_test.py EXECUTABLE PACKAGE_FOLDER TOY_ENGINE      77: a module is not installed"""
import importlib.util, json, os, pathlib, subprocess, sys, tempfile

for module in ("numpy", "scipy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
executable, toy = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[3])
folder = pathlib.Path(tempfile.mkdtemp())
os.environ["CONEBENCH_PYTHON"] = sys.executable
few = ["--phenomena", "stopping-distance,lift,ball-launch,bounce,stack,slide-energy", "--quick"]


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def run(*words, code=0):
    done = subprocess.run([executable, "phenomena", *words], cwd=folder, text=True, capture_output=True)
    check(done.returncode == code, f"{' '.join(words)}: {done.returncode} {done.stderr[-500:]}")
    return done


def cells(out):
    lines = [json.loads(line) for line in (folder / out / "results.jsonl").read_text().split("\n") if line]
    return {(cell["engine"], cell["variant"], cell["phenomenon"], cell["case"]): cell for cell in lines}, len(lines)


made = subprocess.run([executable, "new", "engine", "mine"], cwd=folder, text=True, capture_output=True)
check(made.returncode == 0 and (folder / "mine.py").is_file(), f"new engine: {made.stdout}{made.stderr}")
check("class Mine" in (folder / "mine.py").read_text(), "its class has the name")
listed = run("--list")
check("push-threshold" in listed.stdout and "MUJOCO" in listed.stdout, "--list names phenomena and engines")

run("--engines", "mine.py", "--out", "toy", *few)
first, lines = cells("toy")
check(first[("MINE", "default", "stopping-distance", "mu = 0.5")]["right"], "the toy engine stops where it must")
check(first[("MINE", "default", "stack", "top 1 times the bottom")]["outcome"] == "cannot", "and says what it lacks")
for name in ("index.html", "table.md", "table.tex", "table.csv", "run.json"):
    check((folder / "toy" / name).stat().st_size > 100, f"{name} is written")
again = run("--engines", "mine.py", "--out", "toy", *few)
check(cells("toy")[1] == lines and "were there" in again.stdout, "the same command again measures nothing")
results = folder / "toy" / "results.jsonl"
results.write_text(results.read_text()[:-200])
run("--engines", "mine.py", "--out", "toy", *few)
check(cells("toy")[1] == lines or len(cells("toy")[0]) == len(first), "a line that a killed run left is measured again")

text = (folder / "mine.py").read_text().replace('id = "MINE"', 'id = "BROKEN"').replace(
    '"""Cannot says what of a scene the engine does not have."""', """
        import os, time
        name, speed = scene.moving[0].name, scene.moving[0].velocity[0]
        if scene.material.friction == 0.0:
            raise RuntimeError("as an engine may")
        if speed == 6.0:
            os.abort()
        if name == "ball" and speed:
            time.sleep(1000)
        if name == "ball":
            time_step = float("nan")""")
(folder / "broken.py").write_text(text)
run("--engines", "mine.py,broken.py", "--out", "both", "--time-limit", "8", *few, code=4)
both, _ = cells("both")
outcomes = {key[2]: cell["outcome"] for key, cell in both.items() if key[:2] == ("BROKEN", "default")}
check(outcomes["lift"] == "crashed" and outcomes["ball-launch"] == "time limit" and outcomes["bounce"] == "not finite" and
      outcomes["slide-energy"] == "failed" and outcomes["stopping-distance"] == "measured", f"each costs its cell: {outcomes}")
check(sum(key[0] == "MINE" and cell["outcome"] == "measured" for key, cell in both.items()) >= 5, "and no other engine's")
(folder / "absent.py").write_text("import no_such_engine_package\n")
absent = run("--engines", "mine.py,absent.py", "--out", "absent", *few)
check("absent.py: left out: No module named 'no_such_engine_package'" in absent.stdout, "a missing package is named")

run("--engines", "mine.py", "--out", "axis", "--variants", "sweeps=1,sweeps=20", "--phenomena", "lift", "--quick")
axis, _ = cells("axis")
check(axis[("MINE", "sweeps=20", "lift", "6 m/s")]["right"] and ("MINE", "sweeps=1", "lift", "6 m/s") in axis,
      "an engine's options are an axis")
worse = (folder / "mine.py").read_text().replace("mu * normal /", "0.8 * mu * normal /")
(folder / "worse.py").write_text(worse)
compared = run("--engines", "worse.py", "--out", "worse", "--compare", "toy", "--fail-on", "worse", *few, code=1)
check("stopping-distance" in compared.stdout, "what got worse is named")
(folder / "last.json").write_text((folder / "toy" / "results.jsonl").read_text())
run("--engines", "mine.py", "--out", "same", "--compare", "last.json", "--fail-on", "worse", *few)
for words, code, said in ((["--phenomena", "no-such"], 2, "no-such"), (["--engines", "NO"], 2, "NO"),
                          (["--engines", "no.py"], 3, "no.py"), (["--out", "toy"], 3, "--quick"),
                          (["--engines", "mine.py", "--compare", "nowhere", "--out", "toy", *few], 3, "nowhere")):
    done = run(*words, code=code)
    check(said in done.stderr and done.stderr.count("\n") == 1, f"one line says why: {done.stderr!r}")
