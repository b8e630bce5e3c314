#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The rows FP-DS, FP-VI and FP-EG.
std::vector<SolverRow> fixed_point_rows();

}  // namespace conebench
