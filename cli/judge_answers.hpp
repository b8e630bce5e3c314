#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace conebench::cli {

/// `judge FILE --answers`: what the answers are worth that came with the steps of a recording, or with one problem.
struct AnswersRequest {
  std::string file;
  double tolerance = 1e-6;
  std::vector<std::string> solvers;  ///< solve the same steps
  std::string page;                  ///< file; empty: none
  bool all = false;                  ///< every step, not only the worst
  bool json = false;
  bool require_solved = false;
};

/// The exit code. Errors (bad_input): no file, no answers in it; wrong_usage: an unknown solver.
Result<int> judge_answers(const AnswersRequest& request);

}  // namespace conebench::cli
