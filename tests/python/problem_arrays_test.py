#!/usr/bin/env python3
"""Problems from arrays: every part in the caller's rows, through a file and back, and what is refused.
usage: problem_arrays_test.py PACKAGE_FOLDER      77: a module is not installed"""
import importlib.util, inspect, os, pathlib, sys, tempfile

for module in ("numpy", "scipy", "h5py"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: needs {module}")
        sys.exit(77)
sys.path.insert(0, os.path.abspath(sys.argv[1]))
import h5py
import numpy as np
import scipy.sparse
import conebench
from conebench._step import problem_of

UNKNOWN = -2**63


def check(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


def same(one, other):
    """To the last bit, whatever they are."""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, conebench.EngineAnswer):
        return same(vars(one), vars(other))
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(same, one, other))
    if scipy.sparse.issparse(one):
        return scipy.sparse.issparse(other) and one.shape == other.shape and (one != other).nnz == 0
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        if one is None or other is None:
            return False
        kind = np.asarray(one).dtype.kind
        return np.array_equal(one, other, equal_nan=kind == "f")
    return one == other


def quadruped(normal, seed=5):
    """A trunk and four legs, 18 velocities: rows of all kinds in no order, with all that can be known of them."""
    rng = np.random.default_rng(seed)
    dt = 0.002
    blocks = [conebench.friction(0.8), conebench.interval([-0.3 * dt, -0.2 * dt], [0.3 * dt, 0.2 * dt]),
              conebench.friction([0.7, 0.7, 0.005, 1e-4, 1e-4]), conebench.unilateral(), conebench.bilateral(3),
              conebench.friction([0.6, 0.4], shift=0.01), conebench.friction([0.5, 0.5, 0.02], groups=[2, 1]),
              conebench.friction(0.4, shape="pyramid"), conebench.unilateral()]
    n, velocities = sum(block.rows for block in blocks), 18
    root = rng.normal(size=(velocities, velocities)) * 0.1
    axes = np.linalg.qr(rng.normal(size=(5, 3, 3)))[0]
    point = rng.normal(size=(5, 3))
    point[4] = np.nan
    bodies = [(None, "FL_foot"), ("trunk", "FL_thigh"), ("", "FR_foot"), ("trunk", "FR_thigh"), ("trunk", "arm"),
              (None, "RL_foot"), ("RL_foot", "RR_foot"), (None, "RR_foot"), ("trunk", "RR_thigh")]
    r = rng.normal(size=n)
    given = dict(
        M=np.diag(1.0 + rng.random(velocities)) + root @ root.T, J=rng.normal(size=(n, velocities)),
        v_free=rng.normal(size=velocities), b=0.1 * rng.normal(size=n), R=1e-4 * rng.random(n), blocks=blocks,
        normal=normal, guess=np.abs(rng.normal(size=n)) * 0, metric="effective", law="ccp",
        velocity=rng.normal(size=velocities), time_step=dt, time=1.25, step=625,
        gap=[-1e-4, np.nan, 0.0, 0.1, np.nan, 1e-3, 2e-3, -3e-3, 0.2], point=point, frame=axes,
        identity=[11, None, 12, 3, None, 15, 2**62, -4, 7],
        names=["FL on floor", "FL dry", "FR on floor", "FR knee ≥", "arm weld", "RL on floor", "feet", "RR", ""],
        bodies=bodies, description="trot",
        answers={"Engine 1.0 Newton": {"r": r, "iterations": 7, "seconds": 2.5e-4, "tolerance": 1e-8,
                                       "status": "converged", "law": "ccp"},
                 "Engine 1.0 PGS": 2.0 * r})
    return given, n


KNOWN = ("metric", "law", "velocity", "time_step", "time", "step", "gap", "point", "frame", "identity", "names",
         "bodies", "body_names", "description")


def everything(folder):
    for normal in ("first", "last"):
        given, n = quadruped(normal)
        problem = conebench.problem(**given)
        check(problem.rows == n and problem.contacts == 5 and (problem.joints, problem.limits, problem.intervals)
              == (3, 2, 2), f"a quadruped with rows of all kinds, the normal {normal}")
        for name in ("M", "J", "v_free", "b", "R"):
            stored = getattr(problem, name)
            check(same(stored.toarray() if scipy.sparse.issparse(stored) else stored, np.asarray(given[name])), name)
        for name in ("metric", "law", "velocity", "time_step", "time", "step", "gap", "point", "frame", "names",
                     "description"):
            check(same(getattr(problem, name), np.asarray(given[name]) if isinstance(getattr(problem, name), np.ndarray)
                       else given[name]), name)
        check(problem.identity.tolist() == [UNKNOWN if k is None else k for k in given["identity"]], "identity")
        named = [tuple("" if k < 0 else problem.body_names[k] for k in pair) for pair in problem.bodies]
        check(named == [tuple(name or "" for name in pair) for pair in given["bodies"]], "bodies by name")
        indexed = conebench.problem(**{**given, "bodies": problem.bodies, "body_names": problem.body_names})
        check(same(indexed.bodies, problem.bodies) and indexed.body_names == problem.body_names, "and by index")
        check(problem.answers.keys() == given["answers"].keys(), "answers")
        newton = problem.answers["Engine 1.0 Newton"]
        check(same(vars(newton), given["answers"]["Engine 1.0 Newton"]), "with all that is said of one")
        pgs = problem.answers["Engine 1.0 PGS"]
        check(same(pgs.r, given["answers"]["Engine 1.0 PGS"]) and pgs.iterations is pgs.law is pgs.status is None,
              "or only its impulses")
        check(same(conebench.problem(**{**given, "answers": problem.answers}).answers, problem.answers), "given again")

        solved = conebench.solve(problem, "NSGS", tolerance=1e-9)
        rejudged = conebench.problem(**{**given, "answers": {"NSGS": solved.r}})
        check(solved.solved and conebench.judge(rejudged, rejudged.answers["NSGS"].r, 1e-9).solved,
              "an answer of the problem is judged in its rows")
        velocity = problem.G @ solved.r + problem.R * solved.r + problem.g
        first = problem.blocks.block_rows[4]
        check(np.abs(velocity[first:first + 3]).max() < 1e-7, "joints do not move, in the caller's rows")
        check(not conebench.judge(problem, newton.r).solved, "an engine's own answer is judged")

        step = problem._step()
        normals = step["block_rows"][:-1][step["cone"] > 0]
        check((step["mu"][normals] == 0).all() and (step["mu"][normals + 1] > 0).all(), "a step has the normal first")
        again = problem_of(step)
        unguessed = conebench.problem(**{**given, "guess": None})  # a step has no guess
        check(again.hash == unguessed.hash
              and all(same(getattr(again, name), getattr(problem, name)) for name in KNOWN),
              "a step is the same problem")
        check(same(again._step(), step), "and the same step")

        file = folder / f"{normal}.hdf5"
        conebench.save(problem, file)
        loaded, order = conebench.load(file), problem.blocks.order()
        check(loaded.hash == problem.hash, "a file is the same problem")
        for name in KNOWN:
            check(same(getattr(loaded, name), getattr(problem, name)), f"{name} comes back from the file")
        check(same(loaded.M, problem.M) and same(loaded.v_free, problem.v_free) and same(loaded.J, problem.J[order]),
              "M, J and v_free, too")
        check(np.abs(loaded.g - problem.g[order]).max() < 1e-14, "g, but for the order of its sums")
        for name in ("b", "R", "guess"):
            check(same(getattr(loaded, name), getattr(problem, name)[order]), f"{name}, with normals first")
        for title, answer in problem.answers.items():
            back = loaded.answers[title]
            check(same({**vars(back), "r": 0}, {**vars(answer), "r": 0}) and same(back.r, answer.r[order]), title)
        check(same({**loaded._step(), "groups": step["groups"]}, step), "and so does the step")
        with h5py.File(file) as stored:
            group = stored["conebench"]
            check(group["point"].shape == (5, 3) and group["frame"].shape == (5, 3, 3)
                  and group["bodies"].shape == (9, 2)
                  and group["answers/Engine 1.0 Newton/iterations"][0] == 7
                  and np.array_equal(group["answers/Engine 1.0 PGS/r"][...], pgs.r[order])
                  and group["name"][0].decode().rstrip("\0") == "FL on floor",
                  "h5py finds it by the names of the format")
    own = problem.ordered
    contacts, bounded = [0, 2, 5, 6, 7], 7
    expected = np.r_[[UNKNOWN] * 3, 3, 7, [UNKNOWN] * 2, problem.identity[contacts]]
    check(same(own.gap, np.r_[[np.nan] * bounded, problem.gap[contacts]]) and same(own.frame, problem.frame)
          and same(own.identity, expected) and same(own.velocity, problem.velocity) and own.time_step == 0.002
          and own.step == 625 and own.metric == "effective", "and Conebench's order has most of it")


def kinds_of_arrays():
    given, n = quadruped("last")
    dense = conebench.problem(**given)
    for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
        made = conebench.problem(**{**given, "M": scipy.sparse.csr_matrix(given["M"]).asformat(kind),
                                    "J": scipy.sparse.csr_matrix(given["J"]).asformat(kind)})
        check(made.hash == dense.hash, f"scipy.sparse: {kind}")
    check(conebench.problem(**{**given, "J": scipy.sparse.csr_array(given["J"])}).hash == dense.hash, "a sparse array")
    J = scipy.sparse.csr_matrix(given["J"])
    check(conebench.problem(**{**given, "J": (J.data, J.indices, J.indptr, J.shape)}).hash == dense.hash,
          "compressed rows")
    lists = {name: given[name].tolist() for name in ("M", "J", "v_free", "b", "R", "velocity", "frame", "point")}
    check(conebench.problem(**{**given, **lists}).hash == dense.hash, "lists")
    single = {name: given[name].astype(np.float32) for name in ("M", "J", "v_free", "b", "R", "velocity", "frame")}
    small = conebench.problem(**{**given, **single})
    check(same(small.J.toarray(), single["J"].astype(float)) and same(small.M.toarray(), single["M"].astype(float))
          and conebench.solve(small, "NSGS", tolerance=1e-8).solved, "float32, as it is")
    doubled = scipy.sparse.coo_matrix((np.r_[1.0, 0.5, 2.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    check(same(conebench.problem(doubled, [0, 0], limits=2).G.toarray(), np.diag([1.5, 2.0])),
          "entries at one place add")
    integers = conebench.problem(np.eye(2, dtype=int), [1, -1], limits=2)
    check(conebench.solve(integers, "NSGS").solved, "integers")
    g = np.array([0.0, 0.0, -1.0])
    kept = conebench.problem(np.eye(3), g, blocks=[conebench.friction(0.5)], normal="last")
    g[2] = 5.0
    check(kept.g[2] == -1.0, "arrays are copied")


def rows_without_blocks(folder):
    G, g = np.diag(np.arange(1.0, 9.0)), np.array([0.3, -1.0, 0.1, 0.2, -1.0, -0.4, 0.1, -2.0])
    last = conebench.problem(G, g, [0.5, 0.7], joints=1, limits=1, normal="last")
    move = [0, 1, 4, 2, 3, 7, 5, 6]
    first = conebench.problem(G[np.ix_(move, move)], g[move], [0.5, 0.7], joints=1, limits=1, normal="first")
    answers = [conebench.solve(one, "NSGS", tolerance=1e-10).r for one in (last, first)]
    check(first.hash == last.hash and np.array_equal(answers[0][move], answers[1]), "the normal first or last")
    check(last.blocks.normal_row.tolist() == [0, 1, 4, 7] and first.blocks.normal_row.tolist() == [0, 1, 2, 5],
          "its row")
    file = folder / "plain.hdf5"
    conebench.save(last, file)
    with h5py.File(file) as stored:
        check("fclib_local" in stored, "what is G, g and mu alone is in FCLIB's layout")
    check(same(conebench.load(file).G.toarray(), G), "with the same rows")
    named = conebench.problem(G, g, [0.5, 0.7], joints=1, limits=1, normal="last", names=["j", "l", "a", "b"],
                              answers={"own": answers[0]}, gap=[np.nan, 0.1, 0.0, 0.0])
    check(named.hash != "" and named.names == ["j", "l", "a", "b"] and conebench.judge(
        named, named.answers["own"].r, 1e-8).solved, "names and answers without blocks")
    J, M = np.eye(8), np.linalg.inv(G)
    primal = conebench.problem(M=M, J=J, v_free=g, mu=[0.5, 0.7], joints=1, limits=1, normal="last")
    check(np.allclose(conebench.solve(primal, "NSGS", tolerance=1e-10).r, answers[0], atol=1e-8), "M, J and v_free")
    both = conebench.problem(G, M=M, J=J, v_free=g, mu=[0.5, 0.7], joints=1, limits=1, normal="last")
    check(same(both.G.toarray(), G) and same(both.J.toarray(), J), "G beside them")
    flat = conebench.problem(np.eye(4), [0.1, -1, 0.1, -1], [0.5, 0.5], dimension=2, normal="last")
    check(flat.dimension == 2 and conebench.solve(flat, "NSGS").solved, "in the plane")
    rolls = conebench.problem(np.eye(5), [-1, 0.1, 0, 0.1, 0], [0.5], mu_rolling=[0.1], normal="first")
    check(rolls.dimension == 5 and rolls.mu_rolling.tolist() == [0.1] and conebench.solve(rolls, "NSGS").solved,
          "rolling")
    scene = conebench.load("box-stack boxes=2")
    copy = problem_of(scene._step())
    answer = conebench.solve(scene, "NSGS", tolerance=1e-9)
    order = scene.blocks.order()
    check(conebench.judge(copy, answer.r[order], 1e-8).solved and same(copy.J, scene.J[order]), "a scene's step")
    check(scene.answers == {} and scene.names is None and scene.point is None, "what a scene does not have is None")
    for text in ("normal", '"first"', '"last"', "(t1, t2, n)", "N s", "m/s", "n_c x 3", "caller's order"):
        check(text in inspect.getdoc(conebench.problem), f"help says {text}")
    check("normal_row" in inspect.getdoc(conebench.Problem), "and where the rows of a Problem stand")


def refusals():
    given, n = quadruped("first")
    asymmetric, indefinite, negative = given["M"].copy(), given["M"].copy(), given["M"].copy()
    asymmetric[2, 3] += 0.5
    indefinite[4, 5] = indefinite[5, 4] = 50.0
    negative[6, 6] = -1.0
    large = scipy.sparse.eye(400, format="lil")
    large[7, 8] = 0.25
    large_indefinite = scipy.sparse.eye(400, format="lil")
    large_indefinite[7, 8] = large_indefinite[8, 7] = 2.0
    wide = dict(J=np.eye(2, 400), v_free=np.zeros(400), limits=2)
    skew = given["frame"].copy()
    skew[3, 0] *= 1.1
    hole = {name: given[name].copy() for name in ("J", "b", "v_free", "M")}
    hole["J"][3, 2], hole["b"][4], hole["v_free"][1], hole["M"][0, 0] = np.nan, np.inf, np.nan, np.inf
    described = conebench.problem(**given).blocks
    table = {name: getattr(described, name) for name in ("block_rows", "lower", "upper", "cone", "mu")}
    step = conebench.problem(**given)._step()

    def quad(**changed):
        return lambda: conebench.problem(**{**given, **changed})

    def one(*words, **named):
        return lambda: conebench.problem(*words, **named)

    usage, data = "wrong_usage", "bad_input"
    for words, code, call in (
            ("normal: say normal='first' or normal='last'", usage, quad(normal=None)),
            ("normal: say normal='first' or normal='last'", usage, one(np.eye(3), np.zeros(3), [0.5])),
            ("normal: must be 'first' or 'last', not 'middle'", usage,
             one(np.eye(3), np.zeros(3), [0.5], normal="middle")),
            ("normal: must be 'first' or 'last', not 'z'", usage, quad(normal="z")),
            ("say what the rows are: blocks=", usage, one(np.eye(3), np.zeros(3))),
            ("needs G and g, or M, J and v_free", usage, one(mu=[0.5], normal="last")),
            ("g: is missing beside G", usage, one(np.eye(3), mu=[0.5], normal="last")),
            ("all three of them", usage, quad(v_free=None)),
            ("g: has 4 entries, joints, limits and mu make 3 rows", usage,
             one(np.eye(3), np.zeros(4), [0.5], normal="last")),
            ("G: is 4 by 4, expected 3 by 3", usage, one(np.eye(4), np.zeros(3), [0.5], normal="last")),
            ("G: has 1 dimensions, expected 2", usage, one(np.zeros(3), np.zeros(3), [0.5], normal="last")),
            ("mu: entry 1 is -0.5", data, one(np.eye(6), np.zeros(6), [0.5, -0.5], normal="last")),
            ("joints: is -1, expected a number of rows", usage,
             one(np.eye(3), np.zeros(3), [0.5], joints=-1, normal="last")),
            ("mu_rolling: has 2 entries, mu 1", usage,
             one(np.eye(5), np.zeros(5), [0.5], mu_rolling=[1, 1], normal="last")),
            ("dimension: is 4", usage, one(np.eye(4), np.zeros(4), [0.5], dimension=4, normal="last")),
            ("g: has complex numbers", usage, one(np.eye(3), 1j * np.ones(3), [0.5], normal="last")),
            ("g: ", usage, one(np.eye(3), ["a", "b", "c"], [0.5], normal="last")),
            ("G: ", usage, one([[1, 2], [3]], np.zeros(2), limits=2)),
            ("v_free: entry 1 is nan, which must be finite", data, quad(v_free=hole["v_free"])),
            ("b: entry 4 is inf, which must be finite", data, quad(b=hole["b"])),
            ("b: has 3 entries, the blocks 26 rows", usage, quad(b=np.zeros(3))),
            ("J: row 3, column 2 is nan, which must be finite", data, quad(J=hole["J"])),
            ("J: is 3 by 18, expected 26 by 18", usage, quad(J=np.zeros((3, 18)))),
            ("J: 26 rows by 18 columns need 27 ascending starts", usage, quad(J=(np.ones(2), [0, 1], [0, 2], (n, 18)))),
            ("M: row 0, column 0 is inf, which must be finite", data, quad(M=hole["M"])),
            ("M: is 3 by 3, expected 18 by 18", usage, quad(M=np.eye(3))),
            ("M: row 2, column 3 is ", data, quad(M=asymmetric)),
            ("symmetric, with both triangles", data, quad(M=np.triu(given["M"]))),
            ("M: has the eigenvalue -48", data, quad(M=indefinite)),
            ("M: row 6, column 6 is -1; M must be positive definite", data, quad(M=negative)),
            ("M: row 7, column 8 is 0.25, row 8, column 7 is 0", data, one(M=large, **wide)),
            ("M: has no positive pivot at velocity", data, one(M=large_indefinite, **wide)),
            ("is not that of J M^-1 J'", data, quad(G=np.eye(n))),
            ("R: entry 2 is -1, which must not be negative", data, quad(R=[0, 0, -1.0] + [0] * (n - 3))),
            ("R: is a matrix, give its diagonal", usage, quad(R=np.eye(n))),
            ("guess: has 2 entries", usage, quad(guess=[0.0, 0.0])),
            ("blocks: 'friction' is not one of block_rows", usage, quad(blocks={**table, "friction": 0})),
            ("blocks: lower is missing", usage, quad(blocks={"block_rows": [0, 3], "cone": [2], "mu": [0, 1, 1]})),
            ("blocks: cone has 2 entries, expected 9", usage, quad(blocks={**table, "cone": [2, 0]})),
            ("blocks: mu[0] = 0.4 must be 0, it is the normal's of block 0", data,
             quad(blocks={**table, "mu": np.r_[0.4, table["mu"][1:]]})),
            ("blocks: mu[3] = 0.4 must be 0, it is of block 1, which has bounds", data,
             quad(blocks={**table, "mu": np.r_[table["mu"][:3], 0.4, table["mu"][4:]]})),
            ("blocks: mu[1] = nan must be finite and not negative", data,
             quad(blocks={**table, "mu": np.r_[0, np.nan, table["mu"][2:]]})),
            ("metric: is 'inertia', expected 'mass' or 'effective'", usage, quad(metric="inertia")),
            ("metric: says what M is", usage, one(np.eye(3), np.zeros(3), [0.5], normal="last", metric="mass")),
            ("law: is 'lcp', expected 'ncp' or 'ccp'", usage, quad(law="lcp")),
            ("velocity: has 3 entries, v_free 18", usage, quad(velocity=np.zeros(3))),
            ("time_step: is 0, which must be finite and above 0", data, quad(time_step=0.0)),
            ("time_step: is 'a', expected a number", usage, quad(time_step="a")),
            ("time: is nan, which must be finite", data, quad(time=np.nan)),
            ("step: is 0, which must be at least 1", data, quad(step=0)),
            ("step: is 1.5, expected an integer", usage, quad(step=1.5)),
            ("gap: has 2 entries, expected one for each of 9 blocks", usage, quad(gap=[0.0, 0.0])),
            ("gap: entry 1 is inf", data, quad(gap=[0, np.inf] + [0] * 7)),
            ("point: has the shape (4, 3), expected (5, 3)", usage, quad(point=np.zeros((4, 3)))),
            ("point: contact 2 has -inf", data, quad(point=np.where(np.arange(15).reshape(5, 3) == 7, -np.inf, 0))),
            ("frame: has the shape (5, 3), expected (5, 3, 3)", usage, quad(frame=np.zeros((5, 3)))),
            ("frame: that of contact 3 is not orthonormal, by 0.21", data, quad(frame=skew)),
            ("identity: has 2 entries, expected one for each of 9 blocks", usage, quad(identity=[1, 2])),
            ("identity: blocks 0 and 5 have the same one, 11", data,
             quad(identity=[11, None, 12, 3, None, 11, 1, 2, 7])),
            ("identity: blocks 3 and 8 have the same one, 3", data,
             quad(identity=[11, None, 12, 3, None, 1, 14, 2, 3])),
            ("identity: must be integers", usage, quad(identity=np.arange(9) + 0.5)),
            ("identity: block 0 has 2 rows that may be limits", data,
             one(np.eye(2), [0, 0], blocks=[conebench.unilateral(2)], identity=[4])),
            ("names: has 1 texts, expected a list of 9", usage, quad(names=["a"])),
            ("names: has 1 texts, expected a list of 9", usage, quad(names="nine texts")),
            ("names: entry 2 is 'a\\nb', expected a text of one line", usage, quad(names=["", "", "a\nb"] + [""] * 6)),
            ("names: entry 1 is 3, expected a text", usage, quad(names=["", 3] + [""] * 7)),
            ("bodies: has 1 pairs, expected one for each of 9 blocks", usage,
             quad(bodies=[(0, 1)], body_names=["a", "b"])),
            ("bodies: block 0 has 'ab', expected two of them", usage, quad(bodies=["ab"] * 9)),
            ("bodies: block 0 has the index 2, expected -1 (the world) to 1", data,
             quad(bodies=[(0, 2)] * 9, body_names=["a", "b"])),
            ("bodies: block 0 has the index -2", data, quad(bodies=[(0, -2)] * 9, body_names=["a", "b"])),
            ("bodies: block 0 has the index 0; give body_names", usage, quad(bodies=[(0, 1)] * 9)),
            ("bodies: block 0 has 'c', which body_names lacks", usage,
             quad(bodies=[("a", "c")] * 9, body_names=["a", "b"])),
            ("which body_names has twice; give indices", usage, quad(bodies=[("a", "")] * 9, body_names=["a", "a"])),
            ("bodies: block 0 has 0.5, expected an index, a name or None", usage, quad(bodies=[(0.5, None)] * 9)),
            ("answers: must be a dictionary", usage, quad(answers=[np.zeros(n)])),
            ("answers: 'a/b' must be a text of one line without '/'", usage, quad(answers={"a/b": np.zeros(n)})),
            ("answers: 'a': r has 2 entries, the problem 26 rows", usage, quad(answers={"a": [0.0, 1.0]})),
            ("answers: 'a': has no r", usage, quad(answers={"a": {"iterations": 3}})),
            ("answers: 'a': 'time' is not one of r, iterations, seconds", usage,
             quad(answers={"a": {"r": np.zeros(n), "time": 1}})),
            ("answers: 'a': iterations: is -1", data, quad(answers={"a": {"r": np.zeros(n), "iterations": -1}})),
            ("answers: 'a': seconds: is nan", data, quad(answers={"a": {"r": np.zeros(n), "seconds": np.nan}})),
            ("answers: 'a': law: is 'x'", usage, quad(answers={"a": {"r": np.zeros(n), "law": "x"}})),
            ("step: 'mass' is not one of block_rows", usage, lambda: problem_of({**step, "mass": 1})),
            ("blocks: cone is missing", usage, lambda: problem_of({k: v for k, v in step.items() if k != "cone"})),
            ("blocks: block_rows is missing", usage, lambda: problem_of({"G": np.eye(3)})),
            ("needs G and g, or M, J and v_free", usage, lambda: problem_of({"block_rows": [0, 1], "cone": [0]})),
            ("bounds must be numbers with lower <= upper", data, lambda: problem_of(
                {"block_rows": [0, 1], "cone": [0], "lower": [2.0], "upper": [1.0], "G": np.eye(1)}))):
        try:
            call()
        except conebench.Error as error:
            check(words in str(error) and error.code == code and "\n" not in str(error), f"{error.code}: {error}")
        else:
            raise SystemExit(f"FAILED: nothing is refused where it should be: {words}")
    diverged = conebench.problem(**{**given, "answers": {"blew up": np.full(n, np.nan)}})
    check(not conebench.judge(diverged, diverged.answers["blew up"].r).solved,
          "an engine may answer NaN, which solves nothing")
    check(conebench.problem(np.eye(1), [-1.0], blocks=[conebench.friction([])], normal="first").contacts == 1,
          "a contact of a normal alone")


kinds_of_arrays()
refusals()
with tempfile.TemporaryDirectory() as name:
    rows_without_blocks(pathlib.Path(name))
    everything(pathlib.Path(name))
