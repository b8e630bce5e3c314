#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
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

/// What every surveyor needs to know.
struct SurveyPlan {
  const Suite& suite;
  std::filesystem::path cache;
  bool features = true;  ///< rank, conditioning and category, too
  /// By hash: ranks of problems whose spectra need not be found again.
  std::map<std::string, std::optional<std::int64_t>> known;
  bool tell = true;  ///< notes what can't be loaded when it is found
};

/// Starts a process that loads one problem, answers FrameKind::surveyed and ends.
std::optional<Worker> start_surveyor(const SurveyPlan& plan, const ProblemSource& source, const OutputCatcher& output);

/// Starts a process that simulates and writes the samples (SampledSimulation::make), answers FrameKind::simulated and
/// ends.
std::optional<Worker> start_simulator(const std::filesystem::path& folder, const SampledSimulation& plan, long steps,
                                      const OutputCatcher& output);

/// Starts a process that loads one problem (`hash`: as the store has it), judges the certificate `stored`, looks for a
/// proof that it has no solution where that is none (metrics/feasibility.hpp), answers FrameKind::certified and ends.
std::optional<Worker> start_certifier(const std::filesystem::path& cache, const ProblemSource& source,
                                      const std::string& hash, const std::vector<double>& stored, double max_seconds,
                                      const OutputCatcher& output);

/// What a worker needs to know beside its problem; a copy of the runner's by the fork.
struct WorkerPlan {
  const Suite& suite;
  const std::vector<PlannedSetting>& settings;
  const std::vector<PlannedCell>& cells;
  std::filesystem::path cache;
  int pinned_processor = -1;
  std::size_t problem = 0;   ///< of the cells that it may be asked for
  std::string problem_hash;  ///< as the store has it
  bool costs_known = false;  ///< those of making what the problem is not given as
};

/// Starts a process that loads one problem, answers FrameKind::loaded, and then a FrameKind::cell_done to each
/// cell_request (a CellOrder), until the channel is closed.
std::optional<Worker> start_worker(const WorkerPlan& plan, const ProblemSource& source, const OutputCatcher& output);

/// What a cell of the suite asks for.
CellRequest request_of(const Suite& suite, const PlannedSetting& setting, const PlannedCell& cell);

}  // namespace conebench
