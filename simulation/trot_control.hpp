#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "problems/types.hpp"
#include "simulation/engine.hpp"
#include "simulation/scenes/trot.hpp"

namespace conebench::simulation {

/// A trot that tracks a velocity: the trunk's errors of velocity, height and attitude ask for a wrench, which is shared
/// by least squares among the feet that are to stand and do touch, and cut to their friction cones; those that do not
/// touch yet reach down, and the others swing to where Raibert's rule puts them. Its commands depend on
/// its arguments alone.
class TrotControl {
 public:
  /// ranges: lowest and highest control of each actuator.
  TrotControl(Trot trot, Matrix ranges);

  /// Targets of the servos; the controls of other actuators stay. The state is in reduced coordinates; touching: names
  /// of the bodies that a contact pressed on in the step before.
  Vector at(const State& state, const std::vector<std::string>& touching) const;

 private:
  struct Trunk;
  struct Leg;
  Leg leg_of(std::size_t number, const State& state, const Trunk& trunk,
             const std::vector<std::string>& touching) const;
  Eigen::Vector3d wanted_velocity(double time, const Eigen::Vector2d& position) const;
  double ground_under(const std::vector<Leg>& legs) const;
  std::vector<Eigen::Vector3d> forces(const std::vector<Leg>& legs, const Trunk& trunk, double ground) const;
  Eigen::Vector3d held(const TrotLeg& form, const Leg& leg, const Trunk& trunk, const Eigen::Vector3d& force) const;
  Eigen::Vector3d swung(const TrotLeg& form, const Leg& leg, const Trunk& trunk, double ground) const;

  Trot trot_;
  Matrix ranges_;
};

}  // namespace conebench::simulation
