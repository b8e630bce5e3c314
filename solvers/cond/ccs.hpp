#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The row CCS.
std::vector<SolverRow> ccs_rows();

}  // namespace conebench
