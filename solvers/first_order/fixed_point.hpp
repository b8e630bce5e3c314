#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The rows FP-DS, FP-VI, FP-EG and FP-FBF.
std::vector<SolverRow> fixed_point_rows();

}  // namespace conebench
