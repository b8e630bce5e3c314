#pragma once

#include "problems/contact_problem.hpp"

namespace conebench {

enum class FeasibilityState {
  infeasible,    ///< no solution: `certificate` excludes it
  not_excluded,  ///< no certificate: there may be a solution
  undecided,     ///< the linear program was not solved, in its time or because of rounding
  no_library,    ///< this build has no solver of linear programs
};

/// Whether the NCP has a solution.
///
/// σ + Γ(σ) ∈ K* asks of σ only that joints rest and that limits and normals do not close, also of intervals with one
/// infinite bound: Γ takes the tangents' part away. So z with z ≥ 0 on limits, normals and intervals without an upper
/// bound, z ≤ 0 on those without a lower one, free on joints, 0 on all other rows, (G + R)ᵀ z = 0 and gᵀ z < 0 excludes
/// every solution (Farkas), whatever the symmetry and the signs of G: zᵀ σ ≥ 0 is asked, zᵀ σ = gᵀ z is had.
/// Where G comes from M and J, Jᵀ z = 0 is the same. Rows with R > 0 have z = 0. Intervals with two finite bounds have
/// z = 0, as they allow every σ; that their impulses are bounded adds nothing where G is positive semidefinite: with
/// (G + R)ᵀ z = 0 on all other rows, zᵀ G z = 0, so that G z = 0 on theirs too.
///
/// (G + R)ᵀ z is hardly ever exactly 0 in doubles, so what is proved is this: with x the unknown of σ = A x + g (λ, or
/// J's velocities) and c_k the largest entry of A's column k, any solution has Σ c_k |x_k| ≥ speed_bound. c_k |x_k| is
/// the speed that x_k gives a contact by itself. It is `infeasible` where that is 1e10 times the largest free speed and
/// −gᵀ z / ‖z‖₁ at least 1e-9 of it and not below the rounding of g. Rounding of the proof itself is in the bounds,
/// and nothing but rounding may be left of Aᵀ z.
///
/// Nor is an answer nearly one: see verdict_bound. Its proof: with e_i the natural map of a block over r_i, v̂_i − e_i
/// is in K*, so that σ_N ≥ −√(1 + Σ_g μ_g²) ‖e_i‖ on a contact, and a row with bounds misses by at most |e_i|.
///
/// For G symmetric and positive semidefinite a solution exists where λ reaches joints at rest and σ inside K* on limits
/// and contacts: σ_N > Σ_g μ_g ‖σ_g‖ (Acary, Cadoux, Lemaréchal and Malick 2011). σ_N > 0 alone is not enough: a
/// body in a wedge steeper than its friction cone that has to leave it faster than at rest can slide out, and friction
/// holds it all the same.
struct Feasibility {
  FeasibilityState state = FeasibilityState::not_excluded;
  /// Infeasible: gᵀ z / ‖z‖₁, below 0: in some row of every answer σ misses by that much. Else 0. [m/s]
  double margin = 0.0;
  double speed_bound = 0.0;  ///< infeasible: see above [m/s]; inf where (G + R)ᵀ z = 0
  /// Infeasible: every λ with Σ c_k |x_k| up to 1e10 times the largest free speed has a natural_map_scaled of at least
  /// −gᵀ z / (V (Σ_contacts √(1 + Σ_g μ_g²) z + Σ_others |z|)), rounded down and less what Aᵀ z leaves.
  double verdict_bound = 0.0;
  Vector certificate;      ///< z, rows; empty unless infeasible
  Index worst_block = -1;  ///< infeasible: the block whose part of gᵀ z is the most negative
};

/// Looks for a certificate for max_seconds of the processor at most [s], and half of it more for one with a larger
/// bound.
Feasibility check_feasibility(const ContactProblem& problem, double max_seconds);

/// Judges a certificate: its state is `infeasible` where `z` is one by the rule above, else `not_excluded`. Needs no
/// library.
Feasibility judge_certificate(const ContactProblem& problem, ConstVectorRef z);

}  // namespace conebench
