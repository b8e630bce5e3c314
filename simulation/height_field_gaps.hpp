#pragma once

#include <mujoco/mujoco.h>

namespace conebench::simulation {

/// Takes the search margin [m] out of gaps and positions of MuJoCo's contacts with height fields (2.2.2, the one that
/// is run here). It raises the field's upper side by the margin along z and swells the other shape by half of it, and
/// reports the distance of what it then has: on a face a gap too small by margin (n_z + 1/2), n pointing out of the
/// field; by margin / 2 on a side wall or the base. That is exact where a face touches a corner or a face touches a
/// face; where the field's edges or corners touch, gap and normal stay wrong by the order of margin / radius of the
/// shape there. Spheres and capsules have better ones (height_field_contacts.hpp).
void correct_height_field_gaps(const mjModel& model, mjData& data, double margin);

}  // namespace conebench::simulation
