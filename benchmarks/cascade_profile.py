#!/usr/bin/env python3
"""Where CASCADE's time goes: perf's samples of one problem solved over and over, by part.

    benchmarks/cascade_profile.py build/bin/conebench PROBLEM.hdf5 [SOLVER]
    benchmarks/cascade_profile.py build/bin/conebench EDGE [SOLVER]        a sphere-lattice of EDGE³

Shares of the samples in user space outside the harness. Inlined functions count where they are inlined.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

# The first that matches a symbol (or its library).
PARTS = [
    ("harness", r"lanczos|another_repeat|ResidualEvaluation|OptionBinder|sqlite|crypto|hdf5|ld-linux|libz|adler|xxh|XXH"
                r"|clock_gettime|fclib|json|const_blas_data_mapper<double, long, 1>, 1, false"),
    ("solves", r"(RowLu<\d>|MultifrontalFactor)::(solve|push|pull)|solve_vector|matrix_vector"),
    ("assembly", r"load_row|linearise|PathSystem"),
    ("factorization", r"RowLu<\d>::(factor|eliminate_lower)|RowBlock<\d>|subtract_product"
                      r"|gebp|triangular_solve|partial_lu|gemm|lhs_process|PartialPivLU"),
    ("residuals", r"ScaledProblem::(residual|multiply|velocity)|natural_map|row_product|Search"
                  r"|OwnResid|project_friction|SemismoothNewton::(step|run)|InteriorPoint"),
    ("sweeps", r"ContactSweep|gauss_seidel|slip"),
    ("set-up", r"ScaledProblem::|RowLu<\d>::RowLu|eliminate\b|minimum_degree|prepare|analyse"
               r"|factor_columns|relabel|supernode|introsort|assign_sparse|SparseMatrix"),
]


def main(conebench, what, solver="CASCADE"):
    if what.isdigit():
        folder, problem = ".", {"scene": "sphere-lattice", "options": {k: int(what) for k in ("nx", "ny", "nz")}}
    else:
        folder, problem = os.path.dirname(os.path.abspath(what)), {"fclib": os.path.basename(what)}
    suite = {"name": "profile", "seed": 1, "problems": [problem], "solvers": [solver], "tolerances": [1e-8],
             "stop_by": "judge_timed", "limits": {"iterations": 20000, "seconds": 10, "memory_mb": 4000},
             "repeats": {"min": 20, "min_ms": 4000, "max": 200000}}
    with tempfile.TemporaryDirectory() as scratch:
        path = lambda name: os.path.join(scratch, name)
        with open(path("suite.json"), "w") as file:
            json.dump(suite, file)
        subprocess.run(["perf", "record", "-q", "-F", "2000", "-o", path("perf.data"), conebench, "run", path("suite.json"),
                        "--data", folder, "--db", path("store.sqlite")], check=True, stdout=subprocess.DEVNULL)
        report = subprocess.run(["perf", "report", "-i", path("perf.data"), "--no-children", "--sort", "dso,symbol"],
                                check=True, capture_output=True, text=True).stdout
    shares, rest = collections.Counter(), []
    for line in report.splitlines():
        match = re.match(r"\s*([\d.]+)%\s+(\S+)\s+\[(.)\] (.*)", line)
        if not match or match[3] == "k":
            continue
        part = next((name for name, pattern in PARTS if re.search(pattern, match[2] + " " + match[4])), "rest")
        shares[part] += float(match[1])
        if part == "rest":
            rest.append(f"{match[1]} % {match[4].strip()[:70]}")
    total = sum(share for part, share in shares.items() if part != "harness")
    for part, share in shares.most_common():
        if part != "harness":
            print(f"{part:14} {100 * share / total:5.1f} %")
    print("most of the rest:", "; ".join(rest[:3]))


if __name__ == "__main__":
    main(*sys.argv[1:])
