#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "problems/types.hpp"

namespace conebench {

/// M − Mᵀ is rounding beside M (1e-12 in the Frobenius norm), entries whose squares overflow included. True where M is
/// empty or zero.
bool nearly_symmetric(const SparseMatrix& matrix);

/// A mass matrix M, n × n, factored once, to solve with as often as wanted. A cheap handle to shared, immutable data.
///
/// Where M falls apart in small blocks (rigid bodies), their inverses are formed, so that a solve costs what its result
/// holds; else M is factored by sparse L D Lᵀ, or by LU where it is not symmetric positive definite.
class FactoredMass {
 public:
  /// Nothing where M is singular to working precision, whatever the units of its rows.
  static std::optional<FactoredMass> create(const SparseMatrix& mass);

  Index size() const;
  /// M⁻¹ B, n × k; the columns' rows ascend.
  SparseMatrix solve(const SparseMatrix& right) const;
  Vector solve(const Vector& right) const;

  struct Data;

 private:
  explicit FactoredMass(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

/// M⁻¹ B, or nothing where M is singular. Neither needs any row or column.
std::optional<SparseMatrix> solve_mass(const SparseMatrix& mass, const SparseMatrix& right);

}  // namespace conebench
