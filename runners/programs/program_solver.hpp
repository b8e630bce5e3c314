#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "runners/programs/solver_program.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// What the program says of itself: the text of its reply to a request "describe". Errors (bad_input), one line.
Result<std::string> describe_program(const SolverProgram& program);

/// The option of all programs that says whose times are the cell's.
OptionSpec times_option();

/// The program is started, or asked where it serves, for each run; what it takes from there to its answer is the time
/// of solve. It is given no reference answer, and G, unless `primal`: then M and J where they are known. `options`: its
/// own and times_option().
std::unique_ptr<Solver> make_program_solver(const SolverProgram& program, SolverInfo info, OptionValues options,
                                            bool primal);

}  // namespace conebench
