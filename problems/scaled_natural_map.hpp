#pragma once

#include "problems/contact_problem.hpp"
#include "problems/types.hpp"

namespace conebench {

/// The scaled natural map max_i ‖λ_i − P_{K_i}(λ_i − r_i v̂_i)‖ / (r_i V) as solvers, generators and the simulator
/// measure it. The judge has its own code (metrics/residual_formulas).

/// Writes 1 / r_i, one a block: the mean of the diagonal of G_ii + R_ii [(m/s) / N s], or where that is not positive,
/// the mean of the others'; 1 where there is none. `compliance`: R's diagonal, one a row. No allocation.
void mean_diagonals(const BlockSparseMatrix& matrix, ConstVectorRef compliance, VectorRef inverse_steps);
void mean_diagonals(const DiagonalBlocks& blocks, ConstVectorRef compliance, VectorRef inverse_steps);

/// V = max ‖g_i‖ over the cones' blocks [m/s], 1 where g = 0. No allocation.
double reference_velocity(const ConeProduct& cones, ConstVectorRef free_term);

/// Both: the steps are written, V is returned.
double natural_map_scaling(const ContactProblem& problem, VectorRef inverse_steps);

/// The map of `impulse` at the velocities v̂ of its rows (σ for the cone problem); +inf where a number is not finite.
/// `scratch`: rows entries, overwritten. No allocation.
double scaled_natural_map(const ConeProduct& cones, ConstVectorRef impulse, ConstVectorRef velocity,
                          ConstVectorRef inverse_steps, double reference_velocity, VectorRef scratch);

/// The same from the problem alone, with De Saxcé's correction; rows are scaled
/// (problems/scaled_rows.hpp), as they are to be in all that stands above.
double scaled_natural_map(const ContactProblem& problem, ConstVectorRef impulse);

}  // namespace conebench
