#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The rows COND-STRICT, COND-PROX, COND-STRICT-S and COND-PROX-S.
std::vector<SolverRow> cond_rows();

}  // namespace conebench
