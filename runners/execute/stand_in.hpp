#pragma once

#include <cstdint>

#include "problems/contact_problem.hpp"

namespace conebench {

/// Another problem of the same sizes, cones and sparsity, for a solver to warm up on before it is timed on this one:
/// each block has velocities and impulses in a unit of its own (G' = S G S, R' = S R S, J' = S J), and g is changed by
/// up to a tenth, row by row. Nothing of its answer can be kept for this problem. Without a guess and a reference.
/// Throws std::logic_error where the numbers leave the range.
ContactProblem stand_in(const ContactProblem& problem, std::uint64_t seed);

}  // namespace conebench
