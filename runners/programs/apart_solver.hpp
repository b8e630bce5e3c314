#pragma once

#include <memory>

#include "base/options.hpp"
#include "base/result.hpp"
#include "solvers/registry.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// A solver of the table whose solves each run in a forked process, set-up included: what its code does there ends that
/// process alone. A kept program lives on from solve to solve.
///
/// After `seconds` of set-up and solve the monitor says out_of_time; a second later the process is killed, unless a
/// kept program was started for this solve: it has a minute more. A solve without an answer leaves the guess as its
/// impulse and has the reason as its message: its status is `time_limit` where it was killed, `unsupported` where the
/// set-up refuses the problem, and `breakdown` with Breakdown::error where the process crashed or exited, or the solver
/// threw. The monitor runs in the other process; what it learns stays there. Errors: those of row.make.
Result<std::unique_ptr<Solver>> make_apart(const SolverRow& row, const OptionValues& options, double seconds);

}  // namespace conebench
