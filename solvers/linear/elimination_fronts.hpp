#pragma once

#include <cstdint>
#include <vector>

#include "problems/block_sparse_matrix.hpp"
#include "problems/types.hpp"

namespace conebench {

enum class Storage { automatic, dense, sparse };

/// Up to which an analysis, or a call of a matrix product, costs more than it saves.
inline constexpr int few_rows = 48;

/// One dense step of a multifrontal elimination: `pivots` consecutive rows of the new order are eliminated together
/// from a dense matrix of `rows` rows, the pivots first.
struct EliminationFront {
  int first_pivot = 0;  ///< new row of the first pivot
  int pivots = 0;
  int rows = 0;                  ///< pivots + rows below that they couple to
  int parent = -1;               ///< front that takes the update, −1 for a root
  std::int64_t row_begin = 0;    ///< in EliminationFronts::row_list and ::parent_position
  std::int64_t value_begin = 0;  ///< of a panel of rows × pivots values
};

/// The symbolic part of a sparse factorization on the symmetric pattern of a block matrix: a fill-reducing order (AMD
/// on the graph of blocks) and the dense fronts of the elimination. Depends on the pattern alone.
///
/// Fronts come in postorder: children before parents, and the children of a front directly before it.
struct EliminationFronts {
  std::vector<int> old_row;  ///< row of the matrix at each place of the new order
  std::vector<EliminationFront> fronts;
  std::vector<int> row_list;         ///< for each front its rows below the pivots, ascending new rows
  std::vector<int> parent_position;  ///< where each of these stands in the parent's front
  std::int64_t panel_values = 0;     ///< values in all panels
  std::int64_t stack_values = 0;     ///< most values of updates alive at once, one triangle counted as a square
  int most_rows = 0;
  bool dense = false;            ///< one front in the given order
  double multiplications = 0.0;  ///< of a Cholesky factorization, zeros of the fronts included

  /// Where row i stands in `front`, −1 where it has no such row.
  int position(const EliminationFront& front, int i) const;
};

/// Dense storage has one front; `automatic` takes the cheaper of the two by their counts of operations.
EliminationFronts analyse_fronts(const BlockSparseMatrix& matrix, Storage storage = Storage::sparse);

}  // namespace conebench
