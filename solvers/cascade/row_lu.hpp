#pragma once

#include <vector>

#include "problems/types.hpp"
#include "solvers/cascade/block_matrix.hpp"
#include "solvers/cascade/row_blocks.hpp"
#include "solvers/linear/elimination.hpp"

namespace conebench::cascade {

/// SparseLu's kernel: up-looking by rows, without pivoting: 3×3 blocks lie in registers, so that a block row
/// update is vector arithmetic; two rows of one pattern, as the contacts between two bodies have it, update together;
/// diagonal blocks are inverted.
class RowLu {
 public:
  using Block = Eigen::Matrix3d;

  /// Takes the pattern of `matrix` and what eliminating it fills.
  RowLu(const BlockMatrix& matrix, Elimination elimination);

  /// As SparseLu's; False where a pivot block was singular and had to be perturbed.
  bool factor(const BlockMatrix& matrix, const std::vector<Block>& left, const std::vector<Block>& right,
              const std::vector<Block>& diagonal, const std::vector<char>& left_out);
  void solve(const Vector& right_side, Vector& solution);
  /// What the factors take.
  static double bytes(const Elimination& elimination);

 private:
  using Work = RowBlock;
  static constexpr std::size_t packed = Work::packed;
  /// A stored block that belongs to a row of the new order.
  struct Entry {
    int block, column;  ///< of the matrix; new
  };

  void load_row(int i, const BlockMatrix& matrix, const Block& left, const Block& diagonal);
  /// Asks for what load_row() will want: thousands of contacts come from the last cache, in no order.
  void prefetch_row(int i, const BlockMatrix& matrix, const std::vector<Block>& left,
                    const std::vector<Block>& diagonal) const;
  /// Row of the lower factor from what stands in work_ at column j, which is cleared.
  void take_lower(int k, int j);
  /// Subtracts from row i in work_ what its lower pattern takes of the rows before.
  void eliminate_lower(int i);

  int n_ = 0;
  std::vector<int> permutation_;  ///< new → old
  std::vector<int> entry_begin_;
  std::vector<Entry> entries_;            ///< by new rows
  std::vector<int> lower_begin_, lower_;  ///< strictly lower pattern by rows, columns ascending
  std::vector<int> upper_begin_, upper_;  ///< strictly upper pattern by rows, columns ascending
  std::vector<char> paired_;              ///< row j's upper pattern is j + 1 and then that of row j + 1
  Vector lower_values_, upper_values_;    ///< packed blocks
  std::vector<Work> inverse_diagonal_;
  std::vector<Work> right_;  ///< by new rows
  std::vector<Work> work_;   ///< one dense block row; zero between rows
  std::vector<Row4> intermediate_;
  std::vector<char> dropped_;  ///< by new row
};

}  // namespace conebench::cascade
