#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problems/block_sparse_matrix.hpp"
#include "problems/types.hpp"
#include "solvers/linear/elimination_fronts.hpp"

namespace conebench {

enum class Factorization { cholesky, lu };

/// Factors A + shift I for one matrix A = diag(scale) G diag(scale) + diag(compliance) and many shifts, by a
/// multifrontal Cholesky or LU without pivoting on a pattern analysed once; dense is the case of one front.
///
/// Cholesky takes the symmetric part of G. LU takes G as given; with a positive definite symmetric part every pivot is
/// positive and no pivoting is needed. All buffers are made at construction.
class MultifrontalFactor {
 public:
  MultifrontalFactor() = default;
  /// `scale`, `compliance`: rows() of `matrix` long.
  MultifrontalFactor(const BlockSparseMatrix& matrix, const Vector& scale, const Vector& compliance,
                     Factorization factorization, Storage storage);

  /// False where a pivot is not positive: A + shift I is singular or indefinite to rounding.
  bool factor(double shift);
  /// x = (A + shift I)⁻¹ b by the last factors, which must have succeeded. x may be b.
  void solve(const Vector& b, Vector& x);

  /// Where the entry of A at (row, column) and at (column, row) stands in lower_triangle(); −1 outside the pattern.
  /// For Cholesky only.
  std::int64_t place(Index row, Index column) const;
  /// The values of A below and on the diagonal, to be changed before factor().
  std::span<double> lower_triangle() { return original_; }

  Index rows() const { return static_cast<Index>(fronts_.old_row.size()); }
  bool dense() const { return fronts_.dense; }
  const EliminationFronts& fronts() const { return fronts_; }
  /// Whether the last factor() inverted the front with the pivot of `row` as a whole, or refused it meanwhile.
  bool inverted(Index row) const {
    const auto place = static_cast<std::size_t>(new_row_[static_cast<std::size_t>(row)]);
    return inverted_[static_cast<std::size_t>(front_of_[place])] != 0;
  }

 private:
  void assemble(const BlockSparseMatrix& matrix, const Vector& scale, const Vector& compliance);
  /// Place of new row i in the panel column of new row j ≤ i.
  std::int64_t place_in_panel(int i, int j) const;
  bool symmetric() const { return factorization_ == Factorization::cholesky; }
  /// Where the upper panels begin.
  std::int64_t upper() const { return symmetric() ? 0 : fronts_.panel_values; }

  Factorization factorization_ = Factorization::cholesky;
  EliminationFronts fronts_;
  std::vector<int> new_row_, front_of_;  ///< by old row; by new row
  // Panels of rows × pivots, column by column, at EliminationFront::value_begin, as invert_pivots() leaves them.
  // Cholesky: L alone. LU: L with unit diagonal, and from upper() on U transposed, with the diagonal. Of an inverted
  // front its inverse, in place of L. The originals are those of A.
  std::vector<double> values_, original_;
  std::vector<double> pivot_inverses_;  ///< of L's diagonal (Cholesky) or U's (LU), by new row
  std::vector<char> inverted_;          ///< whether a front's panel is its inverse
  std::vector<double> stack_;           ///< updates on their way to their parents
  std::vector<int> waiting_;            ///< fronts whose updates are on the stack
  std::vector<double> work_, front_work_;
};

}  // namespace conebench
