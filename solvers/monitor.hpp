#pragma once

#include "problems/types.hpp"

namespace conebench {

enum class Decision {
  keep_going,
  accept,       ///< the answer is good enough by the stop_by in force
  out_of_time,  ///< the deadline has passed
};

/// Watches a solve from outside: applies the verdict, the deadline and the trace. Solvers never read a clock.
///
/// After iteration k (1, 2, …) a solver calls `should_check(k)`, which is cheap enough for every iteration. If it
/// returns true, the solver brings its current impulse into problem units and calls `observe`.
class Monitor {
 public:
  virtual ~Monitor() = default;
  bool should_check(long iteration) const { return iteration >= next_; }
  /// The first iteration for which should_check() is true.
  long next() const { return next_; }

  /// `impulse`: the iterate that the solver would return now, rows() long [N s]. `own_residual`: the solver's own
  /// measure of it, NaN where it has none.
  Decision observe(long iteration, ConstVectorRef impulse, double own_residual) {
    return check(iteration, impulse, own_residual);
  }

  /// For a solver that believes its iterate to be good: the monitor checks the verdict now, off the schedule. No two
  /// calls of observe and propose may have the same `iteration`, so that a repeat can stop at the same one.
  virtual Decision propose(long iteration, ConstVectorRef impulse, double own_residual) {
    return check(iteration, impulse, own_residual);
  }

 protected:
  /// Also sets next_.
  virtual Decision check(long iteration, ConstVectorRef impulse, double own_residual) = 0;
  long next_ = 1;
};

/// Never stops a solve.
class SilentMonitor final : public Monitor {
 public:
  SilentMonitor();

 private:
  Decision check(long, ConstVectorRef, double) override { return Decision::keep_going; }
};

}  // namespace conebench
