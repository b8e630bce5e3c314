#include "cli/tune.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "metrics/statistics.hpp"

namespace conebench::cli {

std::vector<Rung> plan_rungs(std::size_t configurations, std::size_t problems, std::size_t min_problems,
                             std::size_t factor) {
  std::vector<std::size_t> left{configurations};
  while (left.back() > factor) left.push_back(std::max<std::size_t>((left.back() + factor - 1) / factor, 2));
  std::vector<Rung> rungs;
  std::size_t share = problems;
  for (auto count = left.rbegin(); count != left.rend(); ++count) {
    rungs.insert(rungs.begin(), {*count, std::clamp(share, std::min(min_problems, problems), problems)});
    share = (share + factor - 1) / factor;
  }
  // Another rung of the same problems would cut by what is known already.
  const auto same = [](const Rung& a, const Rung& b) { return a.problems == b.problems; };
  rungs.erase(std::unique(rungs.begin(), rungs.end(), same), rungs.end());
  return rungs;
}

std::vector<std::string> in_turn(const std::vector<std::string>& names, const std::vector<std::string>& groups,
                                 std::uint64_t seed) {
  std::map<std::string, std::vector<std::string>> members;
  for (std::size_t i = 0; i < names.size(); ++i) members[groups[i]].push_back(names[i]);
  std::mt19937_64 engine(seed);
  std::size_t longest = 0;
  for (auto& [group, list] : members) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[draw_below(engine, i)]);
    longest = std::max(longest, list.size());
  }
  std::vector<std::string> order;
  for (std::size_t i = 0; i < longest; ++i) {
    for (const auto& [group, list] : members) {
      if (i < list.size()) order.push_back(list[i]);
    }
  }
  return order;
}

RungResult score_rung(const reports::Analysis& analysis, const std::string& solver, reports::Cost cost,
                      const std::vector<std::string>& order) {
  std::map<std::string, std::vector<double>> ratios;
  std::map<std::string, long> solved;
  std::vector<double> unseen;
  RungResult result;
  for (std::size_t s = 0; s < analysis.slices.size(); ++s) {
    const auto study = reports::study_options(analysis, s, solver, cost);
    if (!study) continue;
    for (const auto& configuration : study->configurations) {
      const std::string& hash = analysis.columns[configuration.column].configuration->hash;
      ratios[hash].push_back(configuration.times_best);
      solved[hash] += configuration.solved;
    }
    if (study->unseen_times_best) unseen.push_back(*study->unseen_times_best);
    result.problems += study->problems;
  }
  for (const std::string& hash : order) {
    const auto mean = geometric_mean(ratios[hash]);
    result.scores.push_back({hash, mean ? *mean : std::numeric_limits<double>::infinity(), solved[hash]});
  }
  std::stable_sort(result.scores.begin(), result.scores.end(),
                   [](const RungScore& a, const RungScore& b) { return a.times_best < b.times_best; });
  result.unseen = geometric_mean(unseen);
  return result;
}

}  // namespace conebench::cli
