#include "solvers/newton/primal_hessian.hpp"

#include <vector>

namespace conebench::newton {

namespace {

constexpr Index dense_velocities = 100;
constexpr double dense_share = 0.25;

/// Block-diagonal, every entry of the blocks stored.
SparseMatrix block_diagonal(const ConeProduct& cones) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < cones.blocks(); ++i) {
    const int row = static_cast<int>(cones.block_row(i));
    for (int r = 0; r < cones.block_size(i); ++r) {
      for (int c = 0; c < cones.block_size(i); ++c) entries.emplace_back(row + r, row + c, 1.0);
    }
  }
  SparseMatrix matrix(cones.rows(), cones.rows());
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

}  // namespace

PrimalHessian::PrimalHessian(const PrimalData& data, const ConeProduct& cones, Storage storage) : cones_(cones) {
  const Index n = data.mass.rows();
  dense_ = storage == Storage::dense || (storage == Storage::automatic && n <= dense_velocities);
  if (!dense_) {
    sparse_mass_ = data.mass;
    sparse_jacobian_ = data.jacobian;
    transposed_ = data.jacobian.transpose();
    weight_ = block_diagonal(cones);
    sparse_hessian_ = sparse_mass_ + SparseMatrix(transposed_ * SparseMatrix(weight_ * sparse_jacobian_));
    const double filled = static_cast<double>(sparse_hessian_.nonZeros());
    dense_ = storage == Storage::automatic && filled > dense_share * static_cast<double>(n) * static_cast<double>(n);
  }
  if (dense_) {
    mass_ = Matrix(data.mass);
    jacobian_ = Matrix(data.jacobian);
    acting_.resize(jacobian_.rows(), n);
    weighted_.resize(jacobian_.rows(), n);
    hessian_.resize(n, n);
    dense_factor_.compute(Matrix::Identity(n, n));  // so that factoring allocates nothing
    sparse_mass_ = sparse_jacobian_ = transposed_ = weight_ = sparse_hessian_ = SparseMatrix();
    return;
  }
  sparse_factor_ = std::make_unique<Cholesky>();
  sparse_factor_->analyzePattern(sparse_hessian_);
}

void PrimalHessian::fill_dense(const BlockDiagonal& weights) {
  Index filled = 0;
  for (Index i = 0; i < cones_.blocks(); ++i) {
    const int size = cones_.block_size(i);
    const auto padded = weights.padded(i);
    const auto weight = padded.topLeftCorner(size, size);
    if (weight.isZero(0.0)) continue;
    const auto rows = jacobian_.middleRows(cones_.block_row(i), size);
    acting_.middleRows(filled, size) = rows;
    weighted_.middleRows(filled, size) = weight.lazyProduct(rows);
    filled += size;
  }
  hessian_ = mass_;
  hessian_.noalias() += acting_.topRows(filled).transpose() * weighted_.topRows(filled);
}

void PrimalHessian::fill_sparse(const BlockDiagonal& weights) {
  Eigen::Map<Vector>(weight_.valuePtr(), weight_.nonZeros()) = weights.values();  // both block by block
  sparse_hessian_ = sparse_mass_ + SparseMatrix(transposed_ * SparseMatrix(weight_ * sparse_jacobian_));
}

bool PrimalHessian::factor(const BlockDiagonal& weights) {
  if (dense_) {
    fill_dense(weights);
    dense_factor_.compute(hessian_);
    return dense_factor_.info() == Eigen::Success;
  }
  fill_sparse(weights);
  sparse_factor_->factorize(sparse_hessian_);
  return sparse_factor_->info() == Eigen::Success;
}

void PrimalHessian::solve(const Vector& right_side, Vector& solution) const {
  if (dense_) {
    solution = dense_factor_.solve(right_side);
  } else {
    solution = sparse_factor_->solve(right_side);
  }
}

}  // namespace conebench::newton
