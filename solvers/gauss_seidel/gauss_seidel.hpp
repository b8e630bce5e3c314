#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench::gauss_seidel {

/// The rows of NSGS, PGS-*, NBGS, RAISIM* and PROX*: one sweep (sweep.hpp) with different one-contact solvers.
std::vector<SolverRow> solver_rows();

}  // namespace conebench::gauss_seidel
