#pragma once

#include <vector>

#include "solvers/registry.hpp"

namespace conebench {

/// SSN (semi-smooth Newton), IPM (interior point), PPA (proximal point from zero) and
/// CASCADE, which calls them in the order of their cost. See docs/solvers/cascade.md.
std::vector<SolverRow> cascade_rows();

}  // namespace conebench
