#include "simulation/deformable/shape_distance.hpp"

#include <algorithm>
#include <cmath>

namespace conebench::simulation {

namespace {

/// Of a box of any dimension, by the distances to its faces: how far `point` is outside along each axis.
ShapeDistance to_faces(const Eigen::Vector3d& outside, const Eigen::Matrix3d& directions) {
  ShapeDistance result;
  int nearest = 0;
  if (outside.maxCoeff(&nearest) <= 0.0) return {outside[nearest], directions.col(nearest)};
  const Eigen::Vector3d past = outside.cwiseMax(0.0);
  result.gap = past.norm();
  result.normal = directions * past / result.gap;
  return result;
}

}  // namespace

ShapeDistance distance_to(const Shape& shape, const Eigen::Vector3d& point) {
  switch (shape.kind) {
    case Shape::Kind::plane: return {point[2], Eigen::Vector3d::UnitZ()};
    case Shape::Kind::sphere: {
      const double length = point.norm();
      return {length - shape.size[0], length > 0.0 ? Eigen::Vector3d(point / length) : Eigen::Vector3d::UnitZ()};
    }
    case Shape::Kind::box: {
      const Eigen::Vector3d side = point.unaryExpr([](double x) { return x < 0.0 ? -1.0 : 1.0; });
      return to_faces(point.cwiseAbs() - shape.size, side.asDiagonal());
    }
    case Shape::Kind::cylinder: {
      const double radius = std::hypot(point[0], point[1]);
      Eigen::Matrix3d directions = Eigen::Matrix3d::Identity();
      if (radius > 0.0) directions.col(0) << point[0] / radius, point[1] / radius, 0.0;
      directions.col(2) *= point[2] < 0.0 ? -1.0 : 1.0;
      // Across the other two there is no third face.
      return to_faces({radius - shape.size[0], -1e300, std::abs(point[2]) - shape.size[1]}, directions);
    }
  }
  return {};
}

Eigen::Matrix3d frame_of(const Eigen::Vector3d& n) {
  const double sign = std::copysign(1.0, n[2]);
  const double a = -1.0 / (sign + n[2]), b = n[0] * n[1] * a;
  Eigen::Matrix3d frame;
  frame.col(0) << 1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0];
  frame.col(1) << b, sign + n[1] * n[1] * a, -n[1];
  frame.col(2) = n;
  return frame;
}

}  // namespace conebench::simulation
