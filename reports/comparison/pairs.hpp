#pragma once

#include "reports/comparison/comparison.hpp"

namespace conebench::reports {

/// ComparedProblem::note of a source whose data differ: of the base's problem, and of the new side's.
inline constexpr const char* other_data = "the new run read other data from this source";
inline constexpr const char* other_than_the_base = "other data than the base's";

/// Fills problems, settings, slices (their requests), pairs and `compared`. `any_limits`: cells of other limits are
/// one.
void pair_cells(Comparison& comparison, bool any_limits);

/// `bits`: answers of the two sides can be compared bit for bit. A limit is that of the side which it ended.
CellChange classify(const ComparedCell& base, const ComparedCell& fresh, const Request& of_base,
                    const Request& of_fresh, bool bits);

}  // namespace conebench::reports
