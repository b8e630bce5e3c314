#pragma once

#include "reports/comparison/comparison.hpp"

namespace conebench::reports {

/// Fills problems, settings, slices (their requests), pairs and `compared`. `any_limits`: cells of other limits are
/// one.
void pair_cells(Comparison& comparison, bool any_limits);

/// `bits`: answers of the two sides can be compared bit for bit. A limit is that of the side which it ended.
CellChange classify(const ComparedCell& base, const ComparedCell& fresh, const Request& of_base,
                    const Request& of_fresh, bool bits);

}  // namespace conebench::reports
