#pragma once

#include "solvers/registry.hpp"

namespace conebench {

/// MISBEHAVE: a projected Gauss–Seidel iteration that, on request, hangs, crashes, leaks, lies or answers nonsense. It
/// proves that the runner survives all that. CONEBENCH_TEST_MODE in the environment stands for mode=none.
SolverRow misbehave_row();

/// Whether CONEBENCH_TEST_SOLVERS=1 is in the environment.
bool test_solvers_wanted();

}  // namespace conebench
