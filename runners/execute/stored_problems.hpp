#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "runners/plan/problem_source.hpp"
#include "runners/plan/sampled_scene.hpp"
#include "store/records.hpp"

namespace conebench {

struct StoredProblemOptions {
  std::filesystem::path data;                 ///< as SweepOptions::data
  std::filesystem::path environment;          ///< the folder in CONEBENCH_DATA; empty where it is not set
  std::filesystem::path cache;                ///< folder for scenes that are written as FCLIB
  std::span<const SampledScene> scenes = {};  ///< the simulated ones that suites may name
  std::string family = {};                    ///< whose samples are simulated where they are missing; empty: all
};

/// The problems of a store, made again by the suites of its runs.
class StoredProblems {
 public:
  /// A run whose data is gone costs no more than its own problems; the error is that of the first one, where no run's
  /// data is there (bad_input).
  static Result<StoredProblems> list(const std::vector<RunRecord>& runs, const StoredProblemOptions& options);
  /// A problem, or the members of a batch. Errors (bad_input): it can't be loaded, or is another one now.
  Result<std::vector<ContactProblem>> load(const ProblemRecord& record) const;

 private:
  StoredProblemOptions options_;
  /// By the source that records name. Runs with other data folders may each have a file of that name.
  std::map<std::string, std::vector<ProblemSource>> sources_;
};

}  // namespace conebench
