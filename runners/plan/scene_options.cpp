#include "runners/plan/scene_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/option_parsing.hpp"
#include "base/suggestion.hpp"
#include "runners/plan/grid.hpp"
#include "scenes/scene_table.hpp"

namespace conebench {

Result<void> SceneOptions::check(OptionValues& values) const {
  if (simulated) drop_empty_list(values, "solver_options");
  return check_options(specs, values);
}

Result<SceneOptions> scene_options(const std::string& scene, std::span<const SampledScene> scenes) {
  std::vector<std::string> simulated;
  for (const SampledScene& row : scenes) {
    if (row.id == scene) return SceneOptions{&row, row.options};
    simulated.push_back(row.id);
  }
  const auto row = require_scene(scene);
  if (row) return SceneOptions{nullptr, (*row)->options};
  if (simulated.empty()) return row.error();
  return Error{row.error().code, fmt::format("{}; {}simulated: {}", row.error().message, did_you_mean(scene, simulated),
                                             fmt::join(simulated, ", "))};
}

}  // namespace conebench
