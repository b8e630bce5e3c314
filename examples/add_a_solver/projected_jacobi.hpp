#pragma once

#include "solvers/registry.hpp"

namespace example {

/// λ ← P_K(λ − ω r (σ + Γ(σ))) with all contacts at once and r_i = rows / trace(G_ii): the simplest NCP method there
/// is.
conebench::SolverRow projected_jacobi_row();

}  // namespace example
