#pragma once

#include <mujoco/mujoco.h>

#include <string>

namespace conebench::simulation {

/// The model that was read last as MJCF, with a plane just under the lowest point of its shapes at the start. To the
/// six digits that MuJoCo writes. Throws EngineFailure where it can't be written.
std::string with_ground_plane(const mjModel& model);

}  // namespace conebench::simulation
