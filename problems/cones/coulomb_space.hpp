#pragma once

#include "problems/cones/coulomb.hpp"

namespace conebench {

/// Coulomb's friction in space, rows (t1, t2, n): {‖x_T‖ ≤ mu x_n}.
struct CoulombSpace : CoulombCone<3> {};

}  // namespace conebench
