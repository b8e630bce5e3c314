#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// The rows NSN-AC, NSN-NM and NSN-FB.
std::vector<SolverRow> nonsmooth_newton_rows();

}  // namespace conebench
