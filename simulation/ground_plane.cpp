#include "simulation/ground_plane.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace conebench::simulation {

namespace {

/// How far a shape reaches down from its centre, with `down` the world's −z in its axes [m].
double reach_down(const mjModel& m, int geom, const mjtNum* down) {
  const mjtNum* const size = m.geom_size + 3 * geom;
  const double across = std::hypot(down[0], down[1]);
  switch (m.geom_type[geom]) {
    case mjGEOM_SPHERE: return size[0];
    case mjGEOM_CAPSULE: return size[0] + size[1] * std::abs(down[2]);
    case mjGEOM_CYLINDER: return size[0] * across + size[1] * std::abs(down[2]);
    case mjGEOM_BOX: return size[0] * std::abs(down[0]) + size[1] * std::abs(down[1]) + size[2] * std::abs(down[2]);
    case mjGEOM_ELLIPSOID: return std::hypot(size[0] * down[0], size[1] * down[1], size[2] * down[2]);
    case mjGEOM_MESH: {
      const int mesh = m.geom_dataid[geom];
      double reach = -std::numeric_limits<double>::infinity();
      for (int v = 0; v < m.mesh_vertnum[mesh]; ++v) {
        const float* const vertex = m.mesh_vert + 3 * (m.mesh_vertadr[mesh] + v);
        reach = std::max(reach, vertex[0] * down[0] + vertex[1] * down[1] + vertex[2] * down[2]);
      }
      return reach;
    }
    default: return m.geom_rbound[geom];
  }
}

}  // namespace

double lowest_point(const mjModel& m, const mjData& d) {
  double lowest = std::numeric_limits<double>::infinity();
  for (int g = 0; g < m.ngeom; ++g) {
    if (m.geom_contype[g] == 0 && m.geom_conaffinity[g] == 0) continue;
    const mjtNum* const axes = d.geom_xmat + 9 * g;
    const mjtNum down[3] = {-axes[6], -axes[7], -axes[8]};
    lowest = std::min(lowest, d.geom_xpos[3 * g + 2] - reach_down(m, g, down));
  }
  return std::isfinite(lowest) ? lowest : 0.0;
}

}  // namespace conebench::simulation
