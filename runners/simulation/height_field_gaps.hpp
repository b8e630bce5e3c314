#pragma once

#include <mujoco/mujoco.h>

namespace conebench::simulation {

/// Takes MuJoCo's search margin [m] out of the gaps and places of contacts with height fields. It raises the field by
/// the margin along its z axis and swells the other shape by half of it, and reports the distance of what it then has:
/// a gap too small by margin (n_z + 1/2), n pointing out of the field. (Seen in 2.2.2; later sources up to 3.x read the
/// same.)
void correct_height_field_gaps(const mjModel& model, mjData& data, double margin);

}  // namespace conebench::simulation
