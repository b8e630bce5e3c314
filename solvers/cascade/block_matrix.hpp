#pragma once

#include <Eigen/Core>
#include <limits>
#include <span>
#include <vector>

#include "solvers/cascade/constants.hpp"
#include "solvers/linear/elimination.hpp"

namespace conebench::cascade {

/// A square matrix of blocks that belongs to somebody else, by rows. Blocks are 3×3; where no contact has a second
/// tangent 2×2, in t1 and n.
struct BlockMatrix {
  std::span<const int> row_begins;
  std::span<const int> columns;
  const double* values = nullptr;  ///< block by block, each column by column
  int dimension = 3;               ///< 2 or 3

  int rows() const { return graph().rows(); }
  int row_begin(int i) const { return row_begins[static_cast<std::size_t>(i)]; }
  int column(int k) const { return columns[static_cast<std::size_t>(k)]; }
  const double* block(int k) const { return values + static_cast<std::ptrdiff_t>(dimension * dimension) * k; }
  BlockGraph graph() const { return {row_begins, columns}; }
};

/// What is made of a BlockMatrix G to be factored: block (i, j) is left[i] G_ij right[j], plus diagonal[i] where i = j.
/// Contacts that are left out act as rows of the identity. Where blocks are 2×2 the second tangent is kept to the
/// second unknown of every contact, which couples with nothing and is 0 on the right side.
struct BlockSystem {
  using Block = Eigen::Matrix3d;
  std::vector<Block> left, right, diagonal;
  std::vector<char> left_out;

  /// diagonal[i] = d I beside G itself.
  explicit BlockSystem(int contacts, double d = 0.0)
      : left(static_cast<std::size_t>(contacts), Block::Identity()),
        right(left),
        diagonal(left.size(), d * Block::Identity()),
        left_out(left.size(), false) {}
};

/// A singular block, moved away from that.
template <class Block>
Block perturbed(const Block& block) {
  return block +
         Block::Identity() * (std::numeric_limits<double>::epsilon() + tuned.least * block.cwiseAbs().maxCoeff());
}

}  // namespace conebench::cascade
