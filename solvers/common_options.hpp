#pragma once

#include "solvers/registry.hpp"

namespace conebench {

/// Who detects that a solver stalls.
enum class StallTest {
  none,       ///< Lemke's methods: two pivots may have one impulse (a degenerate one) far from the answer
  on_shown,   ///< the monitor, which sees every iterate
  by_solver,  ///< the solver: STAGGERED checks within its turns, too, APGD shows its best only
};

/// Declares the option for a solver that tests it itself. `share` 0: no test.
void declare_stall(OptionBinder& bind, double& share);

/// Adds the common options to a row (SolverRow::common):
/// - `units=force`: it solves for λ/Δt, so that own tests, penalties and proximal terms count forces [N] as LeLidec24
/// does.
/// - `stall` (but for StallTest::none): it also ends, as `stalled`, where its impulse changes by less than this share
/// of
///   it from one iteration to the next.
/// A configuration without it is the same as one of 0, so that older records stay comparable.
/// And the border at which a problem whose rows need scaling (problems/scaled_rows.hpp) is scaled: contacts whose
/// coefficients differ by direction reach the solver as isotropic ones.
SolverRow with_common_options(SolverRow row, StallTest stall);

}  // namespace conebench
