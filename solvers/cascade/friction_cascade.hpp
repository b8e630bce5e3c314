#pragma once

#include <memory>

#include "solvers/solver.hpp"

namespace conebench::cascade {

/// `coulomb` for problems whose contacts have Coulomb's friction alone; for others, whose cones do not fit into blocks
/// of three, stages in the order of their cost: sweeps of NSGS, the proximal path from zero (cone_path.hpp),
/// ADMM-NCP-SA-S, the path from the best point, and sweeps to the end. From points on the way of sweeps and ADMM, at
/// iterations further and further apart, Newton's steps take the last digits. `info`: of the whole.
std::unique_ptr<Solver> with_friction_cones(SolverInfo info, std::unique_ptr<Solver> coulomb);

}  // namespace conebench::cascade
