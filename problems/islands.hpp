#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// A part of a problem that does not depend on the rest.
struct ProblemPart {
  ContactProblem problem;
  std::span<const Index> rows;  ///< of the whole, one a row of the part, ascending
};

/// A problem's islands: the connected components of its blocks, two of which are connected where G has an entry that
/// couples them. What is fixed to the world connects nothing. Where M and J are known, two blocks that move what M
/// couples are connected; if the problem is given by them, that is all, and G is not made.
///
/// Islands are numbered by their first blocks. With `min_blocks` above 1, neighbours in that order that have fewer
/// count together as one, until they have as many: what stands for one island here is then a group of them. Each is a
/// problem of its own, with blocks, velocities and nodes in the order of the whole, so that the impulses of all of them
/// together solve the whole.
class Islands {
 public:
  explicit Islands(const ContactProblem& problem, Index min_blocks = 1);

  Index count() const { return static_cast<Index>(first_block_.size()) - 1; }
  /// Ascending.
  std::span<const Index> blocks(Index island) const { return slice(blocks_, first_block_, island); }
  std::span<const Index> rows(Index island) const { return slice(rows_, first_row_, island); }
  /// The columns of M, where it is known; those that no block moves are no island's.
  std::span<const Index> velocities(Index island) const { return slice(velocities_, first_velocity_, island); }

  /// The island as a problem: cones, G in its form, M, J and v_free, g, R, b, the guess, what the configuration tells
  /// of contacts, limits, nodes and velocities, and the reference's impulse (with the residual of the whole). What
  /// counts bodies, and how the rows were given, is left out. Watched as the whole is. Where the whole has made its G,
  /// it is not made again. Errors: those of ContactProblem::create.
  Result<ContactProblem> problem(Index island) const;

 private:
  static std::span<const Index> slice(const std::vector<Index>& all, const std::vector<std::size_t>& first, Index i) {
    const auto k = static_cast<std::size_t>(i);
    return std::span(all).subspan(first[k], first[k + 1] - first[k]);
  }
  SparseMatrix part_of(const SparseMatrix& matrix, Index island, std::span<const Index> local_row, Index rows) const;
  BlockSparseMatrix part_of(const BlockSparseMatrix& matrix, Index island, const ConeProduct& cones) const;
  Configuration configuration_of(Index island) const;

  ContactProblem whole_;
  std::vector<Index> blocks_, rows_, velocities_;  ///< island after island
  std::vector<std::size_t> first_block_, first_row_, first_velocity_;
  std::vector<Index> local_block_, local_row_, local_velocity_;  ///< by number in the whole: that in its island
};

/// The entries of `whole` at `rows`, and back.
inline void gather(ConstVectorRef whole, std::span<const Index> rows, VectorRef part) {
  for (std::size_t k = 0; k < rows.size(); ++k) part[static_cast<Index>(k)] = whole[rows[k]];
}
inline void scatter(ConstVectorRef part, std::span<const Index> rows, VectorRef whole) {
  for (std::size_t k = 0; k < rows.size(); ++k) whole[rows[k]] = part[static_cast<Index>(k)];
}

}  // namespace conebench
