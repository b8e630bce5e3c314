#pragma once

#include <vector>

#include "metrics/block_residuals.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// A number and the block it comes from.
struct WorstBlock {
  double value = 0.0;
  Index block = -1;  ///< -1 while the value is 0

  /// Keeps the larger; what is not a number counts as +inf.
  void take(double candidate, Index from);
};

/// What a problem fixes for all answers: one entry a block.
struct BlockScale {
  BlockKind kind = BlockKind::joint;
  Index row = 0;
  BlockFriction friction;
  double r = 1.0;  ///< r_i = d_i / trace(G_ii + R_ii) [N s per m/s]
};

/// Workspace of the judge for one problem. The constructor does the allocations.
///
/// With rolling friction everything here is in scaled variables, D λ and D⁻¹ σ with D = diag(1, 1, 1, 1/ℓ, 1/ℓ) and
/// ℓ_i = √(mean diagonal of the translations of (G + R)_ii / of its rotations); where one of the two is not positive,
/// the mean of the others' ℓ, or 1 (docs/metrics.md).
class ResidualEvaluation {
 public:
  explicit ResidualEvaluation(const ContactProblem& problem);

  /// Takes an answer (rows long) and computes sigma = (G + R) λ + g. No allocation.
  void set_impulse(ConstVectorRef impulse);

  const ContactProblem& problem() const { return problem_; }
  /// g.
  const Vector& free_term() const { return free_term_; }
  const std::vector<BlockScale>& blocks() const { return blocks_; }
  /// V = max_i ‖g_i‖ over the blocks, 1 where that is 0 [m/s].
  double velocity_scale() const { return velocity_scale_; }

  /// False where λ has entries that are not finite, or so large that sigma has.
  bool finite() const { return finite_; }
  /// First block with an entry that is not finite, where !finite().
  Index first_bad_block() const { return first_bad_block_; }
  const Vector& impulse() const { return impulse_; }
  const Vector& velocity() const { return sigma_; }
  /// v̂ = sigma + Γ(sigma).
  const Vector& augmented_velocity() const { return augmented_; }
  /// One number a block, for norms over all blocks.
  Vector& scratch() { return scratch_; }

 private:
  ContactProblem problem_;
  Vector lengths_;  ///< one a row: ℓ on moments, else 1
  Vector free_term_;
  std::vector<BlockScale> blocks_;
  double velocity_scale_ = 1.0;
  bool finite_ = true;
  Index first_bad_block_ = -1;
  Vector impulse_;
  Vector sigma_;
  Vector augmented_;
  Vector scratch_;
};

}  // namespace conebench
