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

/// Declares `threads`, "threads `that …`": 1 is the default and starts none. A suite's axis `threads` is this option.
void declare_threads(OptionBinder& bind, long& threads, const std::string& that);

/// Adds the common options to a row (SolverRow::common):
/// - `units=force`: it solves for λ/Δt, so that own tests, penalties and proximal terms count forces [N] as LeLidec24
/// does.
/// - `stall` (but for StallTest::none): it also ends, as `stalled`, where its impulse changes by less than this share
/// of
///   it from one iteration to the next.
/// - `islands` (but for foreign code and solvers that run in a process of their own): each island of the problem is
///   solved apart (solvers/island_solver.hpp).
/// A configuration without it is the same as one of 0, so that older records stay comparable.
/// And the border at which a problem whose rows need scaling (problems/scaled_rows.hpp) is scaled: contacts whose
/// coefficients differ by direction reach the solver as isotropic ones.
SolverRow with_common_options(SolverRow row, StallTest stall);

}  // namespace conebench
