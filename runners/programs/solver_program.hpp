#pragma once

#include <filesystem>
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
  double wall_s = 0.0;       ///< from its start, or from the request's line, to its end, or to the reply's line
  double processor_s = 0.0;  ///< that it used meanwhile
};

}  // namespace conebench
