#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace conebench {

/// The rule that found a change in a series of nights. Both rules and their figures were measured and simulated on A/A
/// nights: sd 0.33 % from night to night, one in twenty nights four times as noisy.
enum class ChangeRule {
  two_nights,  ///< two nights running on one side of the nights before them, each by more than max(1 %, 3σ)
  creep,       ///< the median of the last 5 or 8 nights against up to 30 before: more than max(0.7 %, 4.5σ)
};
std::string to_string(ChangeRule rule);

struct ChangeRules {
  /// Nights before the two that `two_nights` compares with: at least, at most.
  std::size_t min_nights = 5, max_nights = 10;
  std::size_t min_creep = 10, max_creep = 30;  ///< the same for `creep`
};

/// A change that lies between two nights, and the night at which it showed, by their indices in the series.
struct ChangePoint {
  std::size_t last_before = 0;  ///< last night with a value before the change
  std::size_t first_after = 0;  ///< first night with a value after it
  std::size_t seen_at = 0;      ///< ≥ first_after
  double effect = 0.0;          ///< difference of medians at the time, in the levels' unit; > 0: slower
  double sigma = 0.0;           ///< standard deviation that the effect was held against
  ChangeRule rule = ChangeRule::two_nights;
};

/// Standard deviation of a difference: max(0.3 %, 1.56 MAD of `before`) · √(1.57/m + 1.57/n) for the median of m nights
/// against that of the n in `before`; one night (m = 1) has 1 in place of its 1.57. The MAD of ten nights is itself
/// uncertain by a quarter: of `before` and of `longer`, more of the nights, the larger is taken. Throws
/// std::invalid_argument for an empty `before` or m = 0.
double change_sigma(std::span<const double> before, std::size_t m, std::span<const double> longer = {});

/// Changes in a series of log times, one value a night in order, seen as if night came after night: what was found does
/// not depend on later nights. A night whose value is NaN (loaded, not run) is passed over. After a change the series
/// starts anew at its first night.
std::vector<ChangePoint> find_changes(std::span<const double> levels, const ChangeRules& rules = {});

}  // namespace conebench
