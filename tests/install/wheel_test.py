#!/usr/bin/env python3
"""A wheel of scripts/package.sh installs into a fresh virtual environment of this Python and works there, by itself.
usage: wheel_test.py WHEEL [FOLDER]      77: what it requires is not to be had, or the wheel is another Python's
FOLDER: wheels of what it requires, in place of the package index."""
import email, json, os, pathlib, re, shutil, subprocess, sys, sysconfig, tempfile, zipfile

wheel = pathlib.Path(sys.argv[1]).resolve()
index = ["--no-index", "--find-links", str(pathlib.Path(sys.argv[2]).resolve())] if len(sys.argv) > 2 else []
if f"-cp{sys.version_info[0]}{sys.version_info[1]}-" not in wheel.name:
    print(f"skipped: {wheel.name} is not for Python {sys.version_info[0]}.{sys.version_info[1]}")
    sys.exit(77)
with zipfile.ZipFile(wheel) as archive:
    file = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(archive.read(file))
requires = [one for one in metadata.get_all("Requires-Dist", []) if "extra ==" not in one]
if sorted(re.match("[a-z]+", one)[0] for one in requires) != ["numpy", "scipy"]:
    raise SystemExit(f"FAILED: the wheel requires {requires}")

OPTIONAL = ["clarabel", "dartpy", "h5py", "matplotlib", "mujoco", "newton", "pandas", "pinocchio", "proxsuite",
            "pydrake", "scipy", "scs", "warp"]
IMPORT = f"import sys, conebench; print(*[name for name in {OPTIONAL} if name in sys.modules])"
TIMED = "import time; start = time.process_time(); import conebench; print(time.process_time() - start)"
# The C library's, and those that every manylinux system has.
SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+|z))\.so.*")
SMALL = {"name": "small", "seed": 1, "problems": [{"scene": "box-stack", "options": {"boxes": 3}, "as": "fclib"}],
         "solvers": ["NSGS", "CASCADE"], "tolerances": [1e-8],
         "limits": {"iterations": 5000, "seconds": 60, "memory_mb": 2000}, "repeats": {"min": 1, "min_ms": 0, "max": 1}}
USE = """
import pathlib, sys, conebench
assert pathlib.Path(conebench.__file__).is_relative_to(sys.argv[1]), conebench.__file__
answer = conebench.solve("box-stack boxes=3", "NSGS", tolerance=1e-8)
assert answer.solved and answer.r.shape == (36,), answer
assert conebench.judge("box-stack boxes=3", answer.r, 1e-8).solved
assert conebench.load("box-stack boxes=3").G.shape == (36, 36)
"""
SOUND = "import conebench\nsolved: bool = conebench.solve('sliding-box', 'NSGS').solved\n"
WRONG = "import conebench\nconebench.solve('sliding-box', 'NSGS').r.no_such()\nconebench.load(3)\n"


def fail(text):
    raise SystemExit(f"FAILED: {text}")


def run(*words, code=0):
    done = subprocess.run([*map(str, words)], text=True, capture_output=True, cwd=home, env=environment)
    if done.returncode != code:
        fail(f"{words}: exit code {done.returncode}, not {code}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


with tempfile.TemporaryDirectory() as name:
    scratch = pathlib.Path(name).resolve()
    venv, home = scratch / "an environment", scratch / "home"
    home.mkdir()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    run(sys.executable, "-m", "venv", venv)
    python, conebench = venv / "bin/python", venv / "bin/conebench"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    # pip takes its index and certificates from its own settings.
    if subprocess.run([*pip, *index, *requires]).returncode:
        print("skipped: needs", *requires, "from PyPI")
        sys.exit(77)
    before = {path for path in venv.rglob("*") if "__pycache__" not in path.parts}
    run(*pip, "--no-index", wheel)

    site = pathlib.Path(sysconfig.get_path("purelib", "venv", vars={"base": str(venv)}))
    package = site / "conebench"
    for path in {path for path in venv.rglob("*") if "__pycache__" not in path.parts} - before:
        inside = path.is_relative_to(site) and path.relative_to(site).parts[0].startswith("conebench")
        if path != conebench and not inside:
            fail(f"the wheel writes {path}")

    for path in [package / "bin/conebench", *site.glob("conebench/_core.*.so"), *site.glob("conebench.libs/*")]:
        for line in run("ldd", path).splitlines():
            library, _, found = line.strip().partition(" => ")
            library = library.split()[0].rsplit("/", 1)[-1]
            # A folder's name may have blanks.
            at = re.sub(r" \(0x[0-9a-f]+\)$", "", found)
            if found and not SYSTEM.fullmatch(library) and not at.startswith(f"{site}/"):
                fail(f"{path.name}: {library} => {found}")
    licenses = {path.name for path in (package / "share/licenses").iterdir()}
    if shutil.which("dpkg-query"):  # of the machine that made the wheel, often this one
        for library in ("hdf5", "fmt", "sqlite3", "pybind11", "eigen3"):
            if not any(library in one for one in licenses):
                fail(f"no licence of {library}: {sorted(licenses)}")
    if list(package.rglob("libmujoco*")) and not list((package / "share/licenses/mujoco").glob("LICENSE*")):
        fail("MuJoCo without its licence")

    imported = run(python, "-c", IMPORT).split()
    if imported:
        fail(f"`import conebench` imports {imported}")
    # Of the processor, which other processes do not lengthen.
    seconds = [float(run(python, "-c", TIMED)) for _ in range(5)]
    numpy = run(python, "-c", "import numpy; print(numpy.__version__)").strip()
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, NumPy {numpy}, import conebench {min(seconds):.3f} s")
    if min(seconds) > 0.3:
        fail(f"`import conebench` takes {seconds} s")
    run(python, "-c", USE, venv)

    version = metadata["Version"]
    if run(python, "-c", "import conebench; print(conebench.__version__)").strip() != version:
        fail(f"conebench.__version__ is not {version}")
    for command in ([conebench], [python, "-m", "conebench"]):
        if not run(*command, "--version").startswith(f"conebench {version} "):
            fail(f"{command}: is not of version {version}")
    for topic in ("solvers", "suites"):
        if len(run(conebench, "list", topic).splitlines()) < 10:
            fail(f"list {topic}: too few")
    if len(run(conebench, "paper", "list").splitlines()) < 10:
        fail("paper list: too few")
    (home / "small.json").write_text(json.dumps(SMALL))
    run(conebench, "run", "small.json", "--db", "small.sqlite", "--require-solved", "1")
    run(conebench, "report", "small.sqlite", "--out", "report")
    if not (home / "report/index.html").stat().st_size:
        fail("the report is empty")
    if re.search(r"^MuJoCo ", run(conebench, "doctor"), re.MULTILINE):
        run(conebench, "generate", "box-on-plane", "--out", "samples")

    environment["HOME"] = os.environ.get("HOME", str(home))
    if subprocess.run(["python3", "-m", "mypy", "--version"], capture_output=True, env=environment).returncode == 0:
        (home / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n")
        mypy = ["python3", "-m", "mypy", "--strict", "--config-file", "mypy.ini", "--python-executable", python,
                "--cache-dir", home / "types"]
        (home / "sound.py").write_text(SOUND)
        run(*mypy, "sound.py")
        (home / "wrong.py").write_text(WRONG)
        reported = run(*mypy, "wrong.py", code=1)
        if "wrong.py:2: error" not in reported or "wrong.py:3: error" not in reported:
            fail(f"mypy does not see the mistakes\n{reported}")
