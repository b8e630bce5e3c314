#pragma once

#include <string>

#include "base/result.hpp"

namespace conebench::cli {

/// `judge FOLDER --submission`: a store of the verdicts of answers that were sent in.
struct SubmissionRequest {
  std::string folder, suite, data, store;
  bool json = false;
};

/// The exit code: not_run where some answers could not be judged, nothing_measured where none could. Errors:
/// wrong_usage: no suite or store named; bad_input: the manifest, the suite's files, or the store exists.
Result<int> judge_submission(const SubmissionRequest& request);

}  // namespace conebench::cli
