#pragma once

#include "simulation/scenes/figure.hpp"

namespace conebench {

/// What a leg or an arm is made of; weights in units of the figure's lightest body.
struct LimbSizes {
  double upper = 0.4;  ///< [m]
  double lower = 0.4;
  double radius = 0.05;
  double upper_weight = 8.0;
  double lower_weight = 5.0;
  double end_weight = 2.0;      ///< ankle and foot, wrist and hand
  double housing_weight = 1.0;  ///< of bodies between hinges that stand close together
};

/// A leg that hangs from `root`: hinges at the hip (yaw, roll, pitch), knee (pitch) and ankle (pitch, roll), bent by
/// `crouch` [rad] with the foot level; the hip's pitch leads. The foot is `tip`, in the last segment's frame.
Limb humanoid_leg(const std::string& name, const mjcf::Vec3& root, const LimbSizes& sizes, double crouch);

/// An arm that hangs from `root`: shoulder (pitch, roll), then up to five more hinges: yaw, elbow (pitch), wrist (yaw,
/// pitch, roll).
Limb humanoid_arm(const std::string& name, const mjcf::Vec3& root, const LimbSizes& sizes, int hinges);

/// A flat foot whose sole is a polygon, elongated along x: a sphere in each of its corners carries it, so that every
/// corner is a contact.
void add_foot(Limb& limb, int corners, double half_length, double half_width, double radius = 0.01);

/// A quadruped: trunk and four legs of three hinges, hip (roll), hip (pitch), knee (pitch).
Figure quadruped_figure(double lightest, double trunk_weight);

}  // namespace conebench
