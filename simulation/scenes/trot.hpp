#pragma once

#include <array>
#include <string>
#include <vector>

#include "simulation/scenes/figure.hpp"

namespace conebench {

/// A leg as a controller of a trot sees it: hip (roll about x), hip (pitch about y), knee (pitch about y), a round
/// foot.
struct TrotLeg {
  std::string foot_body;            ///< the last segment's
  mjcf::Vec3 root;                  ///< of the first hinge, in the trunk's frame [m]
  double drop = 0.0;                ///< from the first hinge to the second [m]
  double thigh = 0.0, shank = 0.0;  ///< [m]
  double foot = 0.0;                ///< its radius [m]
  double offset = 0.0;              ///< of its swing, as a share of the period
  std::array<double, 3> stiffness;  ///< of the servos [N m/rad]
  std::array<double, 3> damping;    ///< of the joints [N m s/rad]
};

/// What a trot that tracks a velocity must know (simulation/trot.hpp). A model's first joint is then the free
/// one of the trunk, the legs' joints follow, and the last actuators are the legs' servos, in the same order.
struct Trot {
  double speed = 0.0;     ///< wanted along the world's x [m/s]; zero across it and of the heading
  double mass = 0.0;      ///< of all bodies [kg]
  mjcf::Vec3 gravity;     ///< [m/s²]
  double friction = 0.0;  ///< of the feet; no more is asked of them
  double height = 0.0;    ///< of the trunk over the feet on the ground [m]
  std::vector<TrotLeg> legs;
};

/// Of a figure whose limbs are such legs, diagonal ones moving together. Its height is that of the start.
Trot trot_of(const Figure& robot, double speed, double friction, const mjcf::Vec3& gravity);

}  // namespace conebench
