#pragma once

#include "problems/contact_problem.hpp"

namespace conebench {

/// Variables in which every group of tangential rows is a ball of one radius, and moments are comparable to impulses.
///
/// With a unit u_k a row, λ = u λ' and σ' = u σ; G' = U G U, R' = U R U, g' = U g, mu' = mu / u. u is 1 but on
/// tangential rows, where u_k = ℓ mu_k / mu_g: mu_g is the coefficient of the group's first row, and ℓ is 1 in a
/// contact's first group, elsewhere the length ℓ_i of the contact. Solvers see this problem alone
/// (solvers/common_options.cpp), so that a projection is Euclidean whatever the law and the unit of length; the judge
/// scales by code of its own (metrics/residual_evaluation.cpp).

/// u, one entry a row. In rows that are scaled by mu_k / mu_g, ℓ_i² = (mean diagonal of the first group and the normal
/// in (G + R)_ii) / (that of the other groups); where one of the means is not positive, ℓ_i is the mean of the others',
/// or 1 where there is none. All ones where cones().scales() is false.
Vector row_units_of(const ContactProblem& problem);

/// The scaled problem; `problem` itself where cones().scales() is false. Applied to a scaled problem it changes its
/// last digits at most. Guess and bias are scaled too, the reference is dropped. Errors: those of
/// ContactProblem::create, where a unit takes numbers out of range.
Result<ContactProblem> in_row_units(const ContactProblem& problem, const Vector& row_units);
Result<ContactProblem> in_row_units(const ContactProblem& problem);

}  // namespace conebench
