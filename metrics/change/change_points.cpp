#include "metrics/change/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "metrics/statistics.hpp"

namespace conebench {

namespace {

constexpr double min_deviation = 0.003;    // of a night, whatever the series says
constexpr double mad_to_deviation = 1.56;  // 1.4826, and that the MAD of some ten values falls short
constexpr double median_variance = 1.57;   // π/2: of a median, in variances of a mean
constexpr double two_nights_effect = 0.01, two_nights_z = 3.0;
constexpr double creep_effect = 0.007, creep_z = 4.5;
constexpr std::size_t creep_lengths[] = {5, 8};
constexpr std::size_t nights_below_the_bar = 5;  // that a change may have begun before two nights showed it

/// The nights since the last change that have a value, newest last.
struct Segment {
  std::vector<double> levels;
  std::vector<std::size_t> positions;

  std::size_t size() const { return levels.size(); }
  /// `count` nights, or what there is of them, that end before index `end`.
  std::span<const double> before(std::size_t end, std::size_t count) const {
    const std::size_t begin = end > count ? end - count : 0;
    return std::span(levels).subspan(begin, end - begin);
  }
  void start_at(std::size_t position) {
    levels.erase(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(position));
    positions.erase(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(position));
  }
};

/// A change in front of the segment's night `first`.
ChangePoint change_at(const Segment& segment, std::size_t first, double effect, double sigma, ChangeRule rule) {
  return {segment.positions[first - 1], segment.positions[first], segment.positions.back(), effect, sigma, rule};
}

/// Where two constant levels fit the nights from `begin` best (least absolute deviations), the second of them starting
/// not before `begin` + 1.
std::size_t best_split(const Segment& segment, std::size_t begin) {
  const auto nights = std::span(segment.levels).subspan(begin);
  const auto cost = [](std::span<const double> part) {
    const double middle = *median(part);
    double sum = 0.0;
    for (const double level : part) sum += std::abs(level - middle);
    return sum;
  };
  std::size_t best = 1;
  double least = cost(nights.first(1)) + cost(nights.subspan(1));
  for (std::size_t split = 2; split < nights.size(); ++split) {
    const double sum = cost(nights.first(split)) + cost(nights.subspan(split));
    if (sum < least) {
      least = sum;
      best = split;
    }
  }
  return begin + best;
}

std::optional<std::size_t> two_nights(const Segment& segment, const ChangeRules& rules, ChangePoint& change) {
  if (segment.size() < rules.min_nights + 2) return std::nullopt;
  std::size_t first = segment.size() - 2;
  const auto before = segment.before(first, rules.max_nights);
  const double middle = *median(before);
  const double sigma = change_sigma(before, 1, segment.before(first, rules.max_creep));
  const double bar = std::max(two_nights_effect, two_nights_z * sigma);
  const double one = segment.levels[first] - middle;
  const double two = segment.levels[first + 1] - middle;
  if (std::min(std::abs(one), std::abs(two)) <= bar || (one > 0.0) != (two > 0.0)) return std::nullopt;
  // A change of little more than the bar may have begun on a night that stayed below it.
  first = best_split(segment, first - std::min(before.size(), nights_below_the_bar));
  change = change_at(segment, first, 0.5 * (one + two), sigma, ChangeRule::two_nights);
  return first;
}

std::optional<std::size_t> creep(const Segment& segment, const ChangeRules& rules, ChangePoint& change) {
  for (const std::size_t length : creep_lengths) {
    if (segment.size() < length + rules.min_creep) continue;
    const std::size_t recent = segment.size() - length;
    const auto before = segment.before(recent, rules.max_creep);
    const double effect = *median(std::span(segment.levels).subspan(recent)) - *median(before);
    const double sigma = change_sigma(before, length);
    if (std::abs(effect) <= std::max(creep_effect, creep_z * sigma)) continue;
    // The medians tell that it changed, not when: up to half of the nights before may already be changed.
    const std::size_t first = best_split(segment, recent - std::min(before.size(), length));
    change = change_at(segment, first, effect, sigma, ChangeRule::creep);
    return first;
  }
  return std::nullopt;
}

}  // namespace

std::string to_string(ChangeRule rule) { return rule == ChangeRule::two_nights ? "two nights" : "creep"; }

double change_sigma(std::span<const double> before, std::size_t m, std::span<const double> longer) {
  if (before.empty() || m == 0) throw std::invalid_argument("change_sigma: no nights");
  double deviation = min_deviation;
  for (const auto nights : {before, longer}) {
    deviation = std::max(deviation, mad_to_deviation * median_absolute_deviation(nights).value_or(0.0));
  }
  const double after_part = m == 1 ? 1.0 : median_variance / static_cast<double>(m);
  return deviation * std::sqrt(after_part + median_variance / static_cast<double>(before.size()));
}

std::vector<ChangePoint> find_changes(std::span<const double> levels, const ChangeRules& rules) {
  std::vector<ChangePoint> changes;
  Segment segment;
  for (std::size_t night = 0; night < levels.size(); ++night) {
    if (!std::isfinite(levels[night])) continue;
    segment.levels.push_back(levels[night]);
    segment.positions.push_back(night);
    ChangePoint change;
    auto first = two_nights(segment, rules, change);
    if (!first) first = creep(segment, rules, change);
    if (!first) continue;
    changes.push_back(change);
    segment.start_at(*first);
  }
  return changes;
}

}  // namespace conebench
