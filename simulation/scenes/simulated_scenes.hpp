#pragma once

#include "simulation/scenes/simulated_scene.hpp"

namespace conebench {

/// One row each; the table in simulated_scene_table.cpp lists them. Of Tsounis's Table II, stand-ins for its
/// proprietary ones:
SimulatedSceneRow box_on_plane_scene();
SimulatedSceneRow boxes_fixed_scene();
SimulatedSceneRow nunchuk_scene();
SimulatedSceneRow fourbar_scene();
SimulatedSceneRow arm7d_scene();
SimulatedSceneRow quadruped_scene();
SimulatedSceneRow bdx_scene();
SimulatedSceneRow lima_scene();
SimulatedSceneRow misha_scene();
SimulatedSceneRow walker_scene();
SimulatedSceneRow gazelle_scene();
SimulatedSceneRow ironman_scene();
// FCLIB's families:
SimulatedSceneRow fclib_boxes_stack_scene();
SimulatedSceneRow fclib_chain_scene();
SimulatedSceneRow fclib_capsules_scene();
SimulatedSceneRow fclib_kapla_tower_scene();
SimulatedSceneRow fclib_spheres_scene();
SimulatedSceneRow fclib_chute_scene();
SimulatedSceneRow fclib_primitive_soup_scene();
// Carpentier24's and LeLidec24's:
SimulatedSceneRow cube_stack_hit_scene();
SimulatedSceneRow two_cubes_scene();
SimulatedSceneRow cube_sliding_scene();
SimulatedSceneRow cube_dragged_scene();
SimulatedSceneRow humanoid_scene();
SimulatedSceneRow hand_scene();
SimulatedSceneRow arm_on_wall_scene();
// Yamane's:
SimulatedSceneRow humanoid_squat_scene();
SimulatedSceneRow humanoid_tap_scene();
SimulatedSceneRow hoist_scene();
SimulatedSceneRow net_scene();
SimulatedSceneRow ring_scene();
// Lee23's and one more of elastic bodies:
SimulatedSceneRow soft_drop_scene();
SimulatedSceneRow soft_mat_scene();
SimulatedSceneRow soft_ball_grip_scene();
SimulatedSceneRow soft_gripper_scene();
SimulatedSceneRow cable_winding_scene();
SimulatedSceneRow box_penalty_scene();
SimulatedSceneRow box_anisotropic_scene();
// Anybody's:
SimulatedSceneRow model_file_scene();

}  // namespace conebench
