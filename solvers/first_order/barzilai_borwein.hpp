#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The rows BB-CCP and BB-NCP.
std::vector<SolverRow> barzilai_borwein_rows();

}  // namespace conebench
