#pragma once

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
struct JointElimination {
  Matrix matrix;     ///< A_cc + A_cj map, others × others [m/s per N s]; contains R
  Vector free_term;  ///< g_c + A_cj offset, others [m/s]
  Matrix map;        ///< joints × others
  Vector offset;     ///< joints [N s]

  Index joints() const { return offset.size(); }
  /// Fills in the joints' rows of `impulse` from its others. No allocation.
  void complete(VectorRef impulse) const;
};

/// Dense: O(joints³ + joints² others).
JointElimination eliminate_joints(const ContactProblem& problem);

/// 1/√x of the positive entries; the others take the mean of these.
Vector inverse_roots(const Vector& diagonal);

}  // namespace conebench
