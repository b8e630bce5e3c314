#pragma once

#include "problems/cones/rolling.hpp"

namespace conebench::gauss_seidel {

// The exact solution of the law of friction and rolling resistance at one contact, in scaled variables:
//     find r ∈ K:  σ = D r + b,  K ∋ r ⟂ σ + Γ(σ) ∈ K*,   K = {‖r_T‖ ≤ μ r_n, ‖r_M‖ ≤ μ_r r_n},
// with D = G_ii + R_ii, used as given. Open where b_n ≥ 0; stick where −D⁻¹ b lies in K; else one of slip, roll and
// both, for which there is no closed form: Newton's method on the natural map F(r) = r − P_K(r − ρ v̂), ρ = 5 /
// trace(D), with P_K's and Γ's generalised derivatives, damped, from the old impulse and then from others. Where that
// ends short, extragradient steps lead it on, which decrease the distance to a solution of the cone problem behind.

/// The impulse r, with an error of about 1e-15 ‖b‖ where D is regular (`regular`: D⁻¹ may be formed); the candidate
/// with the smallest error where none is found.
RollingVector solve_rolling_contact(const RollingMatrix& block, const RollingCone& cone, const RollingVector& free,
                                    const RollingVector& old, bool regular);

}  // namespace conebench::gauss_seidel
