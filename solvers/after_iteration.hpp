#pragma once

#include <cmath>
#include <optional>

#include "solvers/monitor.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// What a solver's loop asks after iteration k: the status to stop with, if any. `own_residual` is that of `impulse`;
/// where it is not finite, the iterate has left the numbers.
inline std::optional<SolveStatus> after_iteration(long k, const StopRule& stop, Monitor& monitor,
                                                  ConstVectorRef impulse, double own_residual) {
  if (!std::isfinite(own_residual)) return SolveStatus::diverged;
  const bool own_test = stop.criterion == Criterion::own && own_residual <= stop.tolerance;
  if (monitor.due(k) && !own_test) {
    const Decision decision = monitor.observe(k, impulse, own_residual);
    if (decision == Decision::accept) return SolveStatus::converged;
    if (decision == Decision::out_of_time) return SolveStatus::time_limit;
  }
  if (own_test) return SolveStatus::converged;
  return std::nullopt;
}

/// The summary of a solve that ends here.
inline SolveSummary ended_as(SolveSummary summary, SolveStatus status, double own_residual) {
  summary.status = status;
  summary.own_residual = own_residual;
  return summary;
}

}  // namespace conebench
