#pragma once

#include <Eigen/Core>
#include <limits>
#include <memory>
#include <vector>

#include "problems/types.hpp"
#include "solvers/cascade/block_matrix.hpp"
#include "solvers/cascade/elimination_order.hpp"
#include "solvers/cascade/front_lu.hpp"

namespace conebench::cascade {

/// LU of matrices of 3×3 blocks that share one symmetric pattern: one symbolic analysis, then as many numeric
/// factorizations as wanted. The sign of the determinant is kept: it tells which side of a fold of the central path a
/// point lies on. Rows marked as dropped act as rows of the identity and cost nothing.
///
/// Two kernels. By rows, up-looking, without pivoting: blocks are three rows of four, so that a block row update is
/// vector arithmetic; two rows of one pattern, as the contacts between two bodies have it, update together; diagonal
/// blocks are inverted. Where factors fill beyond that, dense fronts (FrontLu). The order is approximate minimum degree
/// on the graph of G ∪ Gᵀ or, where that one's factors are large and METIS's are smaller, nested dissection.
class SparseLu {
 public:
  using Block = Eigen::Matrix3d;

  enum class Kernel { automatic, rows, fronts };

  /// Counts what `matrix`'s pattern fills; the rest of the analysis waits for the first factorization. Fronts are not
  /// chosen where they would take more than `most_bytes`.
  void analyse(const BlockMatrix& matrix, Kernel kernel = Kernel::automatic,
               double most_bytes = std::numeric_limits<double>::infinity());

  /// Factors the matrix whose block (i, j) is left[i] G_ij right[j], plus diagonal[i] where i = j, with the values of
  /// `matrix`, which has the analysed pattern. `dropped[i]` tells what is left out (FrontLu::Left); where
  /// it is the middle, `left` and `right` must be zero and `diagonal` the identity there. False where a pivot (by rows:
  /// a pivot block) was singular and had to be perturbed.
  bool factor(const BlockMatrix& matrix, const std::vector<Block>& left, const std::vector<Block>& right,
              const std::vector<Block>& diagonal, const std::vector<char>& dropped);

  /// solution = A⁻¹ right_side; the right side itself on dropped rows.
  void solve(const Vector& right_side, Vector& solution);

  /// +1 or −1: the sign of the determinant of the last factored matrix.
  int determinant_sign() const { return determinant_sign_; }
  long factorizations() const { return factorizations_; }
  /// Floating-point operations of one numeric factorization with no dropped rows; an estimate before the first.
  double flops() const { return flops_; }
  /// What the factors take, once there are any.
  double bytes() const { return bytes_; }
  /// The one in use after the first factorization.
  Kernel kernel() const { return fronts_ ? Kernel::fronts : Kernel::rows; }

 private:
  /// A row of a block, or a vector, padded to four: one register.
  using Row4 [[gnu::vector_size(4 * sizeof(double))]] = double;
  /// A stored block that belongs to a row of the new order.
  struct Entry {
    int block, column;  ///< of the matrix; new
  };

  void estimate();
  void dissect(const BlockGraph& graph);
  void prepare(const BlockMatrix& matrix);
  void prepare_rows(const BlockMatrix& matrix);
  void load_row(int i, const BlockMatrix& matrix, const Block& left, const Block& diagonal);
  /// Asks for what load_row() will want: thousands of contacts come from the last cache, in no order.
  void prefetch_row(int i, const BlockMatrix& matrix, const std::vector<Block>& left,
                    const std::vector<Block>& diagonal) const;
  /// Row of the lower factor from what stands in work_ at column j, which is cleared.
  void take_lower(int k, int j);
  /// Subtracts from row i in work_ what its lower pattern takes of the rows before.
  void eliminate_lower(int i);
  bool invert_pivot(int i);

  int n_ = 0;
  Kernel kernel_ = Kernel::automatic;
  bool prepared_ = false, dissected_ = false;
  Elimination elimination_;       ///< empty once prepared
  std::vector<int> permutation_;  ///< new → old
  std::vector<int> entry_begin_;
  std::vector<Entry> entries_;                       ///< by new rows
  std::vector<int> lower_begin_, lower_;             ///< strictly lower pattern by rows, columns ascending
  std::vector<int> upper_begin_, upper_;             ///< strictly upper pattern by rows, columns ascending
  std::vector<char> paired_;                         ///< row j's upper pattern is j + 1 and then that of row j + 1
  std::vector<double> lower_values_, upper_values_;  ///< packed blocks, nine a block, by rows
  std::vector<Row4> inverse_diagonal_;               ///< three a block
  std::vector<Row4> right_rows_;                     ///< three a contact, by new rows
  std::vector<Row4> work_;                           ///< one dense block row; zero between rows
  std::vector<Row4> intermediate_;
  std::vector<char> dropped_;  ///< by new row
  int determinant_sign_ = 1;
  long factorizations_ = 0;
  double flops_ = 0.0;
  double bytes_ = 0.0;
  double most_bytes_ = 0.0;          ///< that fronts may take
  std::unique_ptr<FrontLu> fronts_;  ///< null: the kernel by rows
};

}  // namespace conebench::cascade
