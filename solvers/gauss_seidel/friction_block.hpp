#pragma once

#include "problems/cones/friction_cone.hpp"

namespace conebench::gauss_seidel {

// The exact solution of any law of friction at one contact, in scaled variables:
//     find r ∈ K:  σ = D r + b,  K ∋ r ⟂ σ + Γ(σ) ∈ K*,
// with K a FrictionCone and D = G_ii + R_ii, used as given. Open where b_n ≥ 0; stick where −D⁻¹ b lies in K; else one
// of its faces, for which there is no closed form: Newton's method on the natural map F(r) = r − P_K(r − ρ v̂), ρ = d /
// trace(D), with P_K's and Γ's generalised derivatives, damped, from the old impulse and then from others. Where that
// ends short, extragradient steps lead it on, which decrease the distance to a solution of the cone problem behind.

/// The impulse r, with an error of about 1e-15 ‖b‖ where D is regular (`regular`: D⁻¹ may be formed); the candidate
/// with the smallest error where none is found. No allocation.
FrictionCone::Block solve_friction_contact(const FrictionCone::Square& block, const FrictionCone& cone,
                                           const FrictionCone::Block& free, const FrictionCone::Block& old,
                                           bool regular);

/// ‖r − P_K(r − ρ v̂)‖ / ρ of one contact: its error in velocity.
double friction_error(const FrictionCone::Square& block, const FrictionCone& cone, const FrictionCone::Block& free,
                      const FrictionCone::Block& impulse);

}  // namespace conebench::gauss_seidel
