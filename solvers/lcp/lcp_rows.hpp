#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The rows LEMKE, LEMKE-LEX, LEMKE-ROBUST.
std::vector<SolverRow> lcp_rows();

}  // namespace conebench
