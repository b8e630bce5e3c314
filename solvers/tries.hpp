#pragma once

#include "solvers/monitor.hpp"

namespace conebench {

/// What a solver that can't be asked while it runs needs of a monitor, beside the verdict: it tries one stop rule of
/// its own after another, each from the start. Monitors that time a solve have it.
class Tries {
 public:
  virtual ~Tries() = default;
  /// All that the solver has done so far is thrown away, and its next try begins. Only the last try's time is the
  /// solve's.
  virtual void start_over() = 0;
  /// The last verdict over what it must not exceed; NaN where none was looked at.
  virtual double verdict_ratio() const = 0;
};

/// Those of `monitor`; nullptr where nobody counts them.
inline Tries* tries_of(Monitor& monitor) { return dynamic_cast<Tries*>(&monitor); }

}  // namespace conebench
