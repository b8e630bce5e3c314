#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "solvers/monitor.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// Decides for a solver's loop, after an iteration, whether to stop and with which status. It uses the stop rule and
/// the monitor only, and stores nothing of the solve.
class SolveProgress {
 public:
  SolveProgress(const StopRule& stop, Monitor& monitor) : stop_(stop), monitor_(monitor) {}

  const StopRule& stop() const { return stop_; }
  /// The solver's own test, if stop_by is `solver`.
  bool passes(double own_residual) const { return stop_.stop_by == StopBy::solver && own_residual <= stop_.tolerance; }

  /// After iteration k: `diverged` if the solver's own residual is NaN, `converged` if it passes or the monitor
  /// accepts, `time_limit`. `iterate`: the impulse that the solver would return now [N s], or a function that brings it
  /// there and returns it, called only if there is a check. `last`: the solver is about to give up, so the monitor
  /// checks off its schedule.
  template <class Iterate>
  std::optional<SolveStatus> after(long k, double own_residual, const Iterate& iterate, bool last = false) const {
    if (!std::isfinite(own_residual)) return SolveStatus::diverged;
    if (passes(own_residual)) return SolveStatus::converged;
    return check(k, own_residual, iterate, last);
  }

  /// The monitor's part of it, for a solver without a residual of its own (NaN), or with one that it seldom computes.
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

/// Counts consecutive iterations that move by no more than rounding.
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
