#pragma once

#include <filesystem>
#include <vector>

#include "problems/result.hpp"
#include "runners/simulation/scene_plan.hpp"

namespace conebench::simulation {

/// Writes a step's problem as `<name>.hdf5` into the folder, with the loop's impulses as its solution and the warm
/// start as its guess. Errors: those of write_fclib.
Result<std::filesystem::path> write_sample(const StepRecord& record, const std::filesystem::path& folder);

/// The samples of a simulation of so many steps, in their order. They are made where the folder does not have them all
/// yet, and else taken as they are: the folder belongs to this plan and this number of steps. Errors: those of the
/// simulation and of write_sample; what was written stays, and is made again the next time.
Result<std::vector<std::filesystem::path>> samples_in(const std::filesystem::path& folder, const ScenePlan& plan,
                                                      long steps);

/// A problem's name as a file name.
std::string file_name(std::string name);

}  // namespace conebench::simulation
