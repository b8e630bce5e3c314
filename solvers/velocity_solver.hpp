#pragma once

#include "problems/types.hpp"

namespace conebench {

/// The second interface of a solver that searches velocities. Its impulses agree with them to its tolerance only.
class VelocitySolver {
 public:
  virtual ~VelocitySolver() = default;
  /// The velocity of the last solve(), n_v [m/s, rad/s]. The problem must have rows.
  virtual Vector velocity() const = 0;
};

}  // namespace conebench
