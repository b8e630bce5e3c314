#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metrics/trajectory_error.hpp"
#include "papers/sample.hpp"
#include "papers/trajectory_source.hpp"

namespace conebench::papers {

/// What is known of a simulation as a whole.
struct RunFacts {
  std::optional<TrajectoryError> error = {};   ///< against its reference
  bool finished = true;                        ///< it came to its last step
  std::map<std::string, double> numbers = {};  ///< blew_up, failed, steps, and the model's sizes
};

/// Every `source.every`-th step as a sample of the family `source.name`: step.COLUMN are the numbers of trajectory.csv,
/// step.max_force_x … _z the largest components of a contact's force [N] where `impulses` (impulses.csv) is given,
/// run.error, run.largest and run.energy_error those of the error, run.NAME the other numbers of the run, scene.NAME
/// the options that are numbers, scene.seed the seed. Where the simulation ended before its last step, run.finished is
/// 0, not 1, and one more sample, which has no step.COLUMN, stands for the steps that were not reached. Errors
/// (bad_input): impulses.csv can't be read.
Result<std::vector<Sample>> samples_of(const TrajectorySource& source, const Trajectory& trajectory,
                                       const std::filesystem::path& impulses, const RunFacts& facts);

}  // namespace conebench::papers
