#pragma once

#include <optional>
#include <vector>

#include "scenes/elastic_mesh.hpp"

namespace conebench {

/// Nodes held by springs to a hand that goes round half a circle in the plane of y and z, about an axis along x, from
/// its greatest y to its smallest, slowly at both ends, and then lets go.
struct SoftGrip {
  std::vector<Index> nodes;
  double stiffness = 1e3;  ///< of each node's spring [N/m]
  double radius = 0.1;     ///< of the circle [m]
  double duration = 3.0;   ///< [s]
};

/// An elastic body above the ground z = 0, which its nodes touch (runners/simulation/soft_engine.hpp).
struct SoftModel {
  TetrahedralMesh mesh;
  double density = 1000.0;  ///< [kg/m³]
  double young = 1e5;       ///< [N/m²]
  double poisson = 0.3;
  double mass_damping = 0.0;        ///< α of D = α M + β K [1/s]
  double stiffness_damping = 1e-3;  ///< β [s]
  double friction = 0.5;            ///< with the ground
  double gravity = 9.81;            ///< downwards [m/s²]
  Vector position, velocity;        ///< of the nodes at the start, 3 each [m, m/s]
  std::optional<SoftGrip> grip = {};
};

}  // namespace conebench
