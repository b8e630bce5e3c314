#pragma once

#include <optional>

#include "problems/contact_problem.hpp"

namespace conebench {

/// The most that rounding may have left in an entry of g = J v_free + b, a sum of n terms: max_i n_i ε (|J| |v_free| +
/// |b|)_i. Nothing where J is not given.
std::optional<double> free_term_rounding(const ContactProblem& problem);

/// The most that rounding in double may leave in an entry of (G + R) λ, a sum of n terms: max_i n_i ε (|G + R| |λ|)_i.
/// Nothing where G is not given and does not assemble sparsely.
std::optional<double> velocity_rounding(const ContactProblem& problem, ConstVectorRef impulse);

/// max |g_i| over the rounding of what made g; up to 1 nothing in g means anything. The rounding is
/// free_term_rounding() where J is given, and else, whichever is largest:
/// - where there is a reference answer λ and max |g_i| is at most 1e-9 m/s, velocity_rounding();
/// - 64 units, where max |g_i| is below machine epsilon [m/s] and every g_i is a whole multiple of one unit, a power of
///   two: differences of rounded numbers are so, measured speeds are not.
/// Nothing where g = 0 (then λ = 0 solves it) or where no rule applies.
std::optional<double> noise_ratio(const ContactProblem& problem);

}  // namespace conebench
