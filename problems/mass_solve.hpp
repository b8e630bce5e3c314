#pragma once

#include <optional>

#include "problems/types.hpp"

namespace conebench {

/// M⁻¹ B for a mass matrix M, n × n, and a sparse B, n × k; nothing where M is singular to working precision, whatever
/// the units of its rows. Neither needs any row or column.
///
/// Where M falls apart in small blocks (rigid bodies), their inverses are formed, which costs what the result holds;
/// else M is factored by sparse L D Lᵀ, or by LU where it is not symmetric positive definite.
std::optional<SparseMatrix> solve_mass(const SparseMatrix& mass, const SparseMatrix& right);

}  // namespace conebench
