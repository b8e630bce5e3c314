#pragma once

#include "solvers/cascade/parts.hpp"
#include "solvers/cascade/search.hpp"

namespace conebench::cascade {

/// (G̃ + α I, g̃) from scratch for one α after the other, from 1e-6 by tenths, by an interior point. A path that is
/// regularised folds later than the problem's own, and where impulses are large and far from unique (heaps of planks)
/// its end for a small α is nearer to a solution than thousands of proximal steps from zero come: the residual there is
/// about α ‖r‖. Two α in a row without a solution end the fall. The proximal point goes on from the best point with the
/// last α that had one, for a thousand Newton steps, and on while so many more halve its residual. Then once more, by
/// factors of 0.3, which leads to other branches.
///
/// True: `search` accepted a point, or is halted.
bool solve_with_falling_shift(Parts& parts, Search& search);

}  // namespace conebench::cascade
