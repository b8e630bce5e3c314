#pragma once

#include <array>
#include <variant>
#include <vector>

#include "metrics/block_residuals.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// A maximum over blocks, and the block that attains it.
struct WorstBlock {
  double value = 0.0;
  Index block = -1;  ///< -1 while the value is 0

  /// Keeps the larger value; NaN counts as +inf.
  void take(double candidate, Index from);
};

/// Data of a block that does not depend on the answer.
template <class Real>
struct BlockScale {
  BlockKind kind = BlockKind::joint;
  Index row = 0;
  Real inverse_step = 1.0;  ///< 1 / r_i = trace(G_ii + R_ii) / d_i [m/s per N s]
};

/// λ − P_K(λ), v̂ − P_K*(v̂) and λ − P_K(λ − v̂).
enum class SharedMap { primal, dual, natural };
inline constexpr std::size_t shared_maps = 3;

/// The cones of all contacts.
template <class Real>
using Contacts = std::variant<std::vector<CoulombBlock<Real, 3>>, std::vector<CoulombBlock<Real, 2>>,
                              std::vector<FrictionBlock<Real>>>;

/// Workspace of the judge for one problem. The constructor does the allocations.
///
/// Everything here is in scaled variables, where each group of tangential rows is a ball: λ_k / u_k and u_k σ_k with
/// u_k = ℓ_i mu_k / mu_g, mu_g the coefficient of the group's first row. ℓ_i is 1 in a contact's first group; elsewhere
/// √(mean diagonal of (G + R)_ii over the first group and the normal / over the other groups), of rows that are scaled
/// by mu_k / mu_g, and where one of the two is not positive, the mean of the others' ℓ, or 1 (docs/metrics.md).
template <class Real>
class ResidualEvaluation {
 public:
  explicit ResidualEvaluation(const ContactProblem& problem);

  /// Takes an answer (rows long) and computes sigma = (G + R) λ + g: in double by the operator that solvers have,
  /// without allocation; in more digits from the given entries (metrics/accurate_velocity.hpp).
  void set_impulse(ConstVectorRef impulse);

  const ContactProblem& problem() const { return problem_; }
  /// g.
  const RealVector<Real>& free_term() const { return free_term_; }
  const std::vector<BlockScale<Real>>& blocks() const { return blocks_; }
  /// Returns visit(set) with the block's own set: FreeRow, LimitRow, IntervalRow, CoulombBlock or FrictionBlock. All
  /// contacts have one class: Coulomb's where they are so in scaled variables.
  template <class Visit>
  decltype(auto) with_set(Index block, Visit&& visit) const {
    switch (blocks_[static_cast<std::size_t>(block)].kind) {
      case BlockKind::joint: return visit(FreeRow{});
      case BlockKind::limit: return visit(LimitRow{});
      case BlockKind::interval: {
        const auto [lower, upper] = problem_.cones().bounds(block);
        return visit(IntervalRow{lower, upper});
      }
      case BlockKind::contact: break;
    }
    const auto contact = static_cast<std::size_t>(block - problem_.cones().first_contact_row());
    return std::visit([&](const auto& contacts) -> decltype(auto) { return visit(contacts[contact]); }, contacts_);
  }
  /// u, one a row.
  const RealVector<Real>& units() const { return units_; }
  /// V = max_i ‖g_i‖ over the blocks, 1 where that is 0 [m/s].
  const Real& velocity_scale() const { return velocity_scale_; }
  /// Takes another V, of the problem that this one is a part of.
  void measure_by(const Real& velocity_scale) { velocity_scale_ = velocity_scale; }

  /// False if λ or sigma has an entry that is not finite.
  bool finite() const { return finite_; }
  /// If !finite(): the first block with such an entry.
  Index first_bad_block() const { return first_bad_block_; }
  const RealVector<Real>& impulse() const { return impulse_; }
  const RealVector<Real>& velocity() const { return sigma_; }
  /// v̂ = sigma + Γ(sigma).
  const RealVector<Real>& augmented_velocity() const { return augmented_; }
  /// Estimated largest rounding error of λ_i / r_i and v̂_i, divided by V. In double it is not computed: 0.
  double rounding() const { return rounding_; }
  /// A map of λ and v̂, one number a row, that several residuals share. The first call computes it by fill(values).
  const RealVector<Real>& shared(SharedMap map, auto fill) {
    const auto index = static_cast<std::size_t>(map);
    if (!shared_known_[index]) fill(shared_[index]);
    shared_known_[index] = true;
    return shared_[index];
  }

 private:
  void find_rounding();

  ContactProblem problem_;
  RealVector<Real> units_;
  RealVector<Real> free_term_;
  std::vector<BlockScale<Real>> blocks_;
  Contacts<Real> contacts_;
  Real velocity_scale_ = 1.0;
  bool finite_ = true;
  Index first_bad_block_ = -1;
  RealVector<Real> impulse_;
  RealVector<Real> sigma_;
  RealVector<Real> augmented_;
  Vector error_;  ///< of sigma before its scaling, one bound a row; empty in double
  double rounding_ = 0.0;
  std::array<RealVector<Real>, shared_maps> shared_;
  std::array<bool, shared_maps> shared_known_{};
};

}  // namespace conebench
