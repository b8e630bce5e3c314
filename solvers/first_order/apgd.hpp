#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The row APGD-CCP.
std::vector<SolverRow> apgd_rows();

}  // namespace conebench
