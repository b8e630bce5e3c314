#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// Makes solvers of a table slower by a known share, with the same answers and counts, so that tests and
/// scripts/compare_check.py know what a comparison has to find. CONEBENCH_TEST_BURN in the environment says which, as
/// "ID[,ID…]:PERCENT[:key=value…]": the solvers (* for all), and the problems by `contacts=LEAST-MOST` or `share=0.33`
/// (those whose hash falls into that share). `min_ms=T` makes prepare and solve take T milliseconds each by the clock,
/// whatever the machine is doing besides. Only with CONEBENCH_TEST_SOLVERS=1; a text that makes no sense is an
/// exception, as a comparison without its change would pass for a proof.
void burn_as_wanted(std::vector<SolverRow>& table);

}  // namespace conebench
