#pragma once

#include <string>

#include "reports/comparison/comparison.hpp"

namespace conebench::reports {

/// Why times are not compared; empty: they are. Adds differences of processor, build and mode to
/// Comparison::differences.
std::string refuse_times(Comparison& comparison);

/// Finds which plug-ins and programs have other files on the two sides, and adds a line with the hashes of each.
void add_other_code(Comparison& comparison);

/// Adds a line if the limits of the sides differ.
void add_other_limits(Comparison& comparison, bool compared);

/// Over paired cells: adds a line for each data set with different versions, and the number of problems with different
/// data.
void add_other_data(Comparison& comparison);

}  // namespace conebench::reports
