#pragma once

#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"

namespace conebench::cascade {

/// Where a mechanism is jammed between its joints and its contacts, an error of its joints as small as rounding decides
/// whether any impulse satisfies both: all that the residual can fall to is the error's share. With joints that are
/// satisfied to the last bit contacts bear all of it; here every joint row takes a part, up to the tolerance.
///
/// 1. The problem with G̃ + α I has a solution, and for α far below the residual its impulses λ grow along those that
///    jam: K ∋ λ_c, σ_c = G_cj λ_j + G_cc λ_c = 0, σ_j = 0. Where G is symmetric no impulses change σ·λ = g·λ; below 0
///    contacts would have to slip against λ_c, and where the friction of that slip jams them further nothing solves it.
/// 2. Among all |e| ≤ ε V, the joints' velocities e = −ε V sign λ_j raise g·λ the most, by ε V ‖λ_j‖₁. Rows that bear
///    less than 1 % of the largest stay as they are. Where G is not symmetric, g·λ with Gᵀ λ = 0 would be what no
///    impulses change, and this e is a guess.
/// 3. The problem with σ_j = e in place of σ_j = 0 is solved for ε of an eighth, then of more of the tolerance, and its
///    impulses are measured on the problem itself, with all its rows, so that a guess that is wrong costs time alone.
///
/// Only where the best point is within ten tolerances; a Newton run and up to four eliminations of the joints with one
/// each. Two eliminations are there at a time, so that each may take half of what one may. True:
/// `search` accepted an impulse, or is halted.
bool relax_joints(Parts& parts, Search& search);

}  // namespace conebench::cascade
