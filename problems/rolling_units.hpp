#pragma once

#include "problems/contact_problem.hpp"

namespace conebench {

/// The units in which moments of rolling friction are comparable to impulses. With a length ℓ_i a contact and
/// D = diag(1, 1, 1, 1/ℓ, 1/ℓ) the scaled problem is one in λ' = D λ, σ' = D⁻¹ σ: G' = D⁻¹ G D⁻¹, R' = D⁻¹ R D⁻¹,
/// g' = D⁻¹ g, mu_r' = mu_r/ℓ. Solvers see it alone (solvers/common_options.cpp), so that a projection is one in
/// impulses whatever the unit of length; the judge scales by code of its own (metrics/residual_evaluation.cpp).

/// D⁻¹, one entry a row: 1, and ℓ_i on moments. ℓ_i² = (mean diagonal of the translations of (G + R)_ii) / (that of its
/// rotations); where one of the means is not positive, ℓ_i is the mean of the others', or 1 where there is none. All
/// ones without rolling friction.
Vector rolling_row_units(const ContactProblem& problem);

/// The scaled problem; `problem` itself without rolling friction. Applied to a scaled problem it changes its last
/// digits at most. Guess and bias are scaled too, the reference is dropped. Errors: those of ContactProblem::create,
/// where a length takes numbers out of range.
Result<ContactProblem> in_rolling_units(const ContactProblem& problem, const Vector& row_units);
Result<ContactProblem> in_rolling_units(const ContactProblem& problem);

}  // namespace conebench
