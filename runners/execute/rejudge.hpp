#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runners/execute/stored_problems.hpp"
#include "store/store.hpp"

namespace conebench {

struct RejudgeOptions {
  StoredProblemOptions problems;
  /// Reported after every cell; may be empty.
  std::function<void(long done, long total)> progress;
};

struct RejudgeOutcome {
  long cells = 0;           ///< in the store
  long judged = 0;          ///< with an answer, judged anew
  long without_answer = 0;  ///< crashed, unsupported, …
  long unavailable = 0;     ///< left unchanged: the problem can't be loaded, or has changed
  long newly_solved = 0;
  long newly_unsolved = 0;
  long certificates_dropped = 0;   ///< marks `infeasible` whose stored certificate z proves nothing
  std::vector<std::string> notes;  ///< one line for each problem that was left out
};

/// Loads every problem of the store again, by the suites of its runs. This build's judge then recomputes residuals,
/// verdict and modes of every stored answer. Times, counters and answers stay. A problem stays infeasible if its
/// certificate still proves it. Errors: the store's; bad_input: a suite's files are not found.
Result<RejudgeOutcome> rejudge(Store& store, const RejudgeOptions& options);

}  // namespace conebench
