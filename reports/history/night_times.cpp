#include "reports/history/night_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "metrics/statistics.hpp"

namespace conebench::reports {

namespace {

using Matrix = std::vector<std::vector<double>>;  // [setting][night]

constexpr std::size_t recent_nights = 7;
constexpr std::size_t settled_nights = 8;  // around a change, which its size is told from
constexpr std::size_t most_changes = 20;
constexpr double together_bar = 0.06;  // log ratio to the nights before, beyond which a night is not judged
constexpr std::size_t fewest_cells = 10;

/// `changed`: log effects of known changes, which are taken off.
std::vector<std::optional<TimeComparison>> compared(const std::vector<NightTimes>& nights, std::size_t settings,
                                                    const Matrix& changed) {
  // Only effects are wanted here: no bootstrap, and families whatever the rest does.
  TimeRules rules;
  rules.resamples = 1;
  rules.together_bar = std::numeric_limits<double>::infinity();
  rules.fewest_cells = rules.fewest_family_cells;
  std::vector<std::optional<TimeComparison>> effects(nights.size());
  for (std::size_t n = 0; n < nights.size(); ++n) {
    if (!nights[n].there) continue;
    std::vector<PairedTime> times = nights[n].times;
    for (PairedTime& time : times) time.log_ratio -= changed[time.setting][n];
    effects[n] = compare_times(times, settings, false, rules);
  }
  return effects;
}

/// Corrected effects that may be judged, else NaN.
Matrix levels_of(const std::vector<NightTimes>& nights, const std::vector<std::optional<TimeComparison>>& effects,
                 std::size_t settings) {
  Matrix levels(settings, std::vector<double>(nights.size(), std::numeric_limits<double>::quiet_NaN()));
  std::vector<double> before;  // what moved all settings, night by night
  for (std::size_t n = 0; n < nights.size(); ++n) {
    if (!effects[n] || !nights[n].quiet) continue;
    const double together = effects[n]->together;
    const auto recent = std::span(before).last(std::min(recent_nights, before.size()));
    const bool moved = !recent.empty() && std::abs(together - *median(recent)) > together_bar;
    before.push_back(together);
    if (moved || one_alone(*effects[n])) continue;
    for (std::size_t s = 0; s < settings; ++s) {
      if (effects[n]->settings[s].cells >= fewest_cells) levels[s][n] = effects[n]->settings[s].corrected;
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
  for (std::size_t n = change.first_after; n-- > 0 && before.size() < settled_nights;) {
    if (std::isfinite(levels[n])) before.push_back(levels[n]);
  }
  for (std::size_t n = change.first_after; n < levels.size() && after.size() < settled_nights; ++n) {
    if (std::isfinite(levels[n])) after.push_back(levels[n]);
  }
  return median(after).value_or(0.0) - median(before).value_or(0.0);
}

}  // namespace

bool one_alone(const TimeComparison& times) {
  return std::count_if(times.settings.begin(), times.settings.end(),
                       [](const SettingTimes& one) { return one.cells > 0; }) < 2;
}

TimesOfNights follow_times(const std::vector<NightTimes>& nights, std::size_t settings) {
  Matrix changed(settings, std::vector<double>(nights.size(), 0.0));
  TimesOfNights result{.nights = compared(nights, settings, changed), .changes = {}};
  auto effects = result.nights;
  while (result.changes.size() < most_changes) {
    const Matrix levels = levels_of(nights, effects, settings);
    const auto next = next_change(levels, result.changes);
    if (!next) break;
    result.changes.push_back(*next);
    const auto& [setting, change] = *next;
    const double size = size_of(levels[setting], change);
    for (std::size_t n = change.first_after; n < nights.size(); ++n) changed[setting][n] += size;
    effects = compared(nights, settings, changed);
  }
  return result;
}

}  // namespace conebench::reports
