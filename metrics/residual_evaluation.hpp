#pragma once

#include <vector>

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
  double friction = 0.0;
  double r = 1.0;  ///< r_i = d_i / trace(G_ii + R_ii) [N s per m/s]
};

/// Workspace of the judge for one problem. The constructor and reset() do the allocations.
class ResidualEvaluation {
 public:
  explicit ResidualEvaluation(const ContactProblem& problem);

  /// Takes an answer (rows long) and computes sigma = (G + R) λ + g. No allocation.
  void set_impulse(ConstVectorRef impulse);

  const ContactProblem& problem() const { return problem_; }
  int dimension() const { return problem_.cones().contact_dimension(); }
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
