#pragma once

#include "base/result.hpp"
#include "runners/programs/solver_program.hpp"

namespace conebench {

/// A folder for one request's files, gone at the end.
class RequestFolder {
 public:
  explicit RequestFolder(const std::filesystem::path& scratch);
  ~RequestFolder();
  RequestFolder(const RequestFolder&) = delete;
  RequestFolder& operator=(const RequestFolder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// What the program may use; 0: what this process may.
struct ProgramLimits {
  double cpu_s = 0.0;
  double wall_s = 0.0;  ///< 0: for ever
  double file_mb = 0.0;
};

/// Starts the program on a request, waits for its end and takes the answer. What it started ends with it, also what has
/// left its group; no other thread may fork meanwhile.
/// Errors (bad_input), one line: how it ended and what it said last; no end within wall_s; no reply, or one that is no
/// JSON object.
Result<ProgramReply> run_once(const SolverProgram& program, nlohmann::json request, const RequestFolder& folder,
                              const ProgramLimits& limits, const TakeAnswer& take = {});

}  // namespace conebench
