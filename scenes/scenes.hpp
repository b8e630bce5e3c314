#pragma once

#include "scenes/scene_table.hpp"

namespace conebench {

/// One row each; the table in scene_table.cpp lists them.
SceneRow sliding_box_scene();
SceneRow box_on_slope_scene();
SceneRow box_stack_scene();
SceneRow sphere_lattice_scene();
SceneRow sphere_pack_scene();
SceneRow masonry_arch_scene();
SceneRow aqueduct_scene();
SceneRow soft_block_scene();
SceneRow elastic_wall_scene();
SceneRow joint_friction_pendulum_scene();
SceneRow drive_effort_limit_scene();
SceneRow coupled_joints_scene();
SceneRow tendon_scene();
SceneRow given_impulse_scene();
SceneRow spinning_disc_scene();
SceneRow ball_on_slope_scene();
SceneRow orthotropic_block_scene();
SceneRow stiff_mechanism_scene();
SceneRow random_scene();
SceneRow known_solution_scene();

}  // namespace conebench
