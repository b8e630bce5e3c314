#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

#include "problems/result.hpp"
#include "reports/paper/sample.hpp"
#include "reports/paper/trajectory_source.hpp"
#include "runners/execute/progress.hpp"

namespace conebench::cli {

/// Simulates those of `sources` that `folder` does not hold yet as this executable makes them, each by a `conebench
/// generate` of its own. False where it was interrupted. Errors: those of that command.
Result<bool> make_trajectories(const std::vector<paper::TrajectorySource>& sources, const std::filesystem::path& folder,
                               const std::atomic<bool>* interrupted, Progress& progress);

/// The steps of all of them, each compared with its reference. Errors: as read_trajectory and trajectory_error.
Result<std::vector<paper::Sample>> trajectory_samples(const std::vector<paper::TrajectorySource>& sources,
                                                      const std::filesystem::path& folder);

}  // namespace conebench::cli
