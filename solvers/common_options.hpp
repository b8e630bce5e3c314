#pragma once

#include "solvers/registry.hpp"

namespace conebench {

/// Adds the options that solvers have in common to a row (SolverRow::common), whatever the algorithm:
/// - `units=force`: it solves for λ/Δt, so that own tests, penalties and proximal terms count forces [N] as 002 does.
/// - `stall` (where `has_iterates`): it also ends, as `stalled`, where the impulse that it would return changes by no
///   more than this share of it from one iteration to the next. For solvers that show every iterate to the monitor.
///   Not so STAGGERED, which also looks from within its turns, where its impulse stands still without having stalled;
///   APGD, which shows the best impulse so far, the same for many iterations; and Lemke's methods, whose pivots are no
///   approximations: two may have one impulse (a degenerate pivot) far from the answer.
SolverRow with_common_options(SolverRow row, bool has_iterates);

}  // namespace conebench
