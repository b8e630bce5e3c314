#include "scenes/scene_table.hpp"
#include "base/suggestion.hpp"

#include <algorithm>

#include "scenes/scenes.hpp"

namespace conebench {

namespace {

std::vector<SceneRow> make_table() {
  return {
      sliding_box_scene(),
      box_on_slope_scene(),
      box_stack_scene(),
      sphere_lattice_scene(),
      joint_friction_pendulum_scene(),
      drive_effort_limit_scene(),
      coupled_joints_scene(),
      tendon_scene(),
      given_impulse_scene(),
      spinning_disc_scene(),
      ball_on_slope_scene(),
      orthotropic_block_scene(),
      sphere_pack_scene(),
      masonry_arch_scene(),
      aqueduct_scene(),
      soft_block_scene(),
      elastic_wall_scene(),
      stiff_mechanism_scene(),
      random_scene(),
      known_solution_scene(),
  };
}

}  // namespace

std::span<const SceneRow> scene_table() {
  static const std::vector<SceneRow> table = make_table();
  return table;
}

Result<const SceneRow*> require_scene(const std::string& id) {
  const auto table = scene_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const SceneRow& row) { return row.id == id; });
  if (found != table.end()) return &*found;
  std::string known;
  std::vector<std::string> ids;
  for (const auto& row : table) {
    known += (known.empty() ? "" : ", ") + row.id;
    ids.push_back(row.id);
  }
  return Error{ErrorCode::wrong_usage, "unknown scene '" + id + "'; " + did_you_mean(id, ids) + "known: " + known};
}

}  // namespace conebench
