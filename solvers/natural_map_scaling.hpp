#pragma once

#include "problems/contact_problem.hpp"
#include "problems/types.hpp"

namespace conebench {

/// Writes 1 / r_i, one a block, with r_i the step of the scaled natural map ‖λ_i − P_{K_i}(λ_i − r_i v̂_i)‖ / (r_i V):
/// the mean of the diagonal of G_ii + R_ii [(m/s) / N s], or where that is not positive, of the others' means. Returns
/// V = max ‖g_i‖ [m/s], 1 where g = 0. No allocation.
double natural_map_scaling(const ContactProblem& problem, VectorRef inverse_steps);

}  // namespace conebench
