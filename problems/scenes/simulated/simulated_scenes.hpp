#pragma once

#include "problems/scenes/simulated/simulated_scene.hpp"

namespace conebench {

/// One row each; the table in simulated_scene_table.cpp lists them.
SimulatedSceneRow box_on_plane_scene();
SimulatedSceneRow model_file_scene();

}  // namespace conebench
