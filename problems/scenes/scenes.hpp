#pragma once

#include "problems/scenes/scene_table.hpp"

namespace conebench {

/// One row each; the table in scene_table.cpp lists them.
SceneRow random_scene();
SceneRow box_stack_scene();

}  // namespace conebench
