#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runners/execute/sweep.hpp"
#include "runners/plan/cell_plan.hpp"
#include "runners/plan/problem_survey.hpp"
#include "store/suite_scope.hpp"

namespace conebench {

/// Everything that a sweep knows before its first cell runs.
struct SweepPlan {
  ProblemSet problems;
  std::vector<PlannedConfiguration> configurations;
  std::vector<PlannedCell> cells;
  SuiteScope scope;
  /// Sources without a survey, because their process was terminated externally. They have no cells.
  std::vector<std::string> killed;
  bool interrupted = false;

  /// Indices of the problems that have a cell in this filter and shard.
  std::set<std::size_t> asked_for() const;
};

/// For a run: scenes are simulated, and problems that can't be loaded are noted. `known`: problems of the store, whose
/// features are copied. Errors as run_sweep.
Result<SweepPlan> make_sweep_plan(const Suite& suite, const SweepOptions& options,
                                  const std::vector<ProblemRecord>& known, Progress& progress);

/// For a preview, which writes no files and no notes. Scenes that are not simulated yet are counted by their steps.
/// Features are computed if the filter or a condition needs them. Errors as run_sweep.
Result<SweepPlan> preview_sweep(const Suite& suite, const SweepOptions& options, Progress& progress);

/// Fills the fields of a run that begins now, from the suite, the options and the plan.
void describe_run(const Suite& suite, const SweepOptions& options, const SweepPlan& plan, RunRecord& run);

/// Stores the plan's configurations, and its problems that have cells.
Result<void> put_plan(Store& store, const SweepPlan& plan);

/// The cells to run: those that are not stored yet, or are run again.
struct Work {
  std::vector<std::size_t> to_run;
  long resumed = 0;
};
Work work_left(const SweepPlan& plan, const std::vector<CellRecord>& stored, const std::vector<std::string>& retry);

}  // namespace conebench
