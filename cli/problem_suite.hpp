#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/foreign_code.hpp"
#include "runners/plan/suite.hpp"

namespace conebench::cli {

/// The parts of a suite, as a command line has them.
struct ProblemSuiteArguments {
  std::vector<std::string> problems;  ///< files, recordings, their steps, folders, scenes
  std::string solvers;                ///< the lists have commas between their items
  std::vector<std::string> grid;      ///< "SOLVER.option=v1,v2"; of one solver also "option=v1,v2"
  std::string tolerances, start, verdict;
  double seconds = 0.0;  ///< a cell's limit; 0: the suite's default
  long iterations = 0;   ///< the same
};

/// The suite of these problems and solvers. Its text has absolute paths, so that it means the same in every folder.
/// Errors (wrong_usage, bad_input): no such file, folder or scene, a folder without problems, those of parse_suite.
Result<Suite> make_problem_suite(const ProblemSuiteArguments& arguments, const ForeignCode& code);

}  // namespace conebench::cli
