#pragma once

#include "problems/cones/coulomb.hpp"

namespace conebench {

/// Coulomb's friction in the plane, rows (t, n): {|x_t| ≤ mu x_n}.
struct CoulombPlane : CoulombCone<2> {};

}  // namespace conebench
