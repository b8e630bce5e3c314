#include "runners/plan/scene_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggestion.hpp"
#include "runners/plan/grid.hpp"
#include "scenes/scene_table.hpp"
#include "simulation/loop_solver.hpp"
#include "simulation/scene_plan.hpp"
#include "simulation/scenes/simulated_scene.hpp"

namespace conebench {

Result<std::monostate> SceneOptions::check(OptionValues& values) const {
  if (simulated) simulation::drop_empty_solver_options(values);
  return check_options(specs, values);
}

Result<SceneOptions> scene_options(const std::string& scene) {
  std::vector<std::string> simulated;
  for (const SimulatedSceneRow& row : simulated_scene_table()) {
    if (row.id == scene) return SceneOptions{true, simulation::all_options(row)};
    simulated.push_back(row.id);
  }
  const auto row = require_scene(scene);
  if (row) return SceneOptions{false, (*row)->options};
  return Error{row.error().code, fmt::format("{}; {}simulated: {}", row.error().message, did_you_mean(scene, simulated),
                                             fmt::join(simulated, ", "))};
}

}  // namespace conebench
