#pragma once

#include <memory>

#include "solvers/solver.hpp"

namespace conebench {

/// `coulomb` for problems without rolling friction; for those with it, stages in the order of their cost: sweeps of
/// NSGS, then ADMM-NCP-SA-S, and from points on the way of both, at iterations further and further apart, a few steps
/// of NSN-NM, which take the last digits; sweeps again where the ADMM ends short. `info`: of the whole.
std::unique_ptr<Solver> with_rolling_friction(SolverInfo info, std::unique_ptr<Solver> coulomb);

}  // namespace conebench
