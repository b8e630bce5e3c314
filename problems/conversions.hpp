#pragma once

#include "problems/contact_problem.hpp"

namespace conebench {

/// The problem with (G + Gᵀ)/2, block sparse, in place of G; `problem` itself where G is symmetric to the last bit.
/// Keeps guess and configuration; drops the reference, which answers another problem, and the primal form where
/// the asymmetry exceeds 1e-12, because J M⁻¹ Jᵀ is then another matrix.
ContactProblem symmetrised(const ContactProblem& problem);

/// The problem with compliance in every row: where R is 0 it becomes `share` times the diagonal of G, or, where that is
/// not positive, times the mean of the diagonal's positive entries (1 where there is none). The tangential rows of a
/// contact get one value, share times their mean, and so do its moments. `problem` itself where share = 0 or R > 0
/// everywhere. Drops the reference, which answers another problem.
ContactProblem with_compliance(const ContactProblem& problem, double share);

/// The same problem with impulses counted in `unit` [N s] > 0, λ' = λ/unit: G, R and guess accordingly, M and body
/// masses over unit; velocities stay. With unit = Δt it is solved for forces. Drops the reference. Throws
/// std::logic_error where the numbers leave the range.
ContactProblem in_impulse_unit(const ContactProblem& problem, double unit);

/// Asymmetry (relative, Frobenius) above which a solver that needs a symmetric G solves another problem.
inline constexpr double symmetry_tolerance = 1e-12;

}  // namespace conebench
