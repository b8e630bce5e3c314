#pragma once

#include "solvers/monitor.hpp"

namespace conebench {

/// For a solver that can't be asked while it runs: it solves from the start with one stop rule of its own after
/// another. Each such solve is an attempt. Monitors that time a solve implement this interface.
class Attempts {
 public:
  virtual ~Attempts() = default;
  /// Discards all work so far; the next attempt begins. Only the time of the last attempt is solve time.
  virtual void start_over() = 0;
  /// The last verdict divided by the tolerance. NaN: there was none.
  virtual double verdict_ratio() const = 0;
};

/// nullptr if `monitor` does not count attempts.
inline Attempts* attempts_of(Monitor& monitor) { return dynamic_cast<Attempts*>(&monitor); }

}  // namespace conebench
