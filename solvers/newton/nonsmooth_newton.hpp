#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The rows NSN-AC and NSN-NM.
std::vector<SolverRow> nonsmooth_newton_rows();

}  // namespace conebench
