#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The row DVI.
std::vector<SolverRow> dvi_rows();

}  // namespace conebench
