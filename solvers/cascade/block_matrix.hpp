#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "solvers/linear/elimination_fronts.hpp"

namespace conebench::cascade {

/// A square matrix of 3×3 blocks that belongs to somebody else, by rows.
struct BlockMatrix {
  using Block = Eigen::Matrix3d;
  std::span<const int> row_begins;
  std::span<const int> columns;
  const Block* blocks = nullptr;

  int rows() const { return graph().rows(); }
  int stored_blocks() const { return static_cast<int>(columns.size()); }
  int row_begin(int i) const { return row_begins[static_cast<std::size_t>(i)]; }
  int column(int k) const { return columns[static_cast<std::size_t>(k)]; }
  const Block& block(int k) const { return blocks[k]; }
  BlockGraph graph() const { return {row_begins, columns}; }
};

}  // namespace conebench::cascade
