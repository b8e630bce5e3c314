#pragma once

#include <Eigen/Core>
#include <vector>

#include "scenes/random_source.hpp"

namespace conebench {

/// Spheres that were dropped one after the other.
struct SphereDeposit {
  std::vector<Eigen::Vector3d> centres;
  std::vector<double> radii;
};

/// What they fall on: the plane z = 0, and, where width > 0, four walls around 0 … width in x and y; else they fall
/// within a disc about the axis z.
struct DepositPlan {
  std::vector<double> radii;
  double width = 0.0;       ///< of the box [m]
  double spread = 1.0;      ///< radius of that disc without a box [m]
  double rest_slope = 0.0;  ///< sine of the slope on which a sphere no longer rolls
};

/// Drops spheres at random places (W. M. Visscher and M. Bolsterli, "Random packing of equal and unequal spheres in two
/// and three dimensions", 1972): each falls until it touches, rolls down without friction along the steepest way on
/// those that lie already, and stays where it can't go down, on three supports, or where the way is no steeper than
/// rest_slope. Spheres that lie don't move again. Overlaps and the gaps at supports are below 1e-4 of the smallest
/// radius. The same numbers give the same deposit.
///
/// It rolls by steps that shrink where they no longer lead down: one downwards, then out of whatever it overlaps.
SphereDeposit deposit_spheres(const DepositPlan& plan, RandomSource& random);

/// Two spheres, or one and the plane or a wall (second < 0), whose gap is at most `margin`; gap [m].
struct DepositContact {
  int first, second;
  Eigen::Vector3d point;
  Eigen::Vector3d normal;  ///< unit, from `second` to `first`
  double gap;
};
std::vector<DepositContact> contacts_of(const SphereDeposit& deposit, double width, double margin);

}  // namespace conebench
