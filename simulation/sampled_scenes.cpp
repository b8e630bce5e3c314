#include "simulation/sampled_scenes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "simulation/engine.hpp"
#include "simulation/loop_solver.hpp"
#include "simulation/sample_folder.hpp"
#include "simulation/scene_plan.hpp"

namespace conebench::simulation {

namespace {

/// The version of the code that makes samples; goes up whenever they may differ.
constexpr int simulator_version = 8;

/// With the same solver of another version, or other files, samples come out otherwise.
std::string describe_solver(const SimulationOptions& options) {
  const auto solver = loop_solver(options.solver, options.solver_options);
  if (!solver) return options.solver;
  const SolverInfo& info = solver->row->info;
  const std::string text = fmt::format("{} {} {}", info.id, info.version, solver->label().substr(info.id.size()));
  const std::string code = code_of_solver(info.id);
  return code.empty() ? text : text + " " + code;
}

Result<std::string> model_of(const ScenePlan& plan) {
  // Its meshes and the files that it includes belong to it.
  if (!plan.model.source_file.empty() || plan.model.soft) return model_hash(plan.model, plan.name);
  std::string model = plan.model.mjcf;
  for (const auto& [file, bytes] : plan.model.files) model += bytes;
  return model;
}

std::optional<MadeSamples> made_in(const std::filesystem::path& folder) {
  auto list = whole_list(folder);
  if (!list) return std::nullopt;
  std::error_code ignored;
  MadeSamples made{std::move(list->files), std::move(list->notes),
                   std::filesystem::exists(folder / picture_name, ignored)};
  for (const auto& warning : {loop_warning(*list), strata_warning(*list), trivial_warning(*list)}) {
    if (warning) made.notes.push_back(*warning);
  }
  return made;
}

Result<SampledSimulation> sampled(const SimulatedSceneRow& row, const OptionValues& values, std::uint64_t seed) {
  CONEBENCH_TRY(const auto plan, plan_scene(row, values, seed));
  SampledSimulation simulation;
  simulation.family = plan.family;
  simulation.name = plan.name;
  simulation.values = simulation.of_steps = plan.values;
  for (const OptionSpec& spec : sampling_options()) simulation.of_steps.erase(spec.name);
  simulation.seed = seed;
  simulation.steps = static_cast<long>(plan.model.steps);
  simulation.every = plan.sampling.every;
  simulation.model_file = plan.model.source_file;
  simulation.model = model_of(plan);
  const std::string engine = engine_version(plan.model);
  simulation.version = fmt::format("{} {}", simulator_version, engine);
  simulation.solver = describe_solver(plan.options);
  if (engine.empty()) simulation.missing = missing_engine;
  simulation.make = [plan](const std::filesystem::path& folder, long steps, const std::atomic<bool>* interrupted) {
    return make_samples(folder, plan, steps, interrupted);
  };
  simulation.made = made_in;
  return simulation;
}

}  // namespace

std::span<const SampledScene> sampled_scenes() {
  static const std::vector<SampledScene> table = [] {
    std::vector<SampledScene> rows;
    for (const SimulatedSceneRow& row : simulated_scene_table()) {
      rows.push_back({row.id, all_options(row),
                      [&row](const OptionValues& values, std::uint64_t seed) { return sampled(row, values, seed); }});
    }
    return rows;
  }();
  return table;
}

}  // namespace conebench::simulation
