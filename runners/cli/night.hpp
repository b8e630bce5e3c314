#pragma once

#include <string>

#include "base/result.hpp"
#include "runners/cli/run_beside.hpp"

namespace conebench::cli {

struct NightlyArguments {
  std::string suite;
  std::string folder;
  std::string data;
  std::string pin;
  std::string fail_on = default_gate;
  long keep = 0;
  bool break_lock = false;
};

/// `conebench nightly`: runs the suite, compares, prints the summary, writes the pages. Returns the exit code.
/// Errors (wrong_usage, bad_input): what stopped it; the next call goes on where it was.
Result<int> run_night(const NightlyArguments& arguments);

}  // namespace conebench::cli
