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

/// What is known before the first cell runs.
struct SweepPlan {
  ProblemSet problems;
  std::vector<PlannedSetting> settings;
  std::vector<PlannedCell> cells;
  SuiteScope scope;
  /// Sources that nothing is known of, since what looked at them was killed from outside; they have no cells.
  std::vector<std::string> killed;
  bool interrupted = false;

  /// Indices of the problems that have a cell: a filter or a shard may leave nothing of a problem.
  std::set<std::size_t> asked_for() const;
};

/// For a run: scenes are simulated, and what can't be loaded is told. `known`: problems of the store, whose features
/// are taken from there. Errors as run_sweep.
Result<SweepPlan> make_sweep_plan(const Suite& suite, const SweepOptions& options,
                                  const std::vector<ProblemRecord>& known, Progress& progress);

/// For a look alone, which leaves nothing behind and tells nothing: scenes that have to be simulated are counted by
/// their steps, features found where the filter or a condition asks for them. Errors as run_sweep.
Result<SweepPlan> look_at_sweep(const Suite& suite, const SweepOptions& options, Progress& progress);

/// Fills in what the suite, the options and the plan say of a run that begins now.
void describe_run(const Suite& suite, const SweepOptions& options, const SweepPlan& plan, RunRecord& run);

/// Stores the plan's settings and the problems that it has cells of.
std::optional<Error> put_plan(Store& store, const SweepPlan& plan);

/// The cells that are not stored yet, or to be done again.
struct Work {
  std::vector<std::size_t> to_run;
  long resumed = 0;
};
Work work_left(const SweepPlan& plan, const std::vector<CellRecord>& stored, const std::vector<std::string>& retry);

}  // namespace conebench
