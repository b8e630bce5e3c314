#pragma once

#include <Eigen/Core>
#include <vector>

#include "problems/types.hpp"
#include "solvers/cascade/scaled_problem.hpp"

namespace conebench::cascade {

/// LU without pivoting of matrices of 3×3 blocks that share one symmetric pattern: one symbolic analysis (approximate
/// minimum degree on the graph of G ∪ Gᵀ), then as many numeric factorizations as wanted.
///
/// Up-looking by rows; the upper factor's blocks are three rows of four, so that a block row update is vector
/// arithmetic; diagonal blocks are inverted. The sign of the determinant is kept: it tells which side of a fold of the
/// central path a point lies on. Rows marked as dropped act as rows of the identity and cost nothing.
class BlockLu {
 public:
  using Block = Eigen::Matrix3d;

  /// Symbolic analysis of `problem`'s pattern. The pattern is kept, not the values.
  void analyse(const ScaledProblem& problem);

  /// Factors the matrix whose block k of `problem`'s pattern is blocks[k], plus diagonal[i] on block (i, i).
  /// `dropped[i]` rows and columns are left out. False where a pivot block was singular and had to be perturbed.
  bool factor(const std::vector<Block>& blocks, const std::vector<Block>& diagonal, const std::vector<char>& dropped);

  /// solution = A⁻¹ right_side; the right side itself on dropped rows.
  void solve(const Vector& right_side, Vector& solution);

  /// +1 or −1: the sign of the determinant of the last factored matrix.
  int determinant_sign() const { return determinant_sign_; }
  long factorizations() const { return factorizations_; }
  /// Floating-point operations of one numeric factorization with no dropped rows.
  double flops() const { return flops_; }

 private:
  /// A row of an upper block, padded to four.
  using Row4 = Eigen::Array4d;

  void load_row(int i, int original, const std::vector<Block>& blocks, const Block& diagonal,
                const std::vector<char>& dropped);

  int n_ = 0;
  std::vector<int> permutation_, position_;  ///< new → old, old → new
  std::vector<int> lower_begin_, lower_;     ///< strictly lower pattern by rows, columns ascending
  std::vector<int> upper_begin_, upper_;     ///< strictly upper pattern by rows, columns ascending
  std::vector<int> row_begin_, columns_;     ///< the problem's own pattern
  std::vector<Row4> upper_values_;           ///< three a block
  std::vector<Row4> work_;                   ///< one dense block row
  std::vector<Block> lower_values_, inverse_diagonal_;
  std::vector<Eigen::Vector3d> intermediate_;
  std::vector<char> dropped_;
  int determinant_sign_ = 1;
  long factorizations_ = 0;
  double flops_ = 0.0;
};

}  // namespace conebench::cascade
