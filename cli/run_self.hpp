#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace conebench::cli {

struct ChildEnding {
  bool interrupted = false;
  int code = 0;             ///< the exit code; that of internal errors if a signal ended it
  std::string last_output;  ///< of standard error, and of standard output unless it goes to a file
};

/// Runs this executable with these arguments; the first is its own name. `printed`: file for its standard output;
/// empty: none. Errors (killed): the system refuses a process.
Result<ChildEnding> run_self(const std::vector<std::string>& arguments, const std::atomic<bool>* stop,
                             const std::filesystem::path& printed = {});

/// The same for another program, searched in PATH; exit code 127: not found.
Result<ChildEnding> run_program(const std::vector<std::string>& arguments, const std::atomic<bool>* stop);

}  // namespace conebench::cli
