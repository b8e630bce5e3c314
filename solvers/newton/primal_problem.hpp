#pragma once

#include <optional>
#include <string>

#include "problems/contact_problem.hpp"
#include "solvers/newton/block_diagonal.hpp"

namespace conebench::newton {

/// M and J with J M⁻¹ Jᵀ = G and J v_f + b = g.
struct PrimalData {
  SparseMatrix mass, jacobian;
  Vector free_velocity;  ///< v_f
  Vector bias;           ///< b
};

/// The problem's own primal form.
PrimalData given_primal(const ContactProblem& problem);

/// M = I and J a factor of the symmetric part of G, J Jᵀ = G: Cholesky with the largest pivot first, ended where that
/// is 1e-14 of G's largest diagonal entry times the rows. v_f = 0, b = g. Nothing where a pivot shows G to be
/// indefinite. Dense: rows × rank.
std::optional<PrimalData> factored_primal(const ContactProblem& problem);

/// LeLidec24 (22): min over v of ℓ(v) = ½ ‖v − v_f‖²_M + ½ ‖P(y(v))‖²_R, y = −R⁻¹ (J v + b), P the projection onto K in
/// the metric R. The impulse of v is λ = P(y(v)).
///
/// (22)'s second term is max over λ ∈ K of −cᵀλ − ½ ‖λ‖²_R, c = J v + b, reached at P(y), where K is a cone. An
/// interval takes this maximum, too: R λ (y − ½ λ), Huber's function, quadratic in c inside and linear beyond a bound.
///
/// Needs R > 0 in every row, equal in the rows of a contact's group.
class PrimalProblem {
 public:
  PrimalProblem() = default;
  PrimalProblem(PrimalData data, const ConeProduct& cones, const Vector& compliance);

  const PrimalData& data() const { return data_; }
  const ConeProduct& cones() const { return cones_; }

  /// J v + b.
  void constraint_velocity(const Vector& v, Vector& c) const;
  /// λ = P(−R⁻¹ c); returns the second term of ℓ.
  double impulse(const Vector& c, Vector& lambda) const;
  /// The same, with W = ∂P/∂y R⁻¹ by blocks.
  double linearise(const Vector& c, Vector& lambda, BlockDiagonal& weights) const;

 private:
  template <class Store>
  double for_each_block(const Vector& c, Vector& lambda, Store store) const;

  PrimalData data_;
  ConeProduct cones_;
  Vector compliance_;
};

}  // namespace conebench::newton
