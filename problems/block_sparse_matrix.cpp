#include "problems/block_sparse_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace conebench {

/// Fills a BlockSparseMatrix row by row: name the blocks of a row, then add entries to them.
class BlockSparseBuilder {
 public:
  explicit BlockSparseBuilder(const ConeProduct& cones) : block_of_row_(static_cast<std::size_t>(cones.rows())) {
    const Index blocks = cones.blocks();
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
    if (cones.first_contact_row() == 0) matrix_.uniform_dimension_ = cones.contact_dimension();
  }

  int block_of_row(Index row) const { return block_of_row_[static_cast<std::size_t>(row)]; }

  /// Appends the next block row with these block columns; the diagonal is added where it is missing.
  void begin_row(std::vector<int>& columns) {
    const int row = static_cast<int>(matrix_.diagonal_.size());
    columns.push_back(row);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    const auto diagonal = std::lower_bound(columns.begin(), columns.end(), row);
    row_start_ = matrix_.columns_.size();
    matrix_.diagonal_.push_back(static_cast<int>(row_start_) + static_cast<int>(diagonal - columns.begin()));
    for (const int column : columns) {
      matrix_.columns_.push_back(column);
      matrix_.value_begin_.push_back(matrix_.value_begin_.back() +
                                     matrix_.block_size(row) * matrix_.block_size(column));
    }
    if (matrix_.columns_.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw std::length_error("block matrix: more than 2^31 blocks");
    }
    matrix_.row_begin_.push_back(static_cast<int>(matrix_.columns_.size()));
    matrix_.values_.resize(static_cast<std::size_t>(matrix_.value_begin_.back()), 0.0);
  }

  /// Adds to entry (row, column) of the block row begun last.
  void add(Index row, Index column, double value) {
    const int block_row = block_of_row(row);
    const int block_column = block_of_row(column);
    const auto begin = matrix_.columns_.begin() + static_cast<std::ptrdiff_t>(row_start_);
    const auto found = std::lower_bound(begin, matrix_.columns_.end(), block_column);
    const auto position = static_cast<std::size_t>(found - matrix_.columns_.begin());
    const Index local_row = row - matrix_.block_offset(block_row);
    const Index local_column = column - matrix_.block_offset(block_column);
    const auto offset = static_cast<std::size_t>(matrix_.value_begin_[position] + local_row +
                                                 local_column * matrix_.block_size(block_row));
    matrix_.values_[offset] += value;
  }

  BlockSparseMatrix finish() { return std::move(matrix_); }

 private:
  BlockSparseMatrix matrix_;
  std::vector<int> block_of_row_;
  std::size_t row_start_ = 0;
};

namespace {

void require_size(Index rows, Index cols, const ConeProduct& cones) {
  if (rows != cones.rows() || cols != cones.rows()) {
    throw std::invalid_argument("block matrix: " + std::to_string(rows) + " x " + std::to_string(cols) +
                                " for cones of " + std::to_string(cones.rows()) + " rows");
  }
}

}  // namespace

BlockSparseMatrix BlockSparseMatrix::from_sparse(const Eigen::SparseMatrix<double, Eigen::RowMajor>& matrix,
                                                 const ConeProduct& cones) {
  require_size(matrix.rows(), matrix.cols(), cones);
  using Iterator = Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator;
  BlockSparseBuilder builder(cones);
  std::vector<int> columns;
  for (Index b = 0; b < cones.blocks(); ++b) {
    const Index first = cones.block_row(b);
    columns.clear();
    for (Index row = first; row < first + cones.block_size(b); ++row) {
      for (Iterator it(matrix, row); it; ++it) {
        const int block = builder.block_of_row(it.col());
        if (columns.empty() || columns.back() != block) columns.push_back(block);
      }
    }
    builder.begin_row(columns);
    for (Index row = first; row < first + cones.block_size(b); ++row) {
      for (Iterator it(matrix, row); it; ++it) builder.add(row, it.col(), it.value());
    }
  }
  return builder.finish();
}

BlockSparseMatrix BlockSparseMatrix::from_dense(const Matrix& matrix, const ConeProduct& cones) {
  require_size(matrix.rows(), matrix.cols(), cones);
  BlockSparseBuilder builder(cones);
  std::vector<int> columns;
  for (Index b = 0; b < cones.blocks(); ++b) {
    const Index row = cones.block_row(b);
    const int height = cones.block_size(b);
    columns.clear();
    for (Index c = 0; c < cones.blocks(); ++c) {
      // Compared entry by entry, so that a NaN counts as an entry.
      const auto block = matrix.block(row, cones.block_row(c), height, cones.block_size(c));
      if (!(block.array() == 0.0).all()) columns.push_back(static_cast<int>(c));
    }
    builder.begin_row(columns);
    for (const int c : columns) {
      for (Index j = cones.block_row(c); j < cones.block_row(c) + cones.block_size(c); ++j) {
        for (Index i = row; i < row + height; ++i) builder.add(i, j, matrix(i, j));
      }
    }
  }
  return builder.finish();
}

void BlockSparseMatrix::apply(ConstVectorRef x, VectorRef y) const {
  if (uniform_dimension_ == 3) {
    for (Index b = 0; b < block_rows(); ++b) {
      Eigen::Vector3d sum = Eigen::Vector3d::Zero();
      for (Index k = row_begin(b); k < row_begin(b + 1); ++k) {
        sum.noalias() += block<3>(k) * x.segment<3>(3 * column(k));
      }
      y.segment<3>(3 * b) = sum;
    }
    return;
  }
  for (Index b = 0; b < block_rows(); ++b) {
    auto out = y.segment(block_offset(b), block_size(b));
    out.setZero();
    for (Index k = row_begin(b); k < row_begin(b + 1); ++k) {
      const Index c = column(k);
      out += block(b, k).lazyProduct(x.segment(block_offset(c), block_size(c)));
    }
  }
}

Matrix BlockSparseMatrix::dense() const {
  Matrix result = Matrix::Zero(rows(), rows());
  for (Index b = 0; b < block_rows(); ++b) {
    for (Index k = row_begin(b); k < row_begin(b + 1); ++k) {
      const Index c = column(k);
      result.block(block_offset(b), block_offset(c), block_size(b), block_size(c)) = block(b, k);
    }
  }
  return result;
}

Eigen::SparseMatrix<double, Eigen::RowMajor> BlockSparseMatrix::sparse() const {
  Eigen::SparseMatrix<double, Eigen::RowMajor> result(rows(), rows());
  result.reserve(stored_values());
  for (Index b = 0; b < block_rows(); ++b) {
    for (int r = 0; r < block_size(b); ++r) {
      const Index row = block_offset(b) + r;
      result.startVec(row);
      for (Index k = row_begin(b); k < row_begin(b + 1); ++k) {
        const Index c = column(k);
        for (int j = 0; j < block_size(c); ++j) result.insertBack(row, block_offset(c) + j) = block(b, k)(r, j);
      }
    }
  }
  result.finalize();
  return result;
}

double BlockSparseMatrix::symmetry_error() const {
  if (rows() == 0) return 0.0;
  const Eigen::SparseMatrix<double, Eigen::RowMajor> matrix = sparse();
  const Eigen::SparseMatrix<double, Eigen::RowMajor> transposed = matrix.transpose();
  const double norm = matrix.norm();
  return norm > 0.0 ? Eigen::SparseMatrix<double, Eigen::RowMajor>(matrix - transposed).norm() / norm : 0.0;
}

}  // namespace conebench
