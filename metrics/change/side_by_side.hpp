#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "metrics/change/setting_times.hpp"

namespace conebench {

/// Times of two builds that ran one cell in turn, A B B A or B A A B: docs/side_by_side.md. What drifts evenly over a
/// block cancels, and as nothing is taken off, a change of code that all settings share is seen, too.

/// A cell that both builds solved with the same work. Indices as in PairedTime.
struct ReplicatedCell {
  std::size_t setting = 0;
  std::size_t problem = 0;
  /// Minima of the replicates [s], in their order; 2j and 2j + 1 are of block j. A replicate without a partner in its
  /// block, or on the other side, does not count.
  std::vector<double> base_s, new_s;
};

/// δ is 1 % here, and σ, what a build's layout and the machine add to a setting, 0.1 %.
constexpr TimeRules side_by_side_rules() {
  TimeRules rules;
  rules.minimum_effect = 0.01;
  rules.night_deviation = 0.001;
  return rules;
}
/// δ where compiler, flags or processor differ: the same source is then that much faster or slower by chance.
inline constexpr double other_compiler_effect = 0.03;

/// A row for each of `settings`. A setting's effect T is the trimmed mean over its problems of mean log new − mean log
/// base (`raw` and `corrected`); u (`deviation`) that of e = ((A₁ − A₂) + (B₁ − B₂))/2 under random signs, into which
/// no difference of the builds enters. No families. The cells' order does not matter.
TimeComparison compare_side_by_side(std::span<const ReplicatedCell> cells, std::size_t settings,
                                    const TimeRules& rules = side_by_side_rules());

}  // namespace conebench
