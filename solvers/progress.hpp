#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "solvers/monitor.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// What a solver's loop asks after an iteration: whether to stop, and as what. Of the stop rule and the monitor alone;
/// nothing of the solve is kept.
class SolveProgress {
 public:
  SolveProgress(const StopRule& stop, Monitor& monitor) : stop_(stop), monitor_(monitor) {}

  const StopRule& stop() const { return stop_; }
  /// The paper's own test, where that decides.
  bool passes(double own_residual) const {
    return stop_.criterion == Criterion::own && own_residual <= stop_.tolerance;
  }

  /// After iteration k: `diverged` where the solver's own measure is no number any more, `converged` where it passes or
  /// the monitor accepts, `time_limit`. `iterate`: the impulse that the solver would return now [N s], or a function
  /// that brings it there and returns it, called only where somebody looks. `last`: the solver is about to give up, so
  /// the monitor is asked off its schedule.
  template <class Iterate>
  std::optional<SolveStatus> after(long k, double own_residual, const Iterate& iterate, bool last = false) const {
    if (!std::isfinite(own_residual)) return SolveStatus::diverged;
    if (passes(own_residual)) return SolveStatus::converged;
    return check(k, own_residual, iterate, last);
  }

  /// The monitor's part of it, for a solver without a measure of its own (NaN), or with one that it seldom knows.
  template <class Iterate>
  std::optional<SolveStatus> check(long k, double own_residual, const Iterate& iterate, bool last = false) const {
    if (!last && !monitor_.should_check(k)) return std::nullopt;
    Decision decision;
    if constexpr (std::is_invocable_v<Iterate>) {
      decision = ask(k, iterate(), own_residual, last);
    } else {
      decision = ask(k, iterate, own_residual, last);
    }
    if (decision == Decision::accept) return SolveStatus::converged;
    if (decision == Decision::out_of_time) return SolveStatus::time_limit;
    return std::nullopt;
  }

 private:
  Decision ask(long k, ConstVectorRef impulse, double own_residual, bool last) const {
    return last ? monitor_.propose(k, impulse, own_residual) : monitor_.observe(k, impulse, own_residual);
  }

  const StopRule& stop_;
  Monitor& monitor_;
};

/// Counts iterations on end that move by no more than rounding.
class StallWindow {
 public:
  /// Whether the iteration stalls. `change`, `size`: of the iterate, in one unit.
  bool after(double change, double size) {
    still_ = change <= 4.0 * std::numeric_limits<double>::epsilon() * size ? still_ + 1 : 0;
    return still_ >= length;
  }

 private:
  static constexpr int length = 20;
  int still_ = 0;
};

/// The summary of a solve that ends here.
inline SolveSummary ended_as(SolveSummary summary, SolveStatus status, double own_residual) {
  summary.status = status;
  summary.own_residual = own_residual;
  return summary;
}

}  // namespace conebench
