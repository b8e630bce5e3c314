#include "metrics/change/nights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "metrics/statistics.hpp"

namespace conebench {

namespace {

using Matrix = std::vector<std::vector<double>>;  // [configuration][night]

/// What holds between two stores holds between a night and those before.
constexpr TimeRules usual{};
constexpr std::size_t max_nights_a_side = 8;  // to each side of a change, for its size
constexpr std::size_t max_taken_off = 50;     // each costs a pass over the nights

/// Of the night as it would be without the changes in `changed`, log effects by configuration.
std::optional<TimeComparison> compared(const NightTimes& night, std::size_t n, const Matrix& changed) {
  if (!night.there) return std::nullopt;
  // Only effects are wanted here: no bootstrap, and families whatever the rest does.
  TimeRules rules;
  rules.resamples = 1;
  rules.together_bar = std::numeric_limits<double>::infinity();
  rules.min_cells = rules.min_family_cells;
  std::vector<PairedTime> times = night.times;
  for (PairedTime& time : times) time.log_ratio -= changed[time.configuration][n];
  return compare_times(times, changed.size(), false, rules);
}

/// What moved all configurations, on quiet nights where it is too much against the nights before to judge a
/// configuration.
std::vector<std::optional<double>> moved_together(const std::vector<NightTimes>& nights,
                                                  const std::vector<std::optional<TimeComparison>>& effects) {
  std::vector<std::optional<double>> moved(nights.size());
  std::vector<double> before;
  for (std::size_t n = 0; n < nights.size(); ++n) {
    if (!effects[n] || !nights[n].quiet) continue;
    const auto recent = std::span(before).last(std::min(recent_nights, before.size()));
    const double by = effects[n]->together - median(recent).value_or(effects[n]->together);
    if (std::abs(by) > usual.together_bar) moved[n] = by;
    before.push_back(effects[n]->together);
  }
  return moved;
}

/// Corrected effects that may be judged, else NaN.
Matrix levels_of(const std::vector<NightTimes>& nights, const std::vector<std::optional<TimeComparison>>& effects,
                 std::size_t configurations) {
  Matrix levels(configurations, std::vector<double>(nights.size(), std::numeric_limits<double>::quiet_NaN()));
  const auto moved = moved_together(nights, effects);
  for (std::size_t n = 0; n < nights.size(); ++n) {
    const bool judged = effects[n] && nights[n].quiet && !moved[n];
    if (!judged || configurations_with_times(*effects[n]) < min_configurations) continue;
    for (std::size_t s = 0; s < configurations; ++s) {
      if (effects[n]->configurations[s].cells >= usual.min_cells)
        levels[s][n] = effects[n]->configurations[s].corrected;
    }
  }
  return levels;
}

using Found = std::pair<std::size_t, ChangePoint>;

/// The change that was seen first and is not known; of several the largest.
std::optional<Found> next_change(const Matrix& levels, const std::vector<Found>& known) {
  std::optional<Found> next;
  for (std::size_t s = 0; s < levels.size(); ++s) {
    for (const ChangePoint& change : find_changes(levels[s])) {
      const bool is_known = std::any_of(known.begin(), known.end(), [&](const Found& old) {
        return old.first == s && old.second.first_after == change.first_after;
      });
      if (is_known) continue;
      const bool first =
          !next || change.seen_at < next->second.seen_at ||
          (change.seen_at == next->second.seen_at && std::abs(change.effect) > std::abs(next->second.effect));
      if (first) next = Found{s, change};
    }
  }
  return next;
}

/// Log effect of a change: medians of the nights around it.
double size_of(const std::vector<double>& levels, const ChangePoint& change) {
  std::vector<double> before, after;
  for (std::size_t n = change.first_after; n-- > 0 && before.size() < max_nights_a_side;) {
    if (std::isfinite(levels[n])) before.push_back(levels[n]);
  }
  for (std::size_t n = change.first_after; n < levels.size() && after.size() < max_nights_a_side; ++n) {
    if (std::isfinite(levels[n])) after.push_back(levels[n]);
  }
  return median(after).value_or(0.0) - median(before).value_or(0.0);
}

}  // namespace

TimesOfNights follow_times(const std::vector<NightTimes>& nights, std::size_t configurations) {
  Matrix changed(configurations, std::vector<double>(nights.size(), 0.0));
  TimesOfNights result;
  for (std::size_t n = 0; n < nights.size(); ++n) result.nights.push_back(compared(nights[n], n, changed));
  result.moved = moved_together(nights, result.nights);
  auto effects = result.nights;
  // No change is found twice, so that this ends; those beyond `max_taken_off` are reported as they show beside each
  // other.
  for (Matrix levels = levels_of(nights, effects, configurations);
       const auto next = next_change(levels, result.changes); levels = levels_of(nights, effects, configurations)) {
    result.changes.push_back(*next);
    if (result.changes.size() > max_taken_off) continue;
    const auto& [configuration, change] = *next;
    const double size = size_of(levels[configuration], change);
    for (std::size_t n = change.first_after; n < nights.size(); ++n) {
      changed[configuration][n] += size;
      effects[n] = compared(nights[n], n, changed);
    }
  }
  return result;
}

}  // namespace conebench
