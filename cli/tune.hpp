#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "reports/analysis.hpp"

namespace conebench::cli {

/// The rungs of successive halving (Jamieson, Talwalkar 2016): of `settings` that begin on few problems, one in
/// `factor` goes on to the next rung with `factor` times the problems, until all problems are used. No two rungs have
/// the same problems.
struct Rung {
  std::size_t settings = 0;
  std::size_t problems = 0;
};
/// The last rung has all problems and at most `factor` settings (or all, where there are no more). `least`: problems
/// of the first rung at least.
std::vector<Rung> plan_rungs(std::size_t settings, std::size_t problems, std::size_t least, std::size_t factor);

/// `names` by their groups in turn, each group in an order drawn from `seed`: any first part of the list has about as
/// many of each group. names[i] is of groups[i].
std::vector<std::string> in_turn(const std::vector<std::string>& names, const std::vector<std::string>& groups,
                                 std::uint64_t seed);

/// What a rung says of a setting, by its hash.
struct RungScore {
  std::string setting;
  double times_best = 1.0;  ///< OptionStudy::Setting::times_best, the geometric mean over the slices
  long solved = 0;          ///< cells
};

/// The solver's settings, best first; equal ones as in `order`. Those that no study has (nothing was solved in any
/// slice) come last. `unseen`: the geometric mean of unseen_times_best over the slices that have one; it says something
/// of other families only where no family has chosen the settings before, as in the first rung.
struct RungResult {
  std::vector<RungScore> scores;
  std::optional<double> unseen;
  long problems = 0;  ///< that some setting solves, over the slices
};
RungResult score_rung(const reports::Analysis& analysis, const std::string& solver, reports::Cost cost,
                      const std::vector<std::string>& order);

}  // namespace conebench::cli
