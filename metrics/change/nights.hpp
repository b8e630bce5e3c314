#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "metrics/change/change_points.hpp"
#include "metrics/change/two_stores.hpp"

namespace conebench {

/// Number of earlier nights that a night is compared with.
inline constexpr std::size_t recent_nights = 7;

/// Times of one night in one slice, against a reference that is the same for all nights.
struct NightTimes {
  bool there = false;  ///< its times are comparable with the other nights'
  bool quiet = false;  ///< and judged
  std::vector<PairedTime> times;
};

struct TimesOfNights {
  std::vector<std::optional<TimeComparison>> nights;  ///< effects of each configuration; nullopt: not `there`
  std::vector<std::optional<double>>
      moved;  ///< shift of all configurations together, if the night is not judged because of it
  std::vector<std::pair<std::size_t, ChangePoint>> changes;  ///< configuration and where it changed
};

/// Effects of every night, and changes of the configurations. A changed configuration biases the correction of the
/// others. So each change that is found, up to fifty, is subtracted from its configuration before the next search. With
/// two configurations there is no search, since it is unknown which one changed.
TimesOfNights follow_times(const std::vector<NightTimes>& nights, std::size_t configurations);

}  // namespace conebench
