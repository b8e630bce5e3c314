#pragma once

#include "base/result.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// The impulses behind contact velocities that are given (paper Carpentier24 Sec. IV):
///
///     find λ ∈ K :   σ = R λ + c,   K ∋ λ ⟂ σ + Γ(σ) ∈ K*,     c = J v_ref + γ        (Carpentier24 eq. (47))
///
/// G is not in it: what the contacts do to the bodies is undone by the torque. Where R = 0, σ = c whatever λ is, and
/// the answer is not unique: of a contact that slides every α (−μ c_T/‖c_T‖, 1), α ≥ 0, is one, and of one at rest
/// every λ of the cone. Which one comes out is decided by the start. Where some c_N < 0 and R = 0 there is none.
struct ContactInversionOptions {
  double rho = 1e-8;        ///< ρ of the proximal term [1/kg]
  double tolerance = 1e-6;  ///< of ContactInversion::residual
  long max_iterations = 1000;
  bool de_saxce = true;  ///< false: Γ = 0 (the CCP), which has no answer where a contact slides and R = 0
};

struct ContactInversion {
  Vector impulse;   ///< λ, rows [N s]
  Vector velocity;  ///< σ = R λ + c, rows [m/s]
  long iterations = 0;
  /// max_i ‖λ_i − P_K(λ_i − ρ̂_i (σ + Γ(σ))_i)‖ / ρ̂_i with ρ̂_i = 1/(ρ + mean R_ii): the natural map in velocities [m/s].
  double residual = 0.0;
  bool converged = false;
  Vector growth;  ///< ‖λ_k‖, one an iteration
};

/// Paper Carpentier24 Alg. 2 lines 1 to 4, from `start` (rows). `target`: c, rows. `compliance`: the diagonal of R,
/// rows, or empty for R = 0; equal on the two tangents of a contact (Carpentier24 eq. (24)).
///
/// The projection of line 3 is in the metric R + ρ Id. A contact's block of it is diag(a, a, b), and x = (x_T, x_N) is
/// projected by the Euclidean projection of (√a x_T, √b x_N) onto the cone of friction μ √(a/b).
ContactInversion invert_contacts(const ConeProduct& cones, const Vector& compliance, const Vector& target,
                                 const Vector& start, const ContactInversionOptions& options);

struct InverseDynamics {
  Vector velocity;      ///< v_ref = J⁺ (c_ref − γ), the least one, n_v [m/s, rad/s]
  Vector target;        ///< c = J v_ref + γ, rows [m/s]; c_ref itself where it is reached to 1e-9 of its size
  double missed = 0.0;  ///< max |J v_ref + γ − c_ref| [m/s]: what no joint velocity reaches
  ContactInversion contacts;
  Vector torque;  ///< τ Δt = M (v_ref − v_free) − Jᵀ λ, besides what v_free has in it, n_v [N s, N m s] (Alg. 2 line 5)
};

/// Paper Carpentier24 Alg. 2 on a time step given by M, J, v_free, γ = bias and R. `wanted`: c_ref, rows [m/s]; rows of
/// joints and limits too. `start`: λ_0, rows. Errors: unsupported for a problem without M and J, bad_input where M is
/// singular.
Result<InverseDynamics> inverse_dynamics(const ContactProblem& problem, const Vector& wanted, const Vector& start,
                                         const ContactInversionOptions& options);

/// The forward problem of the same step with a torque: v_free + M⁻¹ τ Δt in the place of v_free. Errors as above.
Result<ContactProblem> with_torque(const ContactProblem& problem, const Vector& torque);

}  // namespace conebench
