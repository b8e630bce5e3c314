#pragma once

#include <Eigen/Core>
#include <vector>

#include "scenes/rigid_bodies.hpp"

namespace conebench {

/// A convex polygon in the (x, z) plane, extruded along y: a stone of a masonry.
struct Stone {
  std::vector<Eigen::Vector2d> outline;  ///< (x, z) [m], each corner to the left of the way from the one before
  double front, back;                    ///< y of its faces, front < back [m]
  bool fixed = false;                    ///< part of the ground
  double sink = 0.0;                     ///< speed downwards before the step [m/s]
};

/// A stone's properties from closed forms.
struct StoneMass {
  double volume = 0.0;
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  Eigen::Matrix3d moments = Eigen::Matrix3d::Zero();  ///< inertia about the centre at density 1, world axes [m⁵]
};
StoneMass mass_of(const Stone& stone);

/// A box from (x0, front, z0) to (x1, back, z1).
Stone block(double x0, double x1, double z0, double z1, double front, double back);

/// Where two stones touch, or one and the plane z = 0.
struct StoneContact {
  int first, second;  ///< indices of stones, or RigidBodies::ground
  Eigen::Vector3d point;
  Eigen::Vector3d normal;  ///< unit, from first to second
};

/// The corners of every face that two stones share, that is 4 of two sides that lie on each other and as many as their
/// common polygon has where a back lies on a front; and of the sides that lie on the plane z = 0. Lengths below 1e-9 of
/// the largest stone's are zero. Two fixed stones never touch.
std::vector<StoneContact> contacts_of(const std::vector<Stone>& stones);

}  // namespace conebench
