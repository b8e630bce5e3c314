#pragma once

#include "solvers/registry.hpp"

namespace conebench {

/// MISBEHAVE: a projected Gauss–Seidel iteration that, on request, hangs, crashes, leaks, lies or answers nonsense. It
/// proves that the runner survives all that. CONEBENCH_TEST_MODE in the environment stands for mode=none. In the table
/// only where CONEBENCH_TEST_SOLVERS=1 is in the environment.
SolverRow misbehave_row();

/// Whether the environment asks for the rows in this folder.
bool test_solvers_wanted();

}  // namespace conebench
