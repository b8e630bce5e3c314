#include "simulation/scene_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <utility>

#include "base/option_parsing.hpp"
#include "simulation/loop_solver.hpp"
#include "simulation/scenes/urdf.hpp"

namespace conebench::simulation {

namespace {

bool has(const std::vector<OptionSpec>& specs, const std::string& name) {
  return std::any_of(specs.begin(), specs.end(), [&](const OptionSpec& spec) { return spec.name == name; });
}

/// The stem of a model's file, as scenes are named: no underscore, which ends the family in a sample's name.
std::string file_word(const std::string& file) {
  std::string word = std::filesystem::path(file).stem().string();
  for (char& c : word) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  }
  return word.empty() ? "file" : word;
}

/// Bodies of the elastic engine have no actuators, no limits and no joints that are rows.
bool does_nothing(const SimulatedSceneRow& scene, const std::string& option) {
  static const std::set<std::string> of_joints = {
      "armature", "passive",      "coordinates",      "control",          "control_amplitude", "control_period",
      "drives",   "limit_margin", "baumgarte_joints", "baumgarte_limits", "joint_compliance",  "soft_joints"};
  // Only capsules touch each other, and only their contacts move on both bodies.
  static const std::set<std::string> of_capsules = {"self_contact", "identity_radius"};
  return scene.elastic &&
         (of_joints.contains(option) || (of_capsules.contains(option) && !scene.loop.contains("self_contact")));
}

}  // namespace

std::vector<std::string> idle_options(const SimulatedSceneRow& scene) {
  std::vector<std::string> names;
  for (const OptionSpec& spec : common_options()) {
    if (does_nothing(scene, spec.name)) names.push_back(spec.name);
  }
  return names;
}

std::vector<OptionSpec> sampling_options() {
  SampleOptions defaults;
  OptionBinder binder;
  SampleOptions::declare(binder, defaults);
  return binder.specs();
}

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
  for (OptionSpec& spec : common_options()) {
    if (does_nothing(scene, spec.name)) continue;
    if (const auto own = scene.loop.find(spec.name); own != scene.loop.end()) spec.default_value = own->second;
    specs.push_back(std::move(spec));
  }
  return specs;
}

Result<ScenePlan> plan_scene(const SimulatedSceneRow& scene, const OptionValues& values, std::uint64_t seed) {
  ScenePlan plan;
  plan.values = values;
  drop_empty_list(plan.values, "solver_options");
  plan.seed = seed;
  OptionValues of_scene;
  OptionValues of_others = scene.loop;
  for (const auto& [key, value] : values) {
    if (does_nothing(scene, key)) {
      return Error{ErrorCode::wrong_usage,
                   fmt::format("scene '{}': option '{}' does nothing here; leave it out", scene.id, key)};
    }
    (has(scene.options, key) ? of_scene : of_others)[key] = value;
  }
  OptionBinder binder;
  SimulationOptions::declare(binder, plan.options);
  SampleOptions::declare(binder, plan.sampling);
  CONEBENCH_CHECK(binder.assign(of_others).within(fmt::format("scene '{}'", scene.id)));
  if (!plan.options.solver_options.empty()) {
    CONEBENCH_CHECK(
        loop_solver(plan.options.solver, plan.options.solver_options).within(fmt::format("scene '{}'", scene.id)));
  }
  const SampleOptions& s = plan.sampling;
  for (const char* const name : {"categories", "bands", "per_stratum"}) {
    if (s.sample == "stratified" || !values.contains(name)) continue;
    return Error{ErrorCode::wrong_usage,
                 fmt::format("scene '{}': option '{}' is for stratified samples alone, and sample={}; set "
                             "sample=stratified too, or leave it out",
                             scene.id, name, s.sample)};
  }
  CONEBENCH_CHECK(Strata::create(s.categories, s.bands, s.per_stratum).within(fmt::format("scene '{}'", scene.id)));
  CONEBENCH_TRY(plan.model, scene.make(of_scene, seed));
  const bool of_file = !plan.model.source_file.empty();
  plan.family = plan.name = of_file ? file_word(plan.model.source_file) : scene.id;
  for (const auto& [key, value] : plan.values) {
    if (has(sampling_options(), key) || (of_file && (key == "path" || key == "package_dir"))) continue;
    plan.name += fmt::format("_{}={}", key, to_text(value));
  }
  if (seed != 1) plan.name += fmt::format("_seed={}", seed);
  return plan;
}

std::string advice_without_rows(const ScenePlan& plan) {
  const std::string longer = "simulate more steps";
  if (plan.model.source_file.empty()) return longer;
  if (!is_urdf(plan.model.mjcf)) return longer + ", or give the model something to touch";
  const auto base = plan.values.find("base");
  const bool fixed = base == plan.values.end() || to_text(base->second) != "free";
  if (fixed && !plan.model.ground) return "a URDF's root is fixed and has no ground: set base=free and ground=plane";
  if (fixed) return "a URDF's root is fixed: set base=free";
  if (!plan.model.ground) return "nothing is under the robot: set ground=plane";
  return longer;
}

Result<Simulation> simulate(const ScenePlan& plan, std::unique_ptr<Solver> own) {
  return Simulation::create(plan.model, plan.options, plan.seed, plan.family, plan.name, std::move(own));
}

}  // namespace conebench::simulation
