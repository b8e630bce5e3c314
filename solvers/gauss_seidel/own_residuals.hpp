#pragma once

#include "problems/contact_problem.hpp"

namespace conebench::gauss_seidel {

/// 1 / (r_i V) for every block: r_i = d_i / trace(G_ii + R_ii) (trace ≤ 0: the inverse of the mean of the others),
/// V = max ‖g_i‖ (0: 1). Turns an impulse of the block into a velocity relative to the free velocity.
Vector velocity_weights(const ContactProblem& problem);

/// The residuals by which the Gauss–Seidel solvers judge themselves under the criterion `own`. One product with G each.
class OwnResiduals {
 public:
  /// `de_saxce`: with v̂ = σ + Γ(σ) (NCP), else with σ (CCP).
  OwnResiduals(ContactProblem problem, bool de_saxce);

  /// max(‖λ − P_K(λ)‖∞, ‖v̂ − P_K*(v̂)‖∞, max |λ_i·v̂_i| over limits and contacts): 004 (156)–(158) in the norm that
  /// it uses, 002's ε_p, ε_d, ε_c. Absolute: mixes N s, m/s and J as the papers do.
  double complementarity(ConstVectorRef impulse);

  /// max_i ‖λ_i − P_{K_i}(λ_i − r_i v̂_i)‖ / (r_i V), an error in velocity relative to the free velocity.
  double natural_map(ConstVectorRef impulse);

 private:
  void update_velocity(ConstVectorRef impulse);

  ContactProblem problem_;
  bool de_saxce_;
  Vector weights_;
  double reference_velocity_;
  Vector velocity_;
  Vector scratch_;
};

}  // namespace conebench::gauss_seidel
