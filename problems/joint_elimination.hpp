#pragma once

#include <limits>
#include <vector>

#include "problems/contact_problem.hpp"

namespace conebench {

/// A problem's limits and contacts alone, its joints eliminated by a Schur complement: with A = G + R, j the joint rows
/// and c the others,
///
///     λ_j = map λ_c + offset = −A_jj⁺ (A_jc λ_c + g_j),   σ_c = matrix λ_c + free_term.
///
/// A_jj⁺ is a rank-revealing pseudoinverse of A_jj scaled to unit diagonal (rows of one joint may be metres and
/// radians), so redundant joints do no harm; a row counts as redundant below 1e-12 of the largest. Where redundant rows
/// contradict each other, σ_j = 0 has no solution and the velocity that is left shows it.
///
/// A_jj falls apart into groups of joints that A couples directly or through each other. A group fills the blocks
/// between the contacts that it touches; all other blocks are those of A.
struct JointElimination {
  struct Group {
    /// Entries first … first + size − 1 of a vector are entries at … of the group's.
    struct Run {
      Index first, size, at;
    };
    std::vector<Run> joints;  ///< in λ_j
    std::vector<Run> others;  ///< in λ_c
    Matrix map;               ///< joints × others of the group
  };

  ConeProduct cones;         ///< of the others
  BlockSparseMatrix matrix;  ///< A_cc + A_cj map [m/s per N s]; contains R. Blocks that are all zero are left out.
  Vector free_term;          ///< g_c + A_cj offset, others [m/s]
  std::vector<Group> groups;
  Vector offset;  ///< joints [N s]

  Index joints() const { return offset.size(); }
  /// Fills in the joints' rows of `impulse` from its others. No allocation.
  void complete(VectorRef impulse) const;
};

/// O(stored blocks of A + fill + Σ over the groups of joints³ + joints² others). Errors (unsupported): what the groups
/// and the fill take is more than `max_bytes`.
Result<JointElimination> eliminate_joints(const ContactProblem& problem,
                                          double max_bytes = std::numeric_limits<double>::infinity());

/// 1/√x of the positive entries; the others take the mean of these.
Vector inverse_roots(const Vector& diagonal);

}  // namespace conebench
