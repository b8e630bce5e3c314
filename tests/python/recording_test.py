#!/usr/bin/env python3
"""Recordings, read by h5py and by h5dump: their arrays, what they share, a writer that is killed, a reader meanwhile, a
full disk, steps that can't be held.
usage: recording_test.py PACKAGE_FOLDER      77: a module is not installed"""
import importlib.util, itertools, os, pathlib, random, resource, shutil, signal, subprocess, sys, tempfile, time

for module in ("numpy", "scipy", "h5py"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
sys.path.insert(0, os.path.abspath(sys.argv[1]))
import h5py
import numpy as np
import scipy.sparse
import conebench

nan, inf = np.nan, np.inf
folder = pathlib.Path(tempfile.mkdtemp(prefix="conebench_recording_"))


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def step_of(seed, contacts=4):
    """A robot of 18 velocities: 2 joints with friction, a limit, contacts."""
    numbers = np.random.default_rng(seed)
    n, blocks = 3 + 3 * contacts, 3 + contacts
    mass = numbers.normal(size=(18, 18))
    jacobian = numbers.normal(size=(n, 18))
    jacobian[:3] = np.eye(18)[6:9]
    return {
        "block_rows": np.r_[0:3, 3:n + 1:3], "cone": [0, 0, 0] + [2] * contacts,
        "lower": np.r_[-1e-3, -1e-3, 0.0, np.full(3 * contacts, nan)],
        "upper": np.r_[1e-3, 1e-3, inf, np.full(3 * contacts, nan)],
        "mu": np.r_[0.0, 0.0, 0.0, np.tile([0.0, 0.8, 0.8], contacts)],
        "M": mass @ mass.T, "metric": "mass", "J": scipy.sparse.csr_matrix(jacobian),
        "v_free": numbers.normal(size=18), "velocity": numbers.normal(size=18), "b": numbers.normal(size=n),
        "R": numbers.random(n), "law": "ccp", "gap": numbers.normal(size=blocks),
        "point": numbers.normal(size=(contacts, 3)), "frame": np.tile(np.eye(3), (contacts, 1, 1)),
        "identity": np.arange(blocks), "name": [f"joint_{k}" for k in range(3)] + [f"foot_{k} · floor"
                                                                                 for k in range(contacts)],
        "bodies": np.c_[np.full(blocks, -1), np.arange(blocks) % 3], "body_names": ["trunk", "left leg", "right leg"],
        "time_step": 0.002, "time": 0.002 * seed, "description": "made up",
        "answers": {"Mine 1.0": {"r": numbers.normal(size=n), "iterations": seed, "seconds": 1e-4, "tolerance": 1e-8,
                                 "status": "converged", "law": "ncp"}}}


def read_all(file, steps=None):
    """The number of steps; reads every array of the given ones, or of all."""
    with h5py.File(file, "r") as opened:
        names = list(opened["steps"])
        assert names == [f"{k:06d}" for k in range(1, len(names) + 1)]
        for name in names if steps is None else names[steps]:
            group = opened["steps"][name]["conebench"]
            assert group["step"][0] == int(name)
            group.visititems(lambda _, item: item[()] if isinstance(item, h5py.Dataset) else None)
        return len(names)


def same(stored, given):
    return np.array_equal(np.asarray(stored).ravel(), np.asarray(given).ravel(), equal_nan=True)


def one_line(act):
    try:
        act()
    except conebench.Error as error:
        return str(error) if "\n" not in str(error) else ""
    return ""


# --- arrays
file = folder / "arrays.hdf5"
unsorted = scipy.sparse.csr_matrix((np.array([1.0, 2.0]), np.array([5, 2]), np.array([0] + [2] * 15)), shape=(15, 18))
steps = [step_of(k) for k in range(3)] + [dict(step_of(3), J=unsorted), step_of(4, 40)]
steps[1]["J"] = steps[1]["J"].tocsc()
steps[2]["J"] = (steps[2]["J"].data.astype(np.float32), steps[2]["J"].indices, steps[2]["J"].indptr, (15, 18))
with conebench.record(file) as record:
    for k in range(5):
        record.add(steps[k])
    check(len(record) == 5, "a recorder counts its steps")
with h5py.File(file) as opened:
    for k, step in enumerate(steps):
        group = opened[f"steps/{k + 1:06d}/conebench"]
        for name, value in step.items():
            if name == "J":
                stored = scipy.sparse.csr_matrix((group["J/x"][()], group["J/i"][()], group["J/p"][()]),
                                                 shape=(group["J/m"][0], group["J/n"][0]))
                value = scipy.sparse.csr_matrix(value[:3], shape=value[3]) if isinstance(value, tuple) else value
                assert group["J/nz"][0] == -2 and (stored != value).nnz == 0, (k, name)
            elif name == "answers":
                for part, answer in value["Mine 1.0"].items():
                    stored = group[f"answers/Mine 1.0/{part}"]
                    assert stored.asstr()[()] == answer if isinstance(answer, str) else same(stored, answer), part
            elif name in ("name", "body_names"):
                assert list(group[name].asstr()) == value, name
            elif isinstance(value, str):
                assert group[name].asstr()[()] == value, name
            else:
                assert same(group[name], value), (k, name)
                assert np.ndim(value) < 2 or group[name].shape == np.shape(value), name
    large, small = opened["steps/000005/conebench/J/x"], opened["steps/000001/conebench/M"]
    check(large.compression == "gzip" and large.shuffle and small.chunks is None,
          "h5py reads every array of five steps, of which the large ones are compressed")

# --- what steps share
file = folder / "shared.hdf5"
steps = [step_of(0), dict(step_of(1), M=step_of(0)["M"]), step_of(2, 5)]
with conebench.record(file) as record:
    for step in steps:
        record.add(step)
with h5py.File(file) as opened:
    one, two, three = (opened[f"steps/{k:06d}/conebench"] for k in (1, 2, 3))
    for name in ("block_rows", "cone", "lower", "upper", "mu", "M", "J/p", "J/i", "J/m", "name", "bodies", "body_names",
                 "metric", "time_step", "identity", "frame", "answers/Mine 1.0/status"):
        assert one[name] == two[name], name
    for name in ("J/x", "v_free", "answers/Mine 1.0/r", "step"):
        assert one[name] != two[name], name
    check(two["mu"] != three["mu"] and two["body_names"] == three["body_names"],
          "arrays that did not change are links to those of the step before")
before = os.path.getsize(file)
with h5py.File(file, "r+") as opened:
    del opened["steps/000001"]
    opened["steps/000002/conebench/own"] = 1.0
    opened["steps"].create_group("000004")
with h5py.File(file) as opened:
    group = opened["steps/000002/conebench"]
    check(list(opened["steps"]) == ["000002", "000003", "000004"] and same(group["mu"], steps[1]["mu"])
          and group["own"][()] == 1.0, "h5py changes a recording; a removed step's shared arrays stay")

# --- many steps
file = folder / "many.hdf5"
with conebench.record(file) as record:
    for k in range(9000):
        record.add({"block_rows": [0, 1], "cone": [0], "lower": [0], "upper": [inf], "G": [[1.0]], "b": [-1.0 - k]})
with h5py.File(file) as opened:
    check(read_all(file, slice(None, None, 50)) == 9000 and opened["steps/008192/conebench/b"][0] == -8192.0,
          "9000 steps are found by their names")
if shutil.which("h5repack") and shutil.which("h5diff"):
    source, copy = folder / "shared_copy_of.hdf5", folder / "copy.hdf5"
    with conebench.record(source) as record:
        for step in steps:
            record.add(step)
    subprocess.run(["h5repack", source, copy], check=True)
    check(subprocess.run(["h5diff", source, copy]).returncode == 0, "h5repack copies a recording")

# --- a writer that is killed
file = folder / "killed.hdf5"
cycle = [step_of(k, 4 + k % 3) for k in range(12)]
random.seed(1)
dump = shutil.which("h5dump")


def start_writer(most, pause=0.0):
    """The process, and where it says a byte a step."""
    said, says = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(said)
        with conebench.record(file) as record:
            for step in itertools.islice(itertools.cycle(cycle), most):
                record.add(step)
                os.write(says, b".")
                time.sleep(pause)
        os._exit(0)
    os.close(says)
    os.set_blocking(said, False)
    return child, said


def count_said(said):
    count = 0
    while True:
        try:
            got = os.read(said, 1 << 16)
        except BlockingIOError:
            return count
        if not got:
            return count
        count += len(got)


for attempt in range(60):
    child, said = start_writer(10**6)
    time.sleep(random.uniform(0.0, 0.04))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    told = count_said(said)
    os.close(said)
    if not file.exists():
        assert told == 0
        continue
    found = read_all(file, slice(-20, None))
    assert told <= found <= told + 1, (told, found)
    if attempt % 10 == 0:
        assert read_all(file) == found
        assert dump is None or subprocess.run([dump, "-H", file], stdout=subprocess.DEVNULL).returncode == 0
    file.unlink()
check(not file.exists(), "60 killed writers left every step that add() had returned from")

# --- a reader meanwhile
child, said = start_writer(4000, 1e-4)
counts = []
while count_said(said) == 0:
    time.sleep(0.001)
with h5py.File(file) as early:
    at_first = len(early["steps"])
    while count_said(said) == 0:
        time.sleep(0.001)
    early["steps"][f"{at_first:06d}"]["conebench"].visititems(lambda _, item: None)
    check(len(early["steps"]) == at_first, "who opened a recording keeps what it was")
while os.waitpid(child, os.WNOHANG) == (0, 0):
    counts.append(read_all(file, slice(-2, None)))
check(counts == sorted(counts) and len(set(counts)) > 1 and read_all(file, slice(-2, None)) == 4000,
      "who opens it while it is written reads whole steps")
file.unlink()

# --- a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
record = conebench.record(file)
error = ""
while not error:
    error = one_line(lambda: record.add(cycle[len(record) % 12]))
held = len(record)
check(held > 5 and f"killed.hdf5: step {held + 1}: can't be written: File too large" in error and read_all(file) == held,
      "a full disk is one line, and the steps before stay")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
record.add(cycle[0])
record.close()
check(read_all(file) == held + 1, "and where there is space again, the next step follows")
check("is closed" in one_line(lambda: record.add(cycle[0])), "nothing is added to a closed recording")

# --- steps that can't be held
file = folder / "bad.hdf5"
plain = step_of(0)
with conebench.record(file) as record:
    record.add(plain)
    skew = plain["M"].copy()
    skew[3, 1] += 1.0
    for change, words in (
            ({"lower": plain["lower"][:-1]}, "lower: has 14 entries, expected 15"),
            ({"lower": np.zeros((15, 1))}, "lower: has the shape (15, 1), expected n"),
            ({"point": np.zeros((3, 4))}, "point: has the shape (3, 4), expected n x 3"),
            ({"v_free": plain["v_free"] * nan}, "v_free: entry 0 is nan"),
            ({"M": skew}, "M: is not symmetric"),
            ({"M": np.eye(17)}, "M: is 17 x 17, expected 18 x 18"),
            ({"J": scipy.sparse.csr_matrix((15, 17))}, "J: is 15 x 17, expected 15 x 18"),
            ({"J": (np.ones(1), np.array([18]), np.array([0] + [1] * 15), (15, 18))}, "J: row 0 has an entry in column 18"),
            ({"mu": -plain["mu"]}, "mu: block 3, row 4: is -0.8"),
            ({"cone": [0, 0, 0, 7, 2, 2, 2]}, "cone: block 3 is 7"),
            ({"cone": [0.5] * 7}, "cone: expected integers"),
            ({"upper": plain["lower"] - 1}, "lower, upper: block 0, row 0"),
            ({"R": np.full(15, -1.0)}, "R: entry 0 is -1"),
            ({"bodies": np.full((7, 2), 3)}, "bodies: block 0 has body 3"),
            ({"law": "lcp"}, "law: is 'lcp'"),
            ({"time_step": 0.0}, "time_step: is 0, must be positive"),
            ({"mue": 1.0}, "mue: a step has no part of that name"),
            ({"answers": {"A": {"r": [1.0]}}}, "answers/A/r: has 1 entries, expected 15"),
            ({"answers": {"A/B": {"r": np.zeros(15)}}}, "answers: 'A/B'"),
            ({"J": None}, "M, J, v_free: all three"),
            ({"v_free": plain["v_free"][1:], "velocity": None, "M": np.eye(17), "J": np.zeros((15, 17))},
             "v_free: has 17 velocities, the first step 18"),
            ({"body_names": ["trunk", "left leg", "right leg", "tail"]}, "body_names: has 4 bodies, the first step 3"),
            ({"body_names": ["trunk", "left leg", "tail"]}, "body_names: body 2 is 'tail', in the first step 'right leg'")):
        said = one_line(lambda: record.add({**plain, **change}))
        assert f"bad.hdf5: step 2: {words}" in said, (words, said)
    record.add({**plain, "M": skew, "metric": "effective"})
    check(len(record) == 2 and read_all(file) == 2, "a step that can't be held, or of another model, is one line")
check("can't be created" in one_line(lambda: conebench.record(folder / "none" / "x.hdf5")), "so is a missing folder")

# --- as problems
file = folder / "problems.hdf5"
with conebench.record(file) as record:
    for k in range(3):
        record.add(step_of(k, 2 + k))
again = folder / "again.hdf5"
with conebench.record(again) as record:
    for problem in conebench.recording(file):
        record.add(problem)
problems = conebench.recording(again)
check([problem.contacts for problem in problems] == [2, 3, 4] and len(problems[1:]) == 2
      and np.allclose(problems[2].v_free, step_of(2, 4)["v_free"]), "recording() reads its steps as problems, which record() takes")
check("is no recording" in one_line(lambda: conebench.recording(__file__)), "another file is no recording")
shutil.rmtree(folder)
