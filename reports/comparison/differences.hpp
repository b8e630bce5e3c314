#pragma once

#include <string>

#include "reports/comparison/comparison.hpp"

namespace conebench::reports {

/// Why times are not compared: empty where they can be. Adds what processor, build and mode differ in to `differences`.
std::string refuse_times(Comparison& comparison);

/// Finds which plug-ins and programs have other files on the two sides, and adds a line with the hashes of each.
void tell_other_code(Comparison& comparison);

/// Adds that the limits of the sides differ, where they do.
void tell_other_limits(Comparison& comparison, bool compared);

/// Adds which versions of named data sets the sides saw, where they differ, and how many problems' data do. Of paired
/// cells.
void tell_other_data(Comparison& comparison);

}  // namespace conebench::reports
