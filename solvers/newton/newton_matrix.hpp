#pragma once

#include <Eigen/LU>
#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <memory>

#include "problems/block_sparse_matrix.hpp"
#include "problems/types.hpp"
#include "solvers/newton/block_diagonal.hpp"
#include "solvers/newton/storage.hpp"

namespace conebench::newton {

/// X + Y (A + ε E) for one matrix A = G + R in blocks, block-diagonal X and Y that change, and E = diag(e_i I), e_i the
/// mean of A's diagonal over block i: what Newton's method on F(λ, A λ + g) factors. LU with partial pivoting, dense or
/// sparse on a pattern analysed once.
///
/// ε > 0 keeps it regular where A is singular (redundant contacts that stick: X = 0, Y = I). It alters the direction by
/// about ε, never the solutions.
class NewtonMatrix {
 public:
  NewtonMatrix() = default;
  /// Storage `automatic`: dense below 150 rows or where more than a quarter of A is stored.
  NewtonMatrix(const BlockSparseMatrix& matrix, const Vector& compliance, Storage storage);

  /// False where it is singular to working precision.
  bool factor(const BlockDiagonal& x, const BlockDiagonal& y, double epsilon);
  /// solution = matrix⁻¹ right_side by the last factors.
  void solve(const Vector& right_side, Vector& solution);

  bool dense() const { return dense_; }

 private:
  using RowSparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  /// Its transpose, column by column, is the row-major matrix: so no second copy of the values.
  using TransposedLu = Eigen::SparseLU<SparseMatrix, Eigen::COLAMDOrdering<int>>;

  void fill_dense(const BlockDiagonal& x, const BlockDiagonal& y, double epsilon);
  void fill_sparse(const BlockDiagonal& x, const BlockDiagonal& y, double epsilon);

  BlockSparseMatrix matrix_;
  Vector compliance_, mean_diagonal_;
  bool dense_ = true;
  Matrix dense_values_;
  Eigen::PartialPivLU<Matrix> dense_lu_;
  SparseMatrix transposed_;
  std::unique_ptr<TransposedLu> sparse_lu_;
};

}  // namespace conebench::newton
