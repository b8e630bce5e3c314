#!/usr/bin/env python3
"""Runs docs/tutorial_step_judged.md: its code in order, and checks what it says of the output.
usage: tutorial_test.py EXECUTABLE PACKAGE_FOLDER TUTORIAL      77: a module is not installed"""
import importlib.util, os, pathlib, re, subprocess, sys, tempfile

executable, package, tutorial = (pathlib.Path(word).resolve() for word in sys.argv[1:])
for module in ("mujoco", "numpy", "scipy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
sys.path.insert(0, str(package))


def check(holds, what, shown=""):
    if not holds:
        raise SystemExit(f"FAILED: {what}\n{shown}")
    print(f"ok: {what}", flush=True)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    (pathlib.Path(folder) / "bin").mkdir()
    os.symlink(executable, "bin/conebench")
    environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}")
    names, outputs = {}, {}
    for kind, code in re.findall(r"```(python|sh)\n(.*?)```", tutorial.read_text("utf-8"), re.S):
        if kind == "python":
            exec(compile(code, tutorial.name, "exec"), names)
            continue
        for line in code.strip().splitlines():
            ran = subprocess.run(line, shell=True, env=environment, capture_output=True, text=True)
            check(ran.returncode == 0, line, ran.stdout + ran.stderr)
            outputs[line] = ran.stdout

    check("a recording of 100 steps" in outputs["conebench inspect robot.hdf5"], "inspect counts the steps")
    judged = outputs["conebench judge robot.hdf5 --answers --html robot.html"]
    print(judged)
    rows = {line.split("  ")[0]: line for line in judged.splitlines()}
    mine = next(name for name in rows if name.startswith("MuJoCo"))
    check("CASCADE" in rows and " ccp " in rows[mine] and "worst steps" in judged, "both answers have a row")
    check(re.search(r"\((world|floor).*calf\)|\(.*calf, .*\)", judged), "the worst contact has its bodies' names", judged)
    check("MuJoCo" in pathlib.Path("robot.html").read_text("utf-8"), "there is a page")

    import json
    def summary(file, tolerance):
        ran = subprocess.run(["bin/conebench", "judge", file, "--answers", "--solvers", "none", "--json", "--tolerance",
                              tolerance], capture_output=True, text=True, check=True)
        return json.loads(ran.stdout)["summary"][0]
    good, spoilt = summary("robot.hdf5", "1e-8"), summary("spoilt.hdf5", "1e-8")
    check(good["own"]["within"] == good["answers"] and good["own"]["median"] < 1e-12,
          "MuJoCo solves its own problem", good)
    check(good["rigid"]["median"] > 1e-4, "which is not rigid contact", good)
    check(spoilt["own"]["within"] < good["own"]["within"], "one iteration is too few", spoilt)
    check(names["answer"].solved, "CASCADE solves the step in Python")
