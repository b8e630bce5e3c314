#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "runners/simulation/trajectory.hpp"
#include "scenes/simulated/simulated_scene.hpp"

namespace conebench::cli {

struct GenerateArguments {
  std::string scene;
  std::string folder;
  std::vector<std::string> settings;
  long steps = 0;  ///< 0: as the scene says
  long seed = 1;
  bool replace = false;
  bool picture = false;
  simulation::TrajectoryOptions trajectory;
  bool json = false;
};

/// Makes the folder where it is missing. Errors: bad_input.
Result<std::monostate> make_folder(const std::string& folder);

/// Simulates the scene and writes its samples, their list, and its trajectory. Errors: those of the
/// simulation, what was written before stays; bad_input where the folder holds another run's samples.
Result<int> generate_samples(const SimulatedSceneRow& scene, const GenerateArguments& arguments);

}  // namespace conebench::cli
