#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace conebench::cli {

struct ChildEnding {
  bool interrupted = false;
  int code = 0;       ///< the exit code; that of internal errors where a signal ended it
  std::string words;  ///< its last on standard error (and on standard output, where that goes to no file)
};

/// Runs this executable with the words of a command line, the first being its own name. `printed`: a file that takes
/// its standard output; empty: none. Errors (killed): the system refuses a process.
Result<ChildEnding> run_self(const std::vector<std::string>& words, const std::atomic<bool>* stop,
                             const std::filesystem::path& printed = {});

/// The same of another program, looked up in PATH; 127 where there is none.
Result<ChildEnding> run_program(const std::vector<std::string>& words, const std::atomic<bool>* stop);

}  // namespace conebench::cli
