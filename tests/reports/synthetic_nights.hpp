#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/records.hpp"

namespace conebench::testing {

/// Nights of one build after another on one machine, with the noise that was measured: the machine's speed is common to
/// all configurations (1.5 %), each cell's own is 2.3 %.
struct NightPlan {
  std::size_t problems = 40;       ///< of four families
  std::size_t configurations = 4;  ///< "S0", "S1", …
  std::vector<double> tolerances = {1e-6};
  std::size_t slower = 2;          ///< this configuration
  std::size_t slower_from = 1000;  ///< takes, from this night on,
  double factor = 1.03;            ///< so many times as long
  std::uint64_t seed = 1;
};

/// Night `night` (0, 1, …) as a finished store: 2026-01-01 is the first, each with a commit and an executable of its
/// own.
StoreContents synthetic_night(const NightPlan& plan, std::size_t night);

}  // namespace conebench::testing
