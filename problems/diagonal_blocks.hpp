#pragma once

#include <vector>

#include "problems/block_sparse_matrix.hpp"
#include "problems/cone_product.hpp"
#include "problems/types.hpp"

namespace conebench {

/// The blocks G_ii of a Delassus matrix G, one a block of its cones. What a natural map's steps, a sample's coupling
/// and the friction of one contact ask for, without the rest of G.
class DiagonalBlocks {
 public:
  DiagonalBlocks() = default;
  /// All zero.
  explicit DiagonalBlocks(const ConeProduct& cones);
  explicit DiagonalBlocks(const BlockSparseMatrix& matrix);

  Index count() const { return static_cast<Index>(first_row_.size()) - 1; }
  Index row(Index block) const { return first_row_[static_cast<std::size_t>(block)]; }
  int size(Index block) const { return static_cast<int>(row(block + 1) - row(block)); }
  /// size × size, column by column.
  const double* values(Index block) const { return values_.data() + first_value_[static_cast<std::size_t>(block)]; }
  double* values(Index block) { return values_.data() + first_value_[static_cast<std::size_t>(block)]; }
  Eigen::Map<const Matrix> block(Index i) const { return {values(i), size(i), size(i)}; }
  const std::vector<double>& values() const { return values_; }
  /// The diagonal of G, row by row.
  Vector diagonal() const;

 private:
  template <class RowOf>
  void lay_out(Index blocks, RowOf row_of);

  std::vector<Index> first_row_{0};
  std::vector<std::size_t> first_value_;
  std::vector<double> values_;
};

}  // namespace conebench
