#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The row STAGGERED.
std::vector<SolverRow> staggered_rows();

}  // namespace conebench
