#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench::gauss_seidel {

/// The rows of NSGS, PGS-NCP, PGS-NCP-SAFE, PGS-CCP and PGS-CCP-DS: one sweep (sweep.hpp) with different one-contact
/// solvers.
std::vector<SolverRow> solver_rows();

}  // namespace conebench::gauss_seidel
