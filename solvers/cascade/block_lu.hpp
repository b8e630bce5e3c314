#pragma once

#include <Eigen/Core>
#include <vector>

#include "problems/types.hpp"
#include "solvers/cascade/scaled_problem.hpp"

namespace conebench::cascade {

/// LU without pivoting of matrices of 3×3 blocks that share one symmetric pattern: one symbolic analysis (approximate
/// minimum degree on the graph of G ∪ Gᵀ), then as many numeric factorizations as wanted.
///
/// Up-looking by rows. Blocks are three rows of four, so that a block row update is vector arithmetic; two rows of one
/// pattern, as the contacts between two bodies have it, update together. Diagonal blocks are inverted. The sign of the
/// determinant is kept: it tells which side of a fold of the central path a point lies on. Rows marked as dropped act
/// as rows of the identity and cost nothing.
class BlockLu {
 public:
  using Block = Eigen::Matrix3d;

  /// Symbolic analysis of `problem`'s pattern. The pattern is kept, not the values.
  void analyse(const ScaledProblem& problem);

  /// Factors the matrix whose block (i, j) is left[i] G_ij right[j], plus diagonal[i] where i = j, with the values of
  /// `problem`, which has the analysed pattern. `dropped[i]` rows and columns are left out. False where a pivot block
  /// was singular and had to be perturbed.
  bool factor(const ScaledProblem& problem, const std::vector<Block>& left, const std::vector<Block>& right,
              const std::vector<Block>& diagonal, const std::vector<char>& dropped);

  /// solution = A⁻¹ right_side; the right side itself on dropped rows.
  void solve(const Vector& right_side, Vector& solution);

  /// +1 or −1: the sign of the determinant of the last factored matrix.
  int determinant_sign() const { return determinant_sign_; }
  long factorizations() const { return factorizations_; }
  /// Floating-point operations of one numeric factorization with no dropped rows.
  double flops() const { return flops_; }
  /// What the factors take; they are allocated by the first factorization.
  double bytes() const { return 6.0 * sizeof(Row4) * static_cast<double>(lower_.size()); }

 private:
  /// A row of a block, or a vector, padded to four.
  using Row4 = Eigen::Array4d;

  void load_row(int i, const ScaledProblem& problem, const Block& left, const Block& diagonal);
  /// Row of the lower factor from what stands in work_ at column j, which is cleared.
  void take_lower(int k, int j);
  bool invert_pivot(int i);

  int n_ = 0;
  std::vector<int> permutation_, position_;  ///< new → old, old → new
  std::vector<int> lower_begin_, lower_;     ///< strictly lower pattern by rows, columns ascending
  std::vector<int> upper_begin_, upper_;     ///< strictly upper pattern by rows, columns ascending
  std::vector<char> paired_;                 ///< row j's upper pattern is j + 1 and then that of row j + 1
  std::vector<Row4> lower_values_, upper_values_, inverse_diagonal_;  ///< three a block
  std::vector<Row4> right_rows_;                                      ///< three a contact, in the problem's order
  std::vector<Row4> work_;                                            ///< one dense block row; zero between rows
  std::vector<Row4> intermediate_;
  std::vector<char> dropped_;  ///< by new row
  int determinant_sign_ = 1;
  long factorizations_ = 0;
  double flops_ = 0.0;
};

}  // namespace conebench::cascade
