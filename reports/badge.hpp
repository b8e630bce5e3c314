#pragma once

#include <string>

#include "reports/analysis.hpp"

namespace conebench::reports {

/// The badge of a README as SVG: the suite, a configuration and the problems that it solves at the tightest tolerance,
/// and the day of the last run. The configuration is the best of the solvers that are not part of Conebench
/// (ConfigurationRecord::origin `foreign`), or if there is none, the best of all. Its tooltip has the tolerance.
/// `alarm`: the night has one; the badge says so and is red.
std::string badge_svg(const Analysis& analysis, bool alarm = false);

}  // namespace conebench::reports
