#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "reports/analysis.hpp"

namespace conebench::cli {

/// The rungs of successive halving (Jamieson, Talwalkar 2016): of `configurations` that begin on few problems, one in
/// `factor` goes on to the next rung with `factor` times the problems, until all problems are used. No two rungs have
/// the same problems.
struct Rung {
  std::size_t configurations = 0;
  std::size_t problems = 0;
};
/// The last rung has all problems and at most `factor` configurations (or all, where there are no more).
/// `min_problems`: of the first rung.
std::vector<Rung> plan_rungs(std::size_t configurations, std::size_t problems, std::size_t min_problems,
                             std::size_t factor);

/// `names` reordered: the groups take turns, and each group is shuffled by `seed`, so that every prefix of the list has
/// about as many names of each group. names[i] belongs to groups[i].
std::vector<std::string> in_turn(const std::vector<std::string>& names, const std::vector<std::string>& groups,
                                 std::uint64_t seed);

/// Score of a configuration, by its hash, in a rung.
struct RungScore {
  std::string configuration;
  double times_best = 1.0;  ///< OptionStudy::Configuration::times_best, the geometric mean over the slices
  long solved = 0;          ///< cells
};

/// The solver's configurations, best first, ties as in `order`. Configurations without a study (nothing was solved in
/// any slice) are last. `unseen`: geometric mean of unseen_times_best over the slices that have one. It is meaningful
/// for other families only if no family has been used to choose configurations before, as in the first rung.
struct RungResult {
  std::vector<RungScore> scores;
  std::optional<double> unseen;
  long problems = 0;  ///< solved by some configuration, over the slices
};
RungResult score_rung(const reports::Analysis& analysis, const std::string& solver, reports::Cost cost,
                      const std::vector<std::string>& order);

}  // namespace conebench::cli
