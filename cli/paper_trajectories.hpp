#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "papers/sample.hpp"
#include "papers/trajectory_source.hpp"
#include "runners/execute/progress.hpp"

namespace conebench::cli {

/// Simulates those of `sources` that `folder` does not hold yet as this executable makes them, each by a `conebench
/// generate` of its own. False where it was interrupted. One that blows up is kept as far as it came. Errors: the
/// others of that command.
Result<bool> make_trajectories(const std::vector<papers::TrajectorySource>& sources,
                               const std::filesystem::path& folder, const std::atomic<bool>* interrupted,
                               Progress& progress);

/// What made some of them end early, a line each.
std::vector<std::string> trajectory_failures(const std::vector<papers::TrajectorySource>& sources,
                                             const std::filesystem::path& folder);

/// The steps of all of them, each compared with its reference where both came to their end. Errors: as read_trajectory
/// and trajectory_error.
Result<std::vector<papers::Sample>> trajectory_samples(const std::vector<papers::TrajectorySource>& sources,
                                                       const std::filesystem::path& folder);

}  // namespace conebench::cli
