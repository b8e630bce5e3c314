#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace conebench {

/// A step of a recording (docs/sample_format.md), which commands call FILE/STEP: "robot.hdf5/000012".
struct StepAddress {
  std::filesystem::path file;  ///< the recording
  std::string step;            ///< the step's group below /steps

  /// What the step's problem is called: "robot_step=000012".
  std::string problem_name() const;
  /// The number in the group's name; nothing where it is none.
  std::optional<std::int64_t> number() const;
};

/// nullopt: `path` is not something below a plain file.
std::optional<StepAddress> step_address(const std::filesystem::path& path);

/// Whether there is a file of that name, or a file in which it would be a step.
bool names_problem_file(const std::filesystem::path& path);

/// The addresses of all steps of a recording, in the order of their numbers; empty: `file` is none. Errors (bad_input):
/// a damaged file, a recording without a step.
Result<std::vector<std::filesystem::path>> recording_steps(const std::filesystem::path& file);

}  // namespace conebench
