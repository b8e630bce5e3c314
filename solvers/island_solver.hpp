#pragma once

#include <functional>
#include <memory>

#include "solvers/solver.hpp"

namespace conebench {

/// Makes one solver after another, all of them alike.
using SolverMaker = std::function<Result<std::unique_ptr<Solver>>()>;

/// Solves a problem's islands (problems/islands.hpp) one after the other, each by a solver of its own as a problem of
/// its own: with all of `max_iterations`, with its own stop test, and where the monitor decides, until the island's
/// rows pass. A problem of one island is left to the solver as it is.
///
/// The monitor sees the impulse of the whole, where islands to come stand at the guess; its numbers go on from island
/// to island. At the end it judges the whole. The summary's iterations are the largest number of an island's,
/// factorizations and products the sum over the islands; status and message are of the island that ended worst. An
/// island that fails does not end the others, but for the time limit.
///
/// `min_blocks`: islands of fewer blocks are put together (Islands), since making a part costs as much as some sweeps.
/// `measures`: the solver proposes iterates by its own scaled residual; where the monitor decides, an island's
/// tolerance counts in the velocities of the whole then, as the judge's does.
std::unique_ptr<Solver> make_island_solver(SolverMaker make, std::unique_ptr<Solver> first, Index min_blocks,
                                           bool measures);

}  // namespace conebench
