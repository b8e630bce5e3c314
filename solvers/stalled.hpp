#pragma once

#include "solvers/solver.hpp"

namespace conebench {

/// The summary of a solve that ends here.
inline SolveSummary stalled_as(SolveSummary summary, Stall stall, double own_residual) {
  summary.status = SolveStatus::stalled;
  summary.stall = stall;
  summary.own_residual = own_residual;
  return summary;
}

}  // namespace conebench
