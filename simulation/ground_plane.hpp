#pragma once

#include <mujoco/mujoco.h>

namespace conebench::simulation {

/// The height of the lowest point of shapes that touch [m], 0 without one. `data` has the shapes' poses.
double lowest_point(const mjModel& model, const mjData& data);

}  // namespace conebench::simulation
