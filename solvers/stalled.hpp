#pragma once

#include "solvers/solver.hpp"

/// SolveSummary::message of a solve that ends as stalled; short, since that is not to allocate. The runner says it at
/// length.
namespace conebench::stalled_by {

inline constexpr const char* rounding = "stands still";   ///< StallWindow
inline constexpr const char* option = "below stall";      ///< the option of common_options.hpp
inline constexpr const char* stages = "no stage left";    ///< of CASCADE
inline constexpr const char* joints = "joints disagree";  ///< nothing else is left to solve

}  // namespace conebench::stalled_by

namespace conebench {

/// The summary of a solve that ends here, for a reason of stalled_by.
inline SolveSummary stalled_as(SolveSummary summary, const char* reason, double own_residual) {
  summary.status = SolveStatus::stalled;
  summary.message = reason;
  summary.own_residual = own_residual;
  return summary;
}

}  // namespace conebench
