#include <algorithm>

#include "base/suggestion.hpp"
#include "simulation/scenes/simulated_scene.hpp"
#include "simulation/scenes/simulated_scenes.hpp"

namespace conebench {

namespace {

std::vector<SimulatedSceneRow> make_table() {
  return {
      box_on_plane_scene(),
      boxes_fixed_scene(),
      nunchuk_scene(),
      fourbar_scene(),
      arm7d_scene(),
      quadruped_scene(),
      bdx_scene(),
      lima_scene(),
      misha_scene(),
      walker_scene(),
      gazelle_scene(),
      ironman_scene(),
      fclib_boxes_stack_scene(),
      fclib_chain_scene(),
      fclib_capsules_scene(),
      fclib_kapla_tower_scene(),
      fclib_spheres_scene(),
      fclib_chute_scene(),
      fclib_primitive_soup_scene(),
      cube_stack_hit_scene(),
      two_cubes_scene(),
      cube_sliding_scene(),
      cube_dragged_scene(),
      humanoid_scene(),
      hand_scene(),
      arm_on_wall_scene(),
      humanoid_squat_scene(),
      humanoid_tap_scene(),
      hoist_scene(),
      net_scene(),
      ring_scene(),
      soft_drop_scene(),
      soft_mat_scene(),
      soft_ball_grip_scene(),
      soft_gripper_scene(),
      cable_winding_scene(),
      box_penalty_scene(),
      box_anisotropic_scene(),
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
  std::vector<std::string> ids;
  for (const auto& row : table) {
    known += (known.empty() ? "" : ", ") + row.id;
    ids.push_back(row.id);
  }
  return Error{ErrorCode::wrong_usage,
               "unknown simulated scene '" + id + "'; " + did_you_mean(id, ids) + "known: " + known};
}

}  // namespace conebench
