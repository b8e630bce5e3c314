#include "problems/diagonal_blocks.hpp"

#include <algorithm>

namespace conebench {

/// `row_of(i)`: the first row of block i, and the number of rows for i = blocks.
template <class RowOf>
void DiagonalBlocks::lay_out(Index blocks, RowOf row_of) {
  first_row_.resize(static_cast<std::size_t>(blocks) + 1);
  first_value_.resize(static_cast<std::size_t>(blocks));
  std::size_t values = 0;
  for (Index i = 0; i <= blocks; ++i) first_row_[static_cast<std::size_t>(i)] = row_of(i);
  for (Index i = 0; i < blocks; ++i) {
    first_value_[static_cast<std::size_t>(i)] = values;
    values += static_cast<std::size_t>(size(i)) * static_cast<std::size_t>(size(i));
  }
  values_.assign(values, 0.0);
}

DiagonalBlocks::DiagonalBlocks(const ConeProduct& cones) {
  lay_out(cones.blocks(), [&](Index i) { return i < cones.blocks() ? cones.block_row(i) : cones.rows(); });
}

DiagonalBlocks::DiagonalBlocks(const BlockSparseMatrix& matrix) {
  lay_out(matrix.block_rows(),
          [&](Index i) { return i < matrix.block_rows() ? matrix.block_offset(i) : matrix.rows(); });
  for (Index i = 0; i < count(); ++i) {
    const double* own = matrix.block_values(matrix.diagonal(i));
    std::copy(own, own + size(i) * size(i), values(i));
  }
}

Vector DiagonalBlocks::diagonal() const {
  Vector result(first_row_.back());
  for (Index i = 0; i < count(); ++i) result.segment(row(i), size(i)) = block(i).diagonal();
  return result;
}

}  // namespace conebench
