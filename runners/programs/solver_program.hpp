#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file_stamp.hpp"

namespace conebench {

/// A program that solves by docs/program_protocol.md.
struct SolverProgram {
  std::vector<std::string> command;  ///< the program and its arguments
  std::filesystem::path scratch;     ///< folder for problems and answers
  std::vector<FileStamp> files;      ///< arguments that are files, with their state when their content was hashed
  bool serves = false;               ///< it stays alive and gets one request a line
  int protocol = 1;                  ///< the version that it knows
};

/// Versions of docs/program_protocol.md: the first is FCLIB's problems alone.
inline constexpr int protocol_with_cones = 2;
inline constexpr int newest_protocol = 2;

/// Bytes. A reply does not grow with the problem, because the answer is in a file of its own.
inline constexpr std::size_t largest_reply = 1 << 16;
inline constexpr const char* too_long =
    "its reply has more than 64 KB, or a line that it printed; answers go to their file";

/// A program's reply to one request, and the time that it took by this process's clock.
struct ProgramReply {
  nlohmann::json object;     ///< the reply
  double wall_s = 0.0;       ///< from its start or continuation until its answer has been taken
  double processor_s = 0.0;  ///< that it used in this time
};

/// Reads the answer from its file, after the reply and before the clock stops. So a program gains nothing by solving
/// after its reply.
using TakeAnswer = std::function<void()>;

}  // namespace conebench
