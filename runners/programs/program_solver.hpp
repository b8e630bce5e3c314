#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "runners/programs/solver_program.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// The text of the program's reply to a request "describe". Errors (bad_input), one line.
Result<std::string> describe_program(const SolverProgram& program);

/// The option of all programs that selects whose clock gives the cell's times.
OptionSpec times_option();

/// A solver that starts the program for each run, or, if it serves, sends it a request. The time until its answer is
/// the solve time. The program gets G, or, with `primal`, M and J if they are known; it gets no reference answer. Where
/// it knows Coulomb's friction alone, elliptic cones are circular in the rows that it gets.
/// `options`: its own and times_option().
std::unique_ptr<Solver> make_program_solver(const SolverProgram& program, SolverInfo info, OptionValues options,
                                            bool primal);

}  // namespace conebench
