#pragma once

#include <cstdint>

#include "problems/contact_problem.hpp"

namespace conebench {

/// Another problem of the same sizes, cones and sparsity, for a solver to warm up on before it is timed on this one:
/// each block has its own units of velocity and impulse (G' = S G S, R' = S R S, J' = S J), and each row of g changes
/// by up to a tenth. Its answer is of no use for this problem. It has no guess and no reference. Throws
/// std::logic_error if a number overflows or underflows.
ContactProblem stand_in(const ContactProblem& problem, std::uint64_t seed);

}  // namespace conebench
