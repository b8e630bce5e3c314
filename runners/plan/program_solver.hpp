#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// A program that solves, as docs/program_protocol.md says.
struct SolverProgram {
  std::vector<std::string> words;  ///< the program and its arguments
  std::filesystem::path scratch;   ///< folder for problems and answers
};

/// What the program says of itself: the text of its reply to a request "describe". Errors (bad_input), one line.
Result<std::string> describe_program(const SolverProgram& program);

/// The program is started for each run. It is given no reference answer, and G, unless `primal`: then M and J where
/// they are known.
std::unique_ptr<Solver> make_program_solver(const SolverProgram& program, SolverInfo info, const OptionValues& options,
                                            bool primal);

}  // namespace conebench
