#include "solvers/admm/shifted_matrix.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>

namespace conebench {

namespace {

Matrix scaled_dense(const BlockSparseMatrix& matrix, const Vector& scale, const Vector& compliance, bool symmetrise) {
  Matrix dense = scale.asDiagonal() * matrix.dense() * scale.asDiagonal();
  if (symmetrise) dense = Matrix(0.5 * (dense + dense.transpose()));
  dense.diagonal() += compliance;
  return dense;
}

class DenseCholesky final : public ShiftedMatrix {
 public:
  explicit DenseCholesky(Matrix matrix) : matrix_(std::move(matrix)), factor_(matrix_.rows(), matrix_.cols()) {}
  Index rows() const override { return matrix_.rows(); }
  void apply(const Vector& x, Vector& y) const override { y.noalias() = matrix_ * x; }
  bool factor(double shift) override {
    factor_.triangularView<Eigen::Lower>() = matrix_;
    factor_.diagonal().array() += shift;
    Eigen::LLT<Eigen::Ref<Matrix>> in_place(factor_);
    return in_place.info() == Eigen::Success;
  }
  void solve(const Vector& b, Vector& x) const override {
    x = b;
    factor_.triangularView<Eigen::Lower>().solveInPlace(x);
    factor_.triangularView<Eigen::Lower>().adjoint().solveInPlace(x);
  }

 private:
  Matrix matrix_;
  Matrix factor_;
};

class DenseLu final : public ShiftedMatrix {
 public:
  explicit DenseLu(Matrix matrix) : matrix_(std::move(matrix)), lu_(matrix_.rows()) {}
  Index rows() const override { return matrix_.rows(); }
  void apply(const Vector& x, Vector& y) const override { y.noalias() = matrix_ * x; }
  bool factor(double shift) override {
    lu_.compute(matrix_ + shift * Matrix::Identity(rows(), rows()));
    return (lu_.matrixLU().diagonal().array() != 0.0).all();
  }
  void solve(const Vector& b, Vector& x) const override {
    x.noalias() = lu_.permutationP() * b;
    lu_.matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(x);
    lu_.matrixLU().triangularView<Eigen::Upper>().solveInPlace(x);
  }

 private:
  Matrix matrix_;
  Eigen::PartialPivLU<Matrix> lu_;
};

/// old_row[new row], with the blocks in a fill-reducing order and whole: the ordering costs a ninth of one by rows.
std::vector<Index> fill_reducing_order(const BlockSparseMatrix& matrix) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(static_cast<std::size_t>(matrix.stored_blocks()));
  for (Index row = 0; row < matrix.block_rows(); ++row) {
    for (Index k = matrix.row_begin(row); k < matrix.row_begin(row + 1); ++k) {
      entries.emplace_back(static_cast<int>(row), static_cast<int>(matrix.column(k)), 1.0);
    }
  }
  SparseMatrix pattern(matrix.block_rows(), matrix.block_rows());
  pattern.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(pattern, order);
  std::vector<Index> old_row;
  old_row.reserve(static_cast<std::size_t>(matrix.rows()));
  for (Index position = 0; position < matrix.block_rows(); ++position) {
    const Index block = order.indices()[position];
    for (Index r = 0; r < matrix.block_size(block); ++r) old_row.push_back(matrix.block_offset(block) + r);
  }
  return old_row;
}

class SparseCholesky final : public ShiftedMatrix {
 public:
  SparseCholesky(const BlockSparseMatrix& matrix, const Vector& scale, const Vector& compliance)
      : old_row_(fill_reducing_order(matrix)), b_(matrix.rows()), x_(matrix.rows()) {
    std::vector<int> new_row(old_row_.size());
    for (std::size_t i = 0; i < old_row_.size(); ++i)
      new_row[static_cast<std::size_t>(old_row_[i])] = static_cast<int>(i);
    const Eigen::SparseMatrix<double, Eigen::RowMajor> given = matrix.sparse();
    std::vector<Eigen::Triplet<double>> upper;
    upper.reserve(static_cast<std::size_t>(given.nonZeros() + rows()));
    for (Index row = 0; row < rows(); ++row) {
      const int i = new_row[static_cast<std::size_t>(row)];
      for (Eigen::SparseMatrix<double, Eigen::RowMajor>::InnerIterator entry(given, row); entry; ++entry) {
        const int j = new_row[static_cast<std::size_t>(entry.col())];
        const double value = entry.value() * scale[row] * scale[entry.col()];
        upper.emplace_back(std::min(i, j), std::max(i, j), i == j ? value : 0.5 * value);
      }
      upper.emplace_back(i, i, compliance[row]);
    }
    matrix_.resize(rows(), rows());
    matrix_.setFromTriplets(upper.begin(), upper.end());
    cholesky_.analyzePattern(matrix_);
  }
  Index rows() const override { return static_cast<Index>(old_row_.size()); }
  void apply(const Vector& x, Vector& y) const override {
    y.setZero();
    for (int j = 0; j < matrix_.outerSize(); ++j) {
      const Index column = old_row_[static_cast<std::size_t>(j)];
      for (SparseMatrix::InnerIterator entry(matrix_, j); entry; ++entry) {
        const Index row = old_row_[static_cast<std::size_t>(entry.row())];
        y[row] += entry.value() * x[column];
        if (row != column) y[column] += entry.value() * x[row];
      }
    }
  }
  bool factor(double shift) override {
    cholesky_.setShift(shift);
    cholesky_.factorize(matrix_);
    return cholesky_.info() == Eigen::Success && (cholesky_.vectorD().array() > 0.0).all();
  }
  void solve(const Vector& b, Vector& x) const override {
    for (std::size_t i = 0; i < old_row_.size(); ++i) b_[static_cast<Index>(i)] = b[old_row_[i]];
    x_ = cholesky_.solve(b_);
    for (std::size_t i = 0; i < old_row_.size(); ++i) x[old_row_[i]] = x_[static_cast<Index>(i)];
  }

 private:
  std::vector<Index> old_row_;
  SparseMatrix matrix_;  ///< upper triangle, in the new order
  Eigen::SimplicialLDLT<SparseMatrix, Eigen::Upper, Eigen::NaturalOrdering<int>> cholesky_;
  mutable Vector b_;
  mutable Vector x_;
};

}  // namespace

std::unique_ptr<ShiftedMatrix> make_shifted_matrix(const BlockSparseMatrix& matrix, const Vector& scale,
                                                   const Vector& compliance, const FactorizationOptions& options) {
  const double density =
      static_cast<double>(matrix.stored_values()) / static_cast<double>(matrix.rows() * matrix.rows());
  const bool dense =
      options.storage == "dense" || (options.storage == "auto" && (matrix.rows() <= 60 || density > 0.3));
  if (options.factorization == "lu") {
    return std::make_unique<DenseLu>(scaled_dense(matrix, scale, compliance, false));
  }
  if (dense) return std::make_unique<DenseCholesky>(scaled_dense(matrix, scale, compliance, true));
  return std::make_unique<SparseCholesky>(matrix, scale, compliance);
}

}  // namespace conebench
