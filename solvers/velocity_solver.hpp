#pragma once

#include "problems/types.hpp"

namespace conebench {

/// What a solver is, too, that looks for velocities and has impulses with them: the two agree to its tolerance alone.
class VelocitySolver {
 public:
  virtual ~VelocitySolver() = default;
  /// Of the last solve(), of a problem with rows: n_v [m/s, rad/s].
  virtual Vector velocity() const = 0;
};

}  // namespace conebench
