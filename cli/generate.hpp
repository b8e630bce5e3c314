#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/foreign_code.hpp"
#include "simulation/sample_folder.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "simulation/trajectory.hpp"

namespace conebench::cli {

struct GenerateArguments {
  std::string scene;
  std::string all;           ///< folder of models, in place of a scene
  double time_limit = 60.0;  ///< of each of them [s]
  std::string folder;
  std::vector<std::string> set_values;
  long steps = 0;  ///< 0: the scene's default
  long seed = 1;
  bool replace = false;
  bool picture = false;
  simulation::TrajectoryOptions trajectory;
  ForeignCode code;
  std::string on_unsolved;  ///< continue, stop or frictionless; empty: not given
  bool json = false;
};

/// Error: an argument that only simulations take.
Result<void> refuse_simulation(const GenerateArguments& arguments);

/// Makes room for samples: what an earlier run of the same request left is removed, anything else only with `replace`.
/// Errors (bad_input): the folder holds another run's samples, or a list that can't be read.
Result<void> clear_sample_folder(const std::filesystem::path& folder, const simulation::SampleRequest& request,
                                 bool replace);

/// Writes copies of FCLIB files with perturbed free terms and friction, for a set that no solver was tuned on. A file
/// that can't be read or written is reported and skipped. Errors: no file matches.
Result<int> generate_perturbed(const GenerateArguments& arguments);

/// Simulates the scene and writes its samples, their list, and its trajectory. Errors: those of the
/// simulation (samples written before stay); bad_input: the folder holds another run's samples.
Result<int> generate_samples(const SimulatedSceneRow& scene, const GenerateArguments& arguments);

}  // namespace conebench::cli
