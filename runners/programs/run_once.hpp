#pragma once

#include "base/result.hpp"
#include "runners/programs/solver_program.hpp"

namespace conebench {

/// A folder for one request's files. The destructor removes it.
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

/// Limits of the program; 0: those of this process.
struct ProgramLimits {
  double cpu_s = 0.0;
  double wall_s = 0.0;  ///< 0: none
  double file_mb = 0.0;
};

/// Starts the program on a request, waits for its end and takes the answer. Its descendants are killed at its end, also
/// those in other process groups. No other thread may fork meanwhile. Errors (bad_input), one line: how it ended and
/// its last output; wall_s exceeded; no reply, or a reply that is no JSON object.
Result<ProgramReply> run_once(const SolverProgram& program, nlohmann::json request, const RequestFolder& folder,
                              const ProgramLimits& limits, const TakeAnswer& take = {});

}  // namespace conebench
