#pragma once

#include <mujoco/mujoco.h>

namespace conebench::simulation {

/// Adds the points that MuJoCo leaves out where two capsules lie along each other: it finds the nearest one alone
/// unless they are exactly parallel, and in the next step another, metres away. On either side of the point found, an
/// end of one capsule and what is nearest to it on the other make a contact where they are as near as `margin` [m] and
/// at least a radius away from that point. Returns false where the list of contacts has no room for them all.
bool add_points_of_capsules(const mjModel& model, mjData& data, double margin);

}  // namespace conebench::simulation
