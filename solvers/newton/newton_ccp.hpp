#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The row NEWTON-CCP.
std::vector<SolverRow> newton_ccp_rows();

}  // namespace conebench
