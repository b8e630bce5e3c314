#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "simulation/sampling.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "simulation/simulation.hpp"

namespace conebench::simulation {

/// A scene with its parameters, ready to be simulated and sampled.
struct ScenePlan {
  SimulatedModel model;
  SimulationOptions options;
  SampleOptions sampling;
  OptionValues values;  ///< as they were set
  std::uint64_t seed = 1;
  std::string family;  ///< the scene's id, or the stem of a model's file
  std::string name;    ///< family, values that were set (but for those of the sampling) and the seed, unless it is 1
};

/// The common options that do nothing in this scene, which has not got them.
std::vector<std::string> idle_options(const SimulatedSceneRow& scene);
/// All options of a scene as users see them: its own, then the simulation's and the sampling's.
std::vector<OptionSpec> all_options(const SimulatedSceneRow& scene);
/// Those of the sampling alone: they decide which steps become samples, and not what the steps are.
std::vector<OptionSpec> sampling_options();
/// Those that every scene has, but for idle ones.
std::vector<OptionSpec> common_options();

/// Sorts `values` out. Errors: those of the scene; wrong_usage for an unknown or idle option or a value
/// out of range.
Result<ScenePlan> plan_scene(const SimulatedSceneRow& scene, const OptionValues& values, std::uint64_t seed);

/// What may give a simulation samples that had no step with a row.
std::string advice_without_rows(const ScenePlan& plan);

/// `own`: see Simulation::create.
Result<Simulation> simulate(const ScenePlan& plan, std::unique_ptr<Solver> own = nullptr);

}  // namespace conebench::simulation
