#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file_stamp.hpp"

namespace conebench {

/// A program that solves, as docs/program_protocol.md says.
struct SolverProgram {
  std::vector<std::string> words;  ///< the program and its arguments
  std::filesystem::path scratch;   ///< folder for problems and answers
  std::vector<FileStamp> files;    ///< those of `words` that are files, as they were when their content was hashed
  bool serves = false;             ///< it stays alive and gets one request a line
};

/// Bytes. Nothing in a reply grows with the problem: the answer has a file of its own.
inline constexpr std::size_t largest_reply = 1 << 16;
inline constexpr const char* too_long =
    "its reply has more than 64 KB, or a line that it printed; answers go to their file";

/// What a program answered to one request, and what that took as seen from outside.
struct ProgramReply {
  nlohmann::json said;       ///< an object
  double wall_s = 0.0;       ///< from its start, or before it is continued, until its answer has been taken
  double processor_s = 0.0;  ///< that it used meanwhile
};

/// Takes the answer to a request, which lies in a file, when the reply has come and while the clock still runs: what a
/// program does later wins it nothing.
using TakeAnswer = std::function<void()>;

}  // namespace conebench
