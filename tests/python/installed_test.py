#!/usr/bin/env python3
"""The Python package that `cmake --install` puts below a prefix.
usage: installed_test.py CMAKE BUILD_FOLDER PACKAGES import|types      77: a module is not installed
import: it solves a problem from there; types: mypy takes it strictly, sees a user's mistakes, and its stubs are what the
extension module has. PACKAGES: the folder of Python packages below the prefix."""
import importlib.util, os, pathlib, subprocess, sys, tempfile

cmake, build, packages, what = sys.argv[1:]
for module in ("numpy", "scipy") if what == "import" else ("numpy", "mypy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
here = pathlib.Path(__file__).parent

USE = """
import pathlib, sys, conebench
assert pathlib.Path(conebench.__file__).is_relative_to(sys.argv[1]), conebench.__file__
answer = conebench.solve("box-stack boxes=3", "NSGS", tolerance=1e-8)
assert answer.solved and answer.r.shape == (36,), answer
assert conebench.judge("box-stack boxes=3", answer.r, 1e-8).solved
"""
SOUND = "import conebench\nsolved: bool = conebench.solve('sliding-box', 'NSGS').solved\n"
WRONG = "import conebench\nconebench.solve('sliding-box', 'NSGS').r.no_such()\nconebench.load(3)\nconebench.nothing\n"


def run(*words, code=0):
    done = subprocess.run([*map(str, words)], text=True, capture_output=True, cwd=scratch, env=environment)
    if done.returncode != code:
        raise SystemExit(f"FAILED: {words}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as name:
    scratch = pathlib.Path(name).resolve()
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "MYPY"))}
    run(cmake, "--install", build, "--component", "python", "--prefix", scratch / "prefix")
    folder = scratch / "prefix" / packages
    environment["PYTHONPATH"] = environment["MYPYPATH"] = str(folder)
    if what == "import":
        run(sys.executable, "-c", USE, scratch / "prefix")
        run(sys.executable, "-m", "conebench", code=1)
        sys.exit()
    (scratch / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file", "mypy.ini"]
    run(*mypy, folder / "conebench")
    (scratch / "sound.py").write_text(SOUND)
    run(*mypy, "sound.py")
    (scratch / "wrong.py").write_text(WRONG)
    reported = run(*mypy, "wrong.py", code=1)
    for line in (2, 3, 4):
        if f"wrong.py:{line}: error" not in reported:
            raise SystemExit(f"FAILED: mypy does not see the mistake in line {line}\n{reported}")
    run(sys.executable, "-m", "mypy.stubtest", "conebench._core", "--mypy-config-file", "mypy.ini",
        "--allowlist", here / "stubs_differ.txt")
