#pragma once

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>
#include <memory>

#include "solvers/newton/primal_problem.hpp"
#include "solvers/newton/storage.hpp"

namespace conebench::newton {

/// H = M + Jᵀ W J for one M and J and block-diagonal W that change, factored by Cholesky: dense, or sparse on a pattern
/// analysed once.
class PrimalHessian {
 public:
  PrimalHessian() = default;
  /// Storage `automatic`: dense below 100 velocities or where more than a quarter of H is filled.
  PrimalHessian(const PrimalData& data, const ConeProduct& cones, Storage storage);

  /// False where H is not positive definite to working precision.
  bool factor(const BlockDiagonal& weights);
  /// solution = H⁻¹ right_side by the last factors.
  void solve(const Vector& right_side, Vector& solution) const;

  bool dense() const { return dense_; }

 private:
  using Cholesky = Eigen::SimplicialLLT<SparseMatrix>;

  void fill_dense(const BlockDiagonal& weights);
  void fill_sparse(const BlockDiagonal& weights);

  ConeProduct cones_;
  bool dense_ = true;
  // Dense: W J and J of the blocks that act, one upon the other.
  Matrix mass_, jacobian_, acting_, weighted_, hessian_;
  Eigen::LLT<Matrix> dense_factor_{Matrix::Identity(1, 1)};  // its status is not set without
  // Sparse.
  SparseMatrix sparse_mass_, sparse_jacobian_, transposed_, weight_, sparse_hessian_;
  std::unique_ptr<Cholesky> sparse_factor_;
};

}  // namespace conebench::newton
