#include "problems/block_sparse_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/workers.hpp"
#include "problems/block_sparse_builder.hpp"

namespace conebench {

namespace {

using RowSparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;

void require_size(Index rows, Index cols, const ConeProduct& cones) {
  if (rows != cones.rows() || cols != cones.rows()) {
    throw std::invalid_argument("block matrix: " + std::to_string(rows) + " x " + std::to_string(cols) +
                                " for cones of " + std::to_string(cones.rows()) + " rows");
  }
}

/// `entries_of(first, last, take)`: calls take(row, column, value) for the entries of rows first … last − 1.
template <class EntriesOf>
BlockSparseMatrix in_blocks(const ConeProduct& cones, EntriesOf entries_of) {
  BlockSparseBuilder builder(cones);
  for (Index b = 0; b < cones.blocks(); ++b) {
    const Index first = cones.block_row(b), last = first + cones.block_size(b);
    entries_of(first, last, [&](Index, Index column, double) { builder.name(builder.block_of_row(column)); });
    builder.begin_row();
    entries_of(first, last, [&](Index row, Index column, double value) { builder.add(row, column, value); });
  }
  return builder.finish();
}

}  // namespace

BlockSparseMatrix BlockSparseMatrix::from_sparse(const RowSparse& matrix, const ConeProduct& cones) {
  require_size(matrix.rows(), matrix.cols(), cones);
  return in_blocks(cones, [&](Index first, Index last, auto take) {
    for (Index row = first; row < last; ++row) {
      for (RowSparse::InnerIterator it(matrix, row); it; ++it) take(row, it.col(), it.value());
    }
  });
}

BlockSparseMatrix BlockSparseMatrix::from_dense(const Matrix& matrix, const ConeProduct& cones) {
  require_size(matrix.rows(), matrix.cols(), cones);
  return in_blocks(cones, [&](Index first, Index last, auto take) {
    for (Index column = 0; column < matrix.cols(); ++column) {
      for (Index row = first; row < last; ++row) {
        // Compared with zero rather than with a threshold, and so that a NaN counts as an entry.
        if (!(matrix(row, column) == 0.0)) take(row, column, matrix(row, column));
      }
    }
  });
}

bool BlockSparseMatrix::fits(const ConeProduct& cones) const {
  if (block_rows() != cones.blocks() || rows() != cones.rows()) return false;
  for (Index b = 0; b < block_rows(); ++b) {
    if (block_offset(b) != cones.block_row(b)) return false;
  }
  return true;
}

Index BlockSparseMatrix::find(Index block_row, Index block_column) const {
  const auto begin = columns_.begin() + row_begin(block_row);
  const auto end = columns_.begin() + row_begin(block_row + 1);
  const auto found = std::lower_bound(begin, end, static_cast<int>(block_column));
  return found != end && *found == block_column ? static_cast<Index>(found - columns_.begin()) : -1;
}

/// Of blocks of any sizes.
template <>
void BlockSparseMatrix::apply_blocks<Eigen::Dynamic>(Index first, Index end, ConstVectorRef x, VectorRef y) const {
  for (Index b = first; b < end; ++b) {
    auto part = y.segment(block_offset(b), block_size(b));
    part.setZero();
    for (Index k = row_begin(b); k < row_begin(b + 1); ++k) {
      const Index c = column(k);
      part += block(b, k).lazyProduct(x.segment(block_offset(c), block_size(c)));
    }
  }
}

template <int Rows, int Dim>
Eigen::Matrix<double, Rows, 1> BlockSparseMatrix::row_product(Index block_row, const double* x) const {
  Eigen::Matrix<double, Rows, 1> sum = Eigen::Matrix<double, Rows, 1>::Zero();
  for (Index k = row_begin(block_row); k < row_begin(block_row + 1); ++k) {
    const Index c = column(k);
    const double* const values = x + block_offset(c);
    if (uniform_dimension_ == 0 && block_size(c) == 1) {
      sum += block<Rows, 1>(k) * *values;
    } else {
      sum.noalias() += block<Rows, Dim>(k) * Eigen::Map<const Eigen::Matrix<double, Dim, 1>>(values);
    }
  }
  return sum;
}

template <int Dim>
void BlockSparseMatrix::apply_blocks(Index first, Index end, ConstVectorRef x, VectorRef y) const {
  for (Index b = first; b < end; ++b) {
    if (block_size(b) == Dim) {
      y.segment<Dim>(block_offset(b)) = row_product<Dim, Dim>(b, x.data());
    } else {
      y.segment<1>(block_offset(b)) = row_product<1, Dim>(b, x.data());
    }
  }
}

void BlockSparseMatrix::apply_rows(Index first, Index end, ConstVectorRef x, VectorRef y) const {
  // A matrix without contacts takes any branch.
  switch (contact_size_) {
    case 2: return apply_blocks<2>(first, end, x, y);
    case 3: return apply_blocks<3>(first, end, x, y);
    default: return apply_blocks<Eigen::Dynamic>(first, end, x, y);
  }
}

void BlockSparseMatrix::apply(ConstVectorRef x, VectorRef y) const { apply_rows(0, block_rows(), x, y); }

void BlockSparseMatrix::apply(ConstVectorRef x, VectorRef y, Workers& workers) const {
  workers.run(diagonal_.size(), [&](std::size_t first, std::size_t end) {
    apply_rows(static_cast<Index>(first), static_cast<Index>(end), x, y);
  });
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

RowSparse BlockSparseMatrix::sparse() const {
  RowSparse result(rows(), rows());
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
  double difference = 0.0;
  double total = 0.0;
  for (Index b = 0; b < block_rows(); ++b) {
    for (Index k = row_begin(b); k < row_begin(b + 1); ++k) {
      const auto values = block(b, k);
      total += values.squaredNorm();
      const Index mirrored = find(column(k), b);
      if (mirrored < 0) {
        difference += 2.0 * values.squaredNorm();
      } else {
        difference += (values - block(column(k), mirrored).transpose()).squaredNorm();
      }
    }
  }
  return total > 0.0 ? std::sqrt(difference / total) : 0.0;
}

BlockSparseMatrix BlockSparseMatrix::scaled(const Vector& left, const Vector& right) const {
  BlockSparseMatrix result = *this;
  for (Index b = 0; b < block_rows(); ++b) {
    for (Index k = row_begin(b); k < row_begin(b + 1); ++k) {
      double* value = result.values_.data() + value_begin_[static_cast<std::size_t>(k)];
      for (int j = 0; j < block_size(column(k)); ++j) {
        const double of_column = right[block_offset(column(k)) + j];
        for (int r = 0; r < block_size(b); ++r, ++value) *value *= left[block_offset(b) + r] * of_column;
      }
    }
  }
  return result;
}

BlockSparseMatrix BlockSparseMatrix::symmetrised() const {
  // Row by row of the result, whose pattern in row b is that of A's row b and of A's column b.
  std::vector<std::vector<int>> rows_in_column(static_cast<std::size_t>(block_rows()));
  for (Index b = 0; b < block_rows(); ++b) {
    for (Index k = row_begin(b); k < row_begin(b + 1); ++k) {
      if (find(column(k), b) < 0) rows_in_column[static_cast<std::size_t>(column(k))].push_back(static_cast<int>(b));
    }
  }
  BlockSparseMatrix result;
  result.block_offsets_ = block_offsets_;
  result.uniform_dimension_ = uniform_dimension_;
  result.contact_size_ = contact_size_;
  result.row_begin_.push_back(0);
  result.value_begin_.push_back(0);
  std::vector<int> pattern;
  for (Index b = 0; b < block_rows(); ++b) {
    pattern.assign(columns_.begin() + row_begin(b), columns_.begin() + row_begin(b + 1));
    const auto& extra = rows_in_column[static_cast<std::size_t>(b)];
    pattern.insert(pattern.end(), extra.begin(), extra.end());
    std::sort(pattern.begin(), pattern.end());
    for (const int c : pattern) {
      Matrix sum = Matrix::Zero(block_size(b), block_size(c));
      if (const Index own = find(b, c); own >= 0) sum += block(b, own);
      if (const Index mirrored = find(c, b); mirrored >= 0) sum += block(c, mirrored).transpose();
      sum *= 0.5;
      if (c == b) result.diagonal_.push_back(static_cast<int>(result.columns_.size()));
      result.columns_.push_back(c);
      result.values_.insert(result.values_.end(), sum.data(), sum.data() + sum.size());
      result.value_begin_.push_back(static_cast<std::int64_t>(result.values_.size()));
    }
    result.row_begin_.push_back(static_cast<int>(result.columns_.size()));
  }
  return result;
}

}  // namespace conebench
