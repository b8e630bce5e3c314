#pragma once

#include "simulation/scenes/soft_model.hpp"

namespace conebench::simulation {

/// From a shape's surface to a point, in the shape's frame.
struct ShapeDistance {
  double gap = 0.0;        ///< [m], negative inside
  Eigen::Vector3d normal;  ///< outwards, of unit length
};
ShapeDistance distance_to(const Shape& shape, const Eigen::Vector3d& point);

/// Columns t1, t2, n of a right-handed frame that is the world's for n = e_z (Duff and others 2017).
Eigen::Matrix3d frame_of(const Eigen::Vector3d& normal);

}  // namespace conebench::simulation
