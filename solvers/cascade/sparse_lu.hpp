#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "problems/types.hpp"
#include "solvers/cascade/block_matrix.hpp"
#include "solvers/cascade/row_lu.hpp"
#include "solvers/linear/elimination.hpp"

namespace conebench::cascade {

/// LU of matrices of blocks that share one symmetric pattern: one symbolic analysis, then as many numeric
/// factorizations as wanted. Contacts marked as left out act as rows of the identity and cost nothing.
///
/// The order is approximate minimum degree on the graph of G ∪ Gᵀ or, where that one's factors are large and METIS's
/// are smaller, nested dissection.
class SparseLu {
 public:
  using Block = Eigen::Matrix3d;

  /// Counts what `matrix`'s pattern fills; the rest of the analysis waits for the first factorization.
  void analyse(const BlockMatrix& matrix);

  /// Factors the matrix whose block (i, j) is left[i] G_ij right[j], plus diagonal[i] where i = j, with the values of
  /// `matrix`, which has the analysed pattern. `left_out[i]` holds bits of Left. False where a pivot block was
  /// singular and had to be perturbed.
  bool factor(const BlockMatrix& matrix, const std::vector<Block>& left, const std::vector<Block>& right,
              const std::vector<Block>& diagonal, const std::vector<char>& left_out);

  /// solution = A⁻¹ right_side; the right side itself in contacts that are left out, 0 in single components.
  void solve(const Vector& right_side, Vector& solution);

  long factorizations() const { return factorizations_; }
  /// Floating-point operations of one numeric factorization with nothing left out; an estimate before the first.
  double flops() const { return flops_; }
  /// What the factors take, once there are any.
  double bytes() const { return bytes_; }

 private:
  void estimate();
  void dissect(const BlockGraph& graph);
  void prepare(const BlockMatrix& matrix);

  bool dissected_ = false;
  Elimination elimination_;  ///< empty once there are factors
  std::optional<RowLu> factors_;
  long factorizations_ = 0;
  double flops_ = 0.0;
  double bytes_ = 0.0;
};

}  // namespace conebench::cascade
