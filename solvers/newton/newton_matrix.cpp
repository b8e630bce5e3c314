#include "solvers/newton/newton_matrix.hpp"

#include <cmath>
#include <memory>

#include "problems/scaled_natural_map.hpp"

namespace conebench::newton {

namespace {

constexpr Index dense_rows = 150;
constexpr double dense_share = 0.25;

using SmallMatrix = ContactSquare<Eigen::Dynamic>;  ///< on the stack, not always square

/// Of each row's block.
Vector row_means(const BlockSparseMatrix& matrix, const Vector& compliance) {
  Vector means(matrix.block_rows());
  mean_diagonals(matrix, compliance, means);
  Vector rows(matrix.rows());
  for (Index i = 0; i < matrix.block_rows(); ++i) {
    rows.segment(matrix.block_offset(i), matrix.block_size(i)).setConstant(means[i]);
  }
  return rows;
}

}  // namespace

NewtonMatrix::NewtonMatrix(const BlockSparseMatrix& matrix, const Vector& compliance, Storage storage)
    : matrix_(matrix), compliance_(compliance), mean_diagonal_(row_means(matrix, compliance)) {
  const Index n = matrix.rows();
  const double stored = static_cast<double>(matrix.stored_values()) / (static_cast<double>(n) * static_cast<double>(n));
  dense_ = storage == Storage::dense || (storage == Storage::automatic && (n <= dense_rows || stored > dense_share));
  if (dense_) {
    dense_values_.resize(n, n);
    dense_lu_ = Eigen::PartialPivLU<Matrix>(n);
    return;
  }
  RowSparse pattern = matrix_.sparse();
  pattern.makeCompressed();
  // The row-major arrays of a matrix are the column-major ones of its transpose.
  transposed_ = SparseMatrix(Eigen::Map<const SparseMatrix>(n, n, pattern.nonZeros(), pattern.outerIndexPtr(),
                                                            pattern.innerIndexPtr(), pattern.valuePtr()));
  sparse_lu_ = std::make_unique<TransposedLu>();
  sparse_lu_->analyzePattern(transposed_);
}

void NewtonMatrix::fill_dense(const BlockDiagonal& x, const BlockDiagonal& y, double epsilon) {
  dense_values_.setZero();
  for (Index i = 0; i < matrix_.block_rows(); ++i) {
    const Index row = matrix_.block_offset(i);
    const int size = matrix_.block_size(i);
    const auto padded = y.padded(i);
    const auto left = padded.topLeftCorner(size, size);
    for (Index k = matrix_.row_begin(i); k < matrix_.row_begin(i + 1); ++k) {
      const Index j = matrix_.column(k);
      SmallMatrix block = matrix_.block(i, k);
      if (j == i) block.diagonal() += (compliance_ + epsilon * mean_diagonal_).segment(row, size);
      auto out = dense_values_.block(row, matrix_.block_offset(j), size, matrix_.block_size(j));
      out = left.lazyProduct(block);
      if (j == i) out += x.block(i);
    }
  }
}

void NewtonMatrix::fill_sparse(const BlockDiagonal& x, const BlockDiagonal& y, double epsilon) {
  double* next = transposed_.valuePtr();
  for (Index i = 0; i < matrix_.block_rows(); ++i) {
    const Index row = matrix_.block_offset(i);
    const int size = matrix_.block_size(i);
    const auto padded = y.padded(i);
    const auto left = padded.topLeftCorner(size, size);
    const Index width = transposed_.outerIndexPtr()[row + 1] - transposed_.outerIndexPtr()[row];
    Index column = 0;
    for (Index k = matrix_.row_begin(i); k < matrix_.row_begin(i + 1); ++k) {
      const Index j = matrix_.column(k);
      SmallMatrix block = matrix_.block(i, k);
      if (j == i) block.diagonal() += (compliance_ + epsilon * mean_diagonal_).segment(row, size);
      SmallMatrix product = left.lazyProduct(block);
      if (j == i) product += x.block(i);
      for (int r = 0; r < size; ++r) {
        for (Index c = 0; c < product.cols(); ++c) next[r * width + column + c] = product(r, c);
      }
      column += product.cols();
    }
    next += size * width;
  }
}

bool NewtonMatrix::factor(const BlockDiagonal& x, const BlockDiagonal& y, double epsilon) {
  if (dense_) {
    fill_dense(x, y, epsilon);
    dense_lu_.compute(dense_values_);
    return dense_lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0.0;
  }
  fill_sparse(x, y, epsilon);
  sparse_lu_->factorize(transposed_);
  return sparse_lu_->info() == Eigen::Success;
}

void NewtonMatrix::solve(const Vector& right_side, Vector& solution) {
  if (dense_) {
    solution = dense_lu_.solve(right_side);
  } else {
    solution = sparse_lu_->transpose().solve(right_side);
  }
}

}  // namespace conebench::newton
