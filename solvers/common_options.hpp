#pragma once

#include "solvers/registry.hpp"

namespace conebench {

/// Who sees that a solver stands still.
enum class StallTest {
  none,       ///< Lemke's methods: two pivots may have one impulse (a degenerate one) far from the answer
  on_shown,   ///< the monitor: the solver shows it every iterate
  by_solver,  ///< the solver: STAGGERED looks from within its turns, too, APGD shows its best only
};

/// The option of a solver that tests it itself: `share`, 0 for no test.
void declare_stall(OptionBinder& bind, double& share);

/// Adds the options that solvers have in common to a row (SolverRow::common), whatever the algorithm:
/// - `units=force`: it solves for λ/Δt, so that own tests, penalties and proximal terms count forces [N] as 002 does.
/// - `stall` (but for StallTest::none): it also ends, as `stalled`, where its impulse changes by less than this share
/// of
///   it from one iteration to the next.
/// A setting without it is the same as one of 0, so that older records stay comparable.
/// And the border at which a problem with rolling friction is scaled (problems/rolling_units.hpp), for rows that take
/// it.
SolverRow with_common_options(SolverRow row, StallTest stall);

}  // namespace conebench
