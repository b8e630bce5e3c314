#include <algorithm>

#include "problems/scenes/simulated/simulated_scene.hpp"
#include "problems/scenes/simulated/simulated_scenes.hpp"

namespace conebench {

namespace {

std::vector<SimulatedSceneRow> make_table() {
  return {
      box_on_plane_scene(),
      model_file_scene(),
  };
}

}  // namespace

std::span<const SimulatedSceneRow> simulated_scene_table() {
  static const std::vector<SimulatedSceneRow> table = make_table();
  return table;
}

Result<const SimulatedSceneRow*> require_simulated_scene(const std::string& id) {
  const auto table = simulated_scene_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const SimulatedSceneRow& row) { return row.id == id; });
  if (found != table.end()) return &*found;
  std::string known;
  for (const auto& row : table) known += (known.empty() ? "" : ", ") + row.id;
  return Error{ErrorCode::wrong_usage, "unknown simulated scene '" + id + "'; known: " + known};
}

}  // namespace conebench
