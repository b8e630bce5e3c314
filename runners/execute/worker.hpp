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
#include "runners/plan/problem_survey.hpp"
#include "runners/plan/suite.hpp"

namespace conebench {

/// How often a process that loads, simulates or works is started, where it was terminated externally each time.
inline constexpr int max_worker_kills = 10;

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
  /// By hash: known ranks of problems, whose spectra are not computed again.
  std::map<std::string, std::optional<std::int64_t>> known;
  bool notes = true;  ///< report what can't be loaded
};

/// Starts a process that answers each survey_request (a ProblemOrder of one of `sources`) with FrameKind::surveyed,
/// until the channel is closed.
std::optional<Worker> start_surveyor(const SurveyPlan& plan, const std::vector<ProblemSource>& sources,
                                     const OutputCatcher& output);

/// Starts a process that simulates and writes the samples (SampledSimulation::make), answers FrameKind::simulated and
/// ends.
std::optional<Worker> start_simulator(const std::filesystem::path& folder, const SampledSimulation& plan, long steps,
                                      const OutputCatcher& output);

/// Starts a process that loads one problem (`hash`: as the store has it) and judges the certificate `stored`. If that
/// proves nothing, it searches for a proof that the problem has no solution (metrics/feasibility.hpp). It answers
/// FrameKind::certified and ends.
std::optional<Worker> start_certifier(const std::filesystem::path& cache, const ProblemSource& source,
                                      const std::string& hash, const std::vector<double>& stored, double max_seconds,
                                      const OutputCatcher& output);

/// What a worker needs. The fork copies it.
struct WorkerPlan {
  const Suite& suite;
  const ProblemSet& problems;
  const std::vector<PlannedConfiguration>& configurations;
  const std::vector<PlannedCell>& cells;
  std::filesystem::path cache;
  int pinned_processor = -1;
};

/// Starts a process that loads the problem of each problem_request (a ProblemOrder), answers FrameKind::loaded, and
/// then a FrameKind::cell_done to each cell_request (a CellOrder) of that problem, until the channel is closed.
std::optional<Worker> start_worker(const WorkerPlan& plan, const OutputCatcher& output);

/// The request of a planned cell.
CellRequest request_of(const Suite& suite, const PlannedConfiguration& configuration, const PlannedCell& cell);

}  // namespace conebench
