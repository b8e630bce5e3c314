#pragma once

#include "problems/contact_problem.hpp"

namespace conebench::gauss_seidel {

/// 1 / (r_i V) for every block: r_i = d_i / trace(G_ii + R_ii) (trace ≤ 0: the inverse of the mean of the others),
/// V = max ‖g_i‖ (0: 1). Turns an impulse of the block into a velocity relative to the free velocity.
Vector velocity_weights(const ContactProblem& problem);

/// I_total of Tsounis (160) [kg]: the trace of M where the problem has its primal form. Else the sum of the masses that
/// the blocks show, Σ_i d_i / trace(G_ii + R_ii) over positive traces (1 where there is none), which is not the
/// paper's.
double total_inertia(const ContactProblem& problem);

/// The law at a contact that the residuals measure. `box`: σ_N ≥ 0, λ_N ≥ 0, λ_N σ_N = 0 and friction that dissipates
/// most within |λ_x|, |λ_y| ≤ μ λ_N (LeLidec24 Alg. 1's model).
enum class OwnModel { ncp, ccp, box };

/// The residuals by which the Gauss–Seidel solvers judge themselves under the stop_by `solver`. One product with G
/// each.
class OwnResiduals {
 public:
  /// v̂ below is σ + Γ(σ) (NCP) or σ (CCP).
  OwnResiduals(ContactProblem problem, OwnModel model);

  /// max(‖λ − P_K(λ)‖∞, ‖v̂ − P_K*(v̂)‖∞, largest_complementarity()): Tsounis (156)–(158) in the norm that it uses,
  /// LeLidec24's ε_p, ε_d, ε_c. Absolute: mixes N s, m/s and J as the papers do. For the box the same with its pyramid
  /// K̃, K̃* = {x_N ≥ μ (|x_x| + |x_y|)} and v̂_N = σ_N + μ (|σ_x| + |σ_y|).
  double complementarity(ConstVectorRef impulse);

  /// max_i ‖λ_i − P_{K_i}(λ_i − r_i v̂_i)‖ / (r_i V), an error in velocity relative to the free velocity.
  /// For the NCP and the CCP only.
  double natural_map(ConstVectorRef impulse);

  /// f = ½ λ·(G + R) λ + λ·g [J], Tsounis (17a).
  double objective(ConstVectorRef impulse);

 private:
  void update_velocity(ConstVectorRef impulse);
  /// Of the contacts.
  double box_complementarity(ConstVectorRef impulse);

  ContactProblem problem_;
  OwnModel model_;
  ConeProduct projected_;  ///< rows whose model is K; those before the contacts where that is the box
  Vector inverse_steps_;   ///< 1 / r_i
  double reference_velocity_;
  Vector velocity_;
  Vector scratch_;
};

}  // namespace conebench::gauss_seidel
