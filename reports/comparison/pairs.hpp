#pragma once

#include "reports/comparison/comparison.hpp"

namespace conebench::reports {

/// Fills problems, configurations, slices (their requests), pairs and `compared`. `any_limits`: cells are paired
/// even if their limits differ.
void pair_cells(Comparison& comparison, bool any_limits);

/// `bits`: answers of the two sides can be compared bit for bit. A limit refers to the side that it ended.
CellChange classify(const ComparedCell& baseline, const ComparedCell& candidate, const Request& of_baseline,
                    const Request& of_candidate, bool bits);

}  // namespace conebench::reports
