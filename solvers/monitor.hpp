#pragma once

#include "problems/types.hpp"

namespace conebench {

struct ProblemPart;  // problems/islands.hpp

enum class Decision {
  keep_going,
  accept,       ///< the answer is good enough by the stop_by in force
  out_of_time,  ///< the deadline has passed
};

/// The iteration after `iteration` at which a verdict is checked: 1, 2, 3, …, then in steps of ×1.1.
inline long next_check(long iteration) { return iteration + (iteration < 10 ? 1 : iteration / 10); }

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

  /// For a solver that solves the parts of its problem one after the other. From now on only the rows of `part` change,
  /// and the verdict is theirs, measured by the scale of the whole; it goes on from part to part, so an accepted part
  /// ends no solve. Null: the verdict is that of the whole again. Iterates remain those of the whole, and so do the
  /// numbers of iterations, of which `begun` are done. A monitor that never accepts need not know of parts.
  virtual void turn_to(const ProblemPart* /*part*/, long /*begun*/) {}

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
