#include "simulation/ground_plane.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "simulation/mujoco_handle.hpp"

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

double lowest_point(const mjModel& m) {
  const DataHandle data(mj_makeData(&m));
  if (m.nkey > 0) {
    mj_resetDataKeyframe(&m, data.get(), 0);
  } else {
    mj_resetData(&m, data.get());
  }
  mj_kinematics(&m, data.get());
  double lowest = std::numeric_limits<double>::infinity();
  for (int g = 0; g < m.ngeom; ++g) {
    if (m.geom_contype[g] == 0 && m.geom_conaffinity[g] == 0) continue;
    const mjtNum* const axes = data->geom_xmat + 9 * g;
    const mjtNum down[3] = {-axes[6], -axes[7], -axes[8]};
    lowest = std::min(lowest, data->geom_xpos[3 * g + 2] - reach_down(m, g, down));
  }
  return std::isfinite(lowest) ? lowest : 0.0;
}

}  // namespace

std::string with_ground_plane(const mjModel& model) {
  namespace fs = std::filesystem;
  const fs::path file = fs::temp_directory_path() / fmt::format("conebench-ground-{}.xml", ::getpid());
  std::array<char, 1000> error{};
  const int written = mj_saveLastXML(file.c_str(), nullptr, error.data(), static_cast<int>(error.size()));
  std::string text;
  if (std::ifstream stream(file); written != 0 && stream) text.assign(std::istreambuf_iterator<char>(stream), {});
  std::error_code ignored;
  fs::remove(file, ignored);
  const std::string bodies = "<worldbody>";
  const std::size_t at = text.find(bodies);
  if (at == std::string::npos) throw EngineFailure(fmt::format("the model can't be written as MJCF: {}", error.data()));
  return text.insert(at + bodies.size(),
                     fmt::format(R"(<geom type="plane" size="0 0 1" pos="0 0 {:.17g}"/>)", lowest_point(model)));
}

}  // namespace conebench::simulation
