#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "problems/block_sparse_matrix.hpp"

namespace conebench {

/// Fills a BlockSparseMatrix row by row: name the blocks of the next row, begin it, then add entries to them.
class BlockSparseBuilder {
 public:
  explicit BlockSparseBuilder(const ConeProduct& cones)
      : block_of_row_(static_cast<std::size_t>(cones.rows())),
        named_in_row_(static_cast<std::size_t>(cones.blocks()), -1),
        value_begin_(static_cast<std::size_t>(cones.blocks())) {
    const Index blocks = cones.blocks();
    if (blocks >= std::numeric_limits<int>::max()) throw std::length_error("block matrix: more than 2^31 block rows");
    matrix_.block_offsets_.reserve(static_cast<std::size_t>(blocks) + 1);
    for (Index b = 0; b < blocks; ++b) {
      matrix_.block_offsets_.push_back(cones.block_row(b));
      for (int r = 0; r < cones.block_size(b); ++r) {
        block_of_row_[static_cast<std::size_t>(cones.block_row(b) + r)] = static_cast<int>(b);
      }
    }
    matrix_.block_offsets_.push_back(cones.rows());
    matrix_.row_begin_.push_back(0);
    matrix_.value_begin_.push_back(0);
    matrix_.contact_size_ = cones.contact_dimension();
    if (blocks > 0 && cones.first_contact_row() == 0) matrix_.uniform_dimension_ = cones.contact_dimension();
  }

  int block_of_row(Index row) const { return block_of_row_[static_cast<std::size_t>(row)]; }

  /// Names a block of the next row; naming it again does nothing.
  void name(int block_column) {
    int& row = named_in_row_[static_cast<std::size_t>(block_column)];
    if (row == next_row_) return;
    row = next_row_;
    pending_.push_back(block_column);
  }

  /// Appends a row with the blocks named since the last one, and its diagonal.
  void begin_row() {
    name(next_row_);
    std::sort(pending_.begin(), pending_.end());
    if (matrix_.columns_.size() + pending_.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw std::length_error("block matrix: more than 2^31 blocks");
    }
    const Index height = matrix_.block_size(next_row_);
    for (const int column : pending_) {
      if (column == next_row_) matrix_.diagonal_.push_back(static_cast<int>(matrix_.columns_.size()));
      value_begin_[static_cast<std::size_t>(column)] = matrix_.value_begin_.back();
      matrix_.columns_.push_back(column);
      matrix_.value_begin_.push_back(matrix_.value_begin_.back() + height * matrix_.block_size(column));
    }
    matrix_.row_begin_.push_back(static_cast<int>(matrix_.columns_.size()));
    matrix_.values_.resize(static_cast<std::size_t>(matrix_.value_begin_.back()), 0.0);
    pending_.clear();
    ++next_row_;
  }

  /// Adds to entry (row, column); row is in the block row begun last, the block of column was named for it.
  void add(Index row, Index column, double value) {
    const int block_row = next_row_ - 1;
    const int block_column = block_of_row(column);
    const Index local_row = row - matrix_.block_offset(block_row);
    const Index local_column = column - matrix_.block_offset(block_column);
    const std::int64_t offset =
        value_begin_[static_cast<std::size_t>(block_column)] + local_row + local_column * matrix_.block_size(block_row);
    matrix_.values_[static_cast<std::size_t>(offset)] += value;
  }

  /// The block of `block_column`, which was named, in the block row begun last.
  Eigen::Map<Matrix> block(int block_column) {
    return {matrix_.values_.data() + value_begin_[static_cast<std::size_t>(block_column)],
            matrix_.block_size(next_row_ - 1), matrix_.block_size(block_column)};
  }

  BlockSparseMatrix finish() { return std::move(matrix_); }

 private:
  BlockSparseMatrix matrix_;
  std::vector<int> block_of_row_;
  std::vector<int> named_in_row_;          ///< by block column: the row that named it last
  std::vector<std::int64_t> value_begin_;  ///< by block column, valid for the blocks of the row begun last
  std::vector<int> pending_;
  int next_row_ = 0;
};

}  // namespace conebench
