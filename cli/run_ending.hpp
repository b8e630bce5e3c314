#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runners/execute/gates.hpp"
#include "runners/execute/sweep.hpp"

namespace conebench::cli {

/// A sweep that has ended, with the verdict on its cells.
struct EndedRun {
  std::string suite;  ///< as it was given
  std::string store;
  std::string baseline;  ///< empty: none
  std::string part;      ///< option that left no cells: "--shard 2/8"
  long jobs = 1;
  SweepOutcome outcome;
  SweepVerdict verdict;
};

/// The exit code of `conebench run` (exit_code_table()) and its reasons, a line each.
struct Ending {
  int code = 0;
  std::vector<std::string> reasons;
};
Ending ending_of(const EndedRun& run);

/// Prints what this run did, the harness's overhead and the statuses of its cells. Noise goes to standard error.
void print_ended(const EndedRun& run);
/// The same as JSON, with the ending (docs/command_line.md).
nlohmann::json to_json(const EndedRun& run, const Ending& ending);

/// Problems without a solve, as reports have it: "2 supported by no solver, 0 could not be loaded".
template <class Outcome>
std::string left_out(const Outcome& outcome) {
  return std::to_string(outcome.untaken_problems) + " supported by no solver, " + std::to_string(outcome.bad_problems) +
         " could not be loaded";
}

}  // namespace conebench::cli
