#pragma once

#include <cstdint>
#include <vector>

#include "problems/cone_product.hpp"
#include "simulation/engine.hpp"

namespace conebench::simulation {

/// Follows contacts from step to step: MuJoCo numbers them anew each time. A contact is the one of the step before
/// between the same two shapes whose point is nearest, seen from either body, within a radius; else it is a new one.
class ContactIdentities {
 public:
  /// radius [m]
  explicit ContactIdentities(double radius) : radius_(radius) {}

  /// The identity of each contact: a number that no other contact of the simulation has had.
  std::vector<std::int64_t> follow(const std::vector<ContactPoint>& contacts);

 private:
  struct Known {
    ContactPoint contact;
    std::int64_t identity;
  };
  double radius_;
  std::int64_t next_ = 0;
  std::vector<Known> known_;
};

/// The last step's impulses, to start the next solve from.
class WarmStart {
 public:
  void keep(const Mechanics& mechanics, const std::vector<std::int64_t>& identities, const Vector& impulse);
  /// λ for the rows of `mechanics`: of joints by row, of limits by name, of contacts by identity and turned into the
  /// new frame; 0 for what was not there.
  Vector guess(const Mechanics& mechanics, const std::vector<std::int64_t>& identities) const;

 private:
  /// In the world's axes: of the force, and of the moment that friction against turning has.
  struct Impulse {
    Eigen::Vector3d linear = Eigen::Vector3d::Zero(), angular = Eigen::Vector3d::Zero();
  };
  Vector joints_;
  std::vector<std::pair<int, double>> limits_, bounded_;    ///< by name
  std::vector<std::pair<std::int64_t, Impulse>> contacts_;  ///< by identity
};

}  // namespace conebench::simulation
