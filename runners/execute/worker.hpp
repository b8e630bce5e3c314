#pragma once

#include <filesystem>
#include <optional>

#include "runners/execute/process.hpp"
#include "runners/execute/solve_cell.hpp"
#include "runners/plan/cell_plan.hpp"
#include "runners/plan/problem_source.hpp"
#include "runners/plan/suite.hpp"

namespace conebench {

/// A forked process with one end of a channel to it.
struct Worker {
  pid_t process = -1;
  Descriptor channel;
};

/// Starts a process that loads one problem, answers FrameKind::surveyed and ends.
std::optional<Worker> start_surveyor(const Suite& suite, const ProblemSource& source,
                                     const std::filesystem::path& cache, const OutputCatcher& output);

/// What a worker needs to know beside its problem; a copy of the runner's by the fork.
struct WorkerPlan {
  const Suite& suite;
  const std::vector<PlannedSetting>& settings;
  const std::vector<PlannedCell>& cells;
  std::filesystem::path cache;
  int pinned_processor = -1;
};

/// Starts a process that loads one problem, answers FrameKind::loaded, and then a FrameKind::cell_done to each
/// cell_request, until the channel is closed.
std::optional<Worker> start_worker(const WorkerPlan& plan, const ProblemSource& source, const OutputCatcher& output);

/// What a cell of the suite asks for.
CellRequest request_of(const Suite& suite, const PlannedSetting& setting, double tolerance);

}  // namespace conebench
