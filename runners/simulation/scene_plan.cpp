#include "runners/simulation/scene_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace conebench::simulation {

namespace {

bool has(const std::vector<OptionSpec>& specs, const std::string& name) {
  return std::any_of(specs.begin(), specs.end(), [&](const OptionSpec& spec) { return spec.name == name; });
}

std::vector<OptionSpec> sampling_specs() {
  SampleOptions defaults;
  OptionBinder binder;
  SampleOptions::declare(binder, defaults);
  return binder.specs();
}

}  // namespace

std::vector<OptionSpec> common_options() {
  SimulationOptions simulation;
  SampleOptions sampling;
  OptionBinder binder;
  SimulationOptions::declare(binder, simulation);
  SampleOptions::declare(binder, sampling);
  return binder.specs();
}

std::vector<OptionSpec> all_options(const SimulatedSceneRow& scene) {
  std::vector<OptionSpec> specs = scene.options;
  for (OptionSpec& spec : common_options()) specs.push_back(std::move(spec));
  return specs;
}

Result<ScenePlan> plan_scene(const SimulatedSceneRow& scene, const OptionValues& values, std::uint64_t seed) {
  ScenePlan plan;
  plan.values = values;
  plan.seed = seed;
  plan.family = plan.name = scene.id;
  OptionValues of_scene, of_others;
  for (const auto& [key, value] : values) {
    (has(scene.options, key) ? of_scene : of_others)[key] = value;
    if (!has(sampling_specs(), key)) plan.name += fmt::format("_{}={}", key, to_text(value));
  }
  if (seed != 1) plan.name += fmt::format("_seed={}", seed);
  OptionBinder binder;
  SimulationOptions::declare(binder, plan.options);
  SampleOptions::declare(binder, plan.sampling);
  if (auto assigned = binder.assign(of_others); !assigned) {
    return Error{assigned.error().code, fmt::format("scene '{}': {}", scene.id, assigned.error().message)};
  }
  auto model = scene.make(of_scene, seed);
  if (!model) return model.error();
  plan.model = std::move(*model);
  return plan;
}

Result<Simulation> simulate(const ScenePlan& plan) {
  return Simulation::create(plan.model, plan.options, plan.seed, plan.family, plan.name);
}

}  // namespace conebench::simulation
