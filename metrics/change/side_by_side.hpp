#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "metrics/change/configuration_times.hpp"

namespace conebench {

/// Times of an A/B run: two builds ran each cell in turn, A B B A or B A A B (docs/side_by_side.md). One such sequence
/// is a block. A drift that is linear over a block cancels. Nothing is subtracted for the machine, so that a change of
/// code that all configurations share is found, too.

/// A cell that both builds solved with the same work. Indices as in PairedTime.
struct TimedRounds {
  std::size_t configuration = 0;
  std::size_t problem = 0;
  /// Minimum of each round [s], in order; rounds 2j and 2j + 1 belong to block j. A round counts only if its partner in
  /// the block and the two rounds of the other side are there.
  std::vector<double> baseline_s, candidate_s;
};

/// δ is 1 %. σ, which a build's layout and the machine add to a configuration, is 0.1 %.
constexpr TimeRules side_by_side_rules() {
  TimeRules rules;
  rules.minimum_effect = 0.01;
  rules.night_deviation = 0.001;
  return rules;
}
/// δ if compiler, flags or processor differ: the same source is then faster or slower by as much by chance.
inline constexpr double other_compiler_effect = 0.03;

/// A row for each of `configurations`. A configuration's effect T is the trimmed mean over its problems of mean log
/// candidate − mean log baseline (`raw` and `corrected`); u (`deviation`) that of e = ((A₁ − A₂) + (B₁ − B₂))/2 under
/// random signs, into which no difference of the builds enters. No families. The cells' order does not matter.
TimeComparison compare_side_by_side(std::span<const TimedRounds> cells, std::size_t configurations,
                                    const TimeRules& rules = side_by_side_rules());

}  // namespace conebench
