#pragma once

#include <cstddef>
#include <span>

#include "metrics/change/configuration_times.hpp"

namespace conebench {

/// Whether configurations became slower between two stores of one machine: docs/compare.md has the procedure and how
/// often it errs.

/// A cell that both stores solved. The three are indices from 0; a configuration has one time a problem.
struct PairedTime {
  std::size_t configuration = 0;
  std::size_t problem = 0;
  std::size_t family = 0;
  double log_ratio = 0.0;  ///< of the minima of the total time
  double seconds = 1.0;    ///< of the baseline
  bool same_work = true;   ///< else it is no control for other configurations
};

/// `configurations`: their number. `loaded`: one of the two stores was (metrics/change/load.hpp).
TimeComparison compare_times(std::span<const PairedTime> times, std::size_t configurations, bool loaded,
                             const TimeRules& rules = {});

}  // namespace conebench
