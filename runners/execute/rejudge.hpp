#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runners/plan/sampled_scene.hpp"
#include "store/store.hpp"

namespace conebench {

struct RejudgeOptions {
  std::filesystem::path data;                 ///< as SweepOptions::data
  std::filesystem::path environment;          ///< the folder in CONEBENCH_DATA; empty where it is not set
  std::filesystem::path cache;                ///< folder for scenes that are written as FCLIB
  std::span<const SampledScene> scenes = {};  ///< the simulated ones that suites may name
  /// Told after every cell; may be empty.
  std::function<void(long done, long total)> progress;
};

struct RejudgeOutcome {
  long cells = 0;           ///< in the store
  long judged = 0;          ///< with an answer, judged anew
  long without_answer = 0;  ///< crashed, unsupported, …: nothing to judge
  long unavailable = 0;     ///< their problem can't be loaded again, or is another one by now; left as they were
  long newly_solved = 0;
  long newly_unsolved = 0;
  long certificates_dropped = 0;   ///< marks of problems without a solution that their stored z doesn't prove
  std::vector<std::string> notes;  ///< one line for each problem that was left out
};

/// Loads every problem of the store again by the suites that its runs keep, and replaces the residuals, verdict and
/// modes of every stored answer by what this build's judge says. Times, counters and answers stay. A problem stays
/// infeasible where its certificate is still one.
/// Errors: the store's; bad_input where a suite's files are found nowhere.
Result<RejudgeOutcome> rejudge(Store& store, const RejudgeOptions& options);

}  // namespace conebench
