#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runners/execute/gates.hpp"
#include "runners/execute/sweep.hpp"

namespace conebench::cli {

/// A sweep that has ended, with what its cells say.
struct EndedRun {
  std::string suite;  ///< as it was given
  std::string store;
  std::string base;  ///< empty: none
  std::string part;  ///< what cut the cells, for a run without any: "--shard 2/8"
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

/// What this run did, what the harness took of it, and the statuses of its cells; the noise goes to standard error.
void print_ended(const EndedRun& run);
/// The same for scripts, with the ending: docs/command_line.md has the keys.
nlohmann::json to_json(const EndedRun& run, const Ending& ending);

/// Problems without a solve, in the reports' words: "2 taken by no solver, 0 could not be loaded".
template <class Outcome>
std::string left_out(const Outcome& outcome) {
  return std::to_string(outcome.untaken_problems) + " taken by no solver, " + std::to_string(outcome.bad_problems) +
         " could not be loaded";
}

}  // namespace conebench::cli
