#pragma once

#include <vector>

#include "problems/types.hpp"

namespace conebench::cond {

/// A v − b in one pass over A, a symmetric matrix, stored by blocks: three columns whose entries come in runs of the
/// same three rows are a node's, and take nine numbers and one index a block. All else is kept by columns.
class NodeProduct {
 public:
  NodeProduct() = default;
  /// A must be compressed and symmetric.
  explicit NodeProduct(const SparseMatrix& matrix);

  /// r = A v − b. The sums' order is fixed. No allocation.
  void operator()(const Vector& v, const Vector& b, Vector& r) const;

 private:
  struct Columns {
    Index first = 0;
    int width = 1;                         ///< 3: of a node
    std::size_t index = 0, end_index = 0;  ///< in rows_
    std::size_t value = 0;                 ///< in values_
  };
  std::vector<Columns> columns_;
  std::vector<int> rows_;       ///< first row of each block, row of each entry
  std::vector<double> values_;  ///< a block's by columns; one more, as blocks are read four numbers at a time
};

}  // namespace conebench::cond
