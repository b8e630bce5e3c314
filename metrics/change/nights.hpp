#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "metrics/change/change_points.hpp"
#include "metrics/change/two_stores.hpp"

namespace conebench {

/// So many of the nights before are what a night is held against.
inline constexpr std::size_t recent_nights = 7;

/// Times of one night in one slice, against a reference that is the same for all nights.
struct NightTimes {
  bool there = false;  ///< its times can be compared with the others'
  bool quiet = false;  ///< and judged
  std::vector<PairedTime> times;
};

struct TimesOfNights {
  std::vector<std::optional<TimeComparison>> nights;  ///< effects of each setting; nothing where not `there`
  std::vector<std::optional<double>> moved;  ///< by how much all settings did, where the night is not judged for it
  std::vector<std::pair<std::size_t, ChangePoint>> changes;  ///< setting and where it changed
};

/// Effects of every night and the settings' changes. A setting that changed is part of what is taken off the others:
/// each change found, up to fifty of them, is taken off its setting before the next is looked for. Of two settings,
/// each of which is what is taken off the other, nothing tells which one changed: none is looked for.
TimesOfNights follow_times(const std::vector<NightTimes>& nights, std::size_t settings);

}  // namespace conebench
