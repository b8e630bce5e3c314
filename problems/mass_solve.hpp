#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "problems/diagonal_blocks.hpp"
#include "problems/types.hpp"

namespace conebench {

/// ‖M − Mᵀ‖_F / ‖M‖_F, entries whose squares overflow included; 0 where M is empty or zero.
double asymmetry(const SparseMatrix& matrix);

/// M − Mᵀ is rounding relative to M (1e-12 in the Frobenius norm), entries whose squares overflow included. True where
/// M is empty or zero.
bool nearly_symmetric(const SparseMatrix& matrix);

/// Whether no more than some hundreds of M's rows hang together anywhere (rigid bodies, mechanisms).
bool in_small_blocks(const SparseMatrix& mass);

/// A mass matrix M, n × n, factored once, to solve with as often as wanted. A cheap handle to shared, immutable data.
///
/// Where M falls apart in small blocks (rigid bodies), their inverses are formed, so that a solve costs what its result
/// holds; else M is factored by sparse L Lᵀ, or by LU where it is not symmetric positive definite.
class FactoredMass {
 public:
  /// Nothing where M is singular to working precision, whatever the units of its rows.
  static std::optional<FactoredMass> create(const SparseMatrix& mass);

  Index size() const;
  /// Whether M falls apart in small blocks: then M⁻¹ Jᵀ is sparse where J is.
  bool in_small_blocks() const;
  /// Whether M was factored as L Lᵀ: symmetric, positive definite, and not in small blocks.
  bool has_root() const;
  /// M⁻¹ B, n × k; the columns' rows ascend.
  SparseMatrix solve(const SparseMatrix& right) const;
  Vector solve(const Vector& right) const;
  /// Columns ← M⁻¹ columns, n × k.
  void solve_in_place(Eigen::Ref<Matrix> columns) const;
  /// The diagonal blocks of Bᵀ M⁻¹ B for the columns B (n × rows) that `blocks` numbers: (L⁻¹ B_i)ᵀ (L⁻¹ B_i), by
  /// forward solves alone, and those only along the paths of the elimination tree from B_i's rows to its root. Where
  /// has_root().
  void fill_diagonal(const SparseMatrix& columns, DiagonalBlocks& blocks) const;

  struct Data;

 private:
  explicit FactoredMass(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

}  // namespace conebench
