#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "solvers/linear/elimination.hpp"

namespace conebench::cascade {

/// A square matrix of 3×3 blocks that belongs to somebody else, by rows.
struct BlockMatrix {
  std::span<const int> row_begins;
  std::span<const int> columns;
  const double* values = nullptr;  ///< block by block, each column by column

  int rows() const { return graph().rows(); }
  int stored_blocks() const { return static_cast<int>(columns.size()); }
  int row_begin(int i) const { return row_begins[static_cast<std::size_t>(i)]; }
  int column(int k) const { return columns[static_cast<std::size_t>(k)]; }
  const double* block(int k) const { return values + 9 * static_cast<std::ptrdiff_t>(k); }
  BlockGraph graph() const { return {row_begins, columns}; }
};

/// What a factorization leaves out of a contact: nothing where it sticks; where it slips its second unknown, which
/// couples with nothing and is 0 on the right side; everything where it opens.
struct Left {
  enum What : char { nothing, middle, everything };
};

}  // namespace conebench::cascade
