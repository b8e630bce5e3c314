#pragma once

#include <cstddef>
#include <cstdint>

#include "store/records.hpp"

namespace conebench::testing {

/// Ten problems of three families, four solvers, two tolerances, with one of everything that a report distinguishes: a
/// false claim, a crash, a timeout, unsupported cells, a cell never run, a duplicate, a trivial and a broken problem,
/// names that attack every format, a cell that passes the relative residual alone.
StoreContents small_store();

/// A sweep of the usual shape at 1e-4, 1e-6 and 1e-8, drawn from `seed`: harder problems, slower and less robust
/// solvers. Problems × solvers × 3 cells, with traces but of the peer; those of the family Rover are a sequence.
StoreContents large_store(std::size_t problems, std::size_t solvers, std::uint64_t seed = 1,
                          std::size_t max_traces = 1'000'000);

/// At 1e-6: a solver without options, one with a grid of one option, one with a grid of two; what is best depends on
/// the family, and values far from it fail. 28 problems of four families.
StoreContents grid_store();

/// The same with what real stores have besides: a round of every measured cell, and what the suite asked for.
StoreContents as_stored(StoreContents store);

/// The same sweep on another night, `seed`: times scatter as on a quiet machine.
StoreContents another_night(StoreContents store, std::uint64_t seed);

/// What a change of solvers does to a night: the second configuration takes 8 % longer, the third twice the iterations
/// on a quarter of its cells, the fourth loses the first problem that it solved, the last one is gone, and so is the
/// last problem.
StoreContents changed_night(StoreContents store);

}  // namespace conebench::testing
