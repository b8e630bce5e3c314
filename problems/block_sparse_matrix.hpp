#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problems/cone_product.hpp"
#include "problems/types.hpp"

namespace conebench {

class Workers;

/// A square matrix in block compressed rows over the blocks of a ConeProduct: 1×1 for two rows that are no contact's,
/// 1×d and d×1 for one with a contact of d rows, d×e for two contacts. The canonical assembled form of a Delassus
/// matrix, free to every solver.
///
/// In each block row the columns ascend and the diagonal block is always stored, as zeros where the matrix has none.
/// The values of a block are contiguous, column by column. Where all rows belong to
/// contacts of D rows, block k's values begin at
/// D·D·k.
class BlockSparseMatrix {
 public:
  BlockSparseMatrix() = default;

  /// Groups the entries of `matrix` (rows() × rows() of `cones`) in blocks; explicit zeros make blocks too, repeated
  /// entries add up. Throws std::invalid_argument where the sizes differ, std::length_error above 2^31 blocks.
  static BlockSparseMatrix from_sparse(const Eigen::SparseMatrix<double, Eigen::RowMajor>& matrix,
                                       const ConeProduct& cones);
  /// As from_sparse; blocks that are all zero are left out, but for the diagonal. A NaN counts as an entry.
  static BlockSparseMatrix from_dense(const Matrix& matrix, const ConeProduct& cones);

  Index rows() const { return block_offsets_.empty() ? 0 : block_offsets_.back(); }
  Index block_rows() const { return static_cast<Index>(diagonal_.size()); }
  Index stored_blocks() const { return static_cast<Index>(columns_.size()); }
  /// Stored scalar entries, zeros in stored blocks counted.
  Index stored_values() const { return static_cast<Index>(values_.size()); }

  /// Whether the blocks are those of `cones`.
  bool fits(const ConeProduct& cones) const;

  Index block_offset(Index block) const { return block_offsets_[static_cast<std::size_t>(block)]; }
  int block_size(Index block) const { return static_cast<int>(block_offset(block + 1) - block_offset(block)); }
  /// Positions of block row `block` in columns(): [row_begin(block), row_begin(block + 1)).
  Index row_begin(Index block) const { return row_begin_[static_cast<std::size_t>(block)]; }
  Index column(Index position) const { return columns_[static_cast<std::size_t>(position)]; }
  /// Position of the diagonal block of block row `block`.
  Index diagonal(Index block) const { return diagonal_[static_cast<std::size_t>(block)]; }
  const double* block_values(Index position) const {
    return values_.data() + value_begin_[static_cast<std::size_t>(position)];
  }
  template <int Rows, int Cols = Rows>
  Eigen::Map<const Eigen::Matrix<double, Rows, Cols>> block(Index position) const {
    return Eigen::Map<const Eigen::Matrix<double, Rows, Cols>>(block_values(position));
  }
  /// Block at `position` of block row `block_row`, with sizes at run time.
  Eigen::Map<const Matrix> block(Index block_row, Index position) const {
    return {block_values(position), block_size(block_row), block_size(column(position))};
  }

  std::span<const int> row_begins() const { return row_begin_; }
  std::span<const int> columns() const { return columns_; }
  std::span<const double> values() const { return values_; }

  /// Position of the block (row, column), or -1 where it is not stored.
  Index find(Index block_row, Index block_column) const;

  /// y = A x. x and y must not overlap. No allocation.
  void apply(ConstVectorRef x, VectorRef y) const;
  /// The same, a share of the rows a thread: no bit depends on their number.
  void apply(ConstVectorRef x, VectorRef y, Workers& workers) const;
  Matrix dense() const;
  Eigen::SparseMatrix<double, Eigen::RowMajor> sparse() const;
  /// ‖A − Aᵀ‖_F / ‖A‖_F, 0 for a zero matrix.
  double symmetry_error() const;
  /// diag(left) A diag(right), on the same pattern.
  BlockSparseMatrix scaled(const Vector& left, const Vector& right) const;
  /// (A + Aᵀ)/2, on the union of the two patterns.
  BlockSparseMatrix symmetrised() const;

 private:
  friend class BlockSparseBuilder;
  /// Of block rows first … end − 1.
  void apply_rows(Index first, Index end, ConstVectorRef x, VectorRef y) const;
  template <int Dim>
  void apply_blocks(Index first, Index end, ConstVectorRef x, VectorRef y) const;
  template <int Rows, int Dim>
  Eigen::Matrix<double, Rows, 1> row_product(Index block_row, const double* x) const;

  std::vector<Index> block_offsets_;
  std::vector<int> row_begin_;
  std::vector<int> columns_;
  std::vector<int> diagonal_;
  std::vector<std::int64_t> value_begin_;
  std::vector<double> values_;
  int uniform_dimension_ = 0;  ///< of all blocks where they are equal (a problem of contacts only), else 0
  int contact_size_ = 3;       ///< rows of every contact; 0 where they differ
};

}  // namespace conebench
