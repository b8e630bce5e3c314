#include "metrics/profiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace conebench {

namespace {

/// Weights such as 1/9 add up to 1 but for rounding.
double whole(double sum) { return std::abs(sum - 1.0) < 1e-12 ? 1.0 : sum; }

/// The cumulated weight over (position, weight), one step a distinct position.
StepFunction cumulate(std::vector<std::pair<double, double>> points) {
  std::sort(points.begin(), points.end());
  StepFunction steps;
  double sum = 0.0;
  for (const auto& [position, weight] : points) {
    sum += weight;
    if (!steps.x.empty() && steps.x.back() == position) {
      steps.y.back() = sum;
    } else {
      steps.x.push_back(position);
      steps.y.push_back(sum);
    }
  }
  if (!steps.y.empty()) steps.y.back() = whole(steps.y.back());
  return steps;
}

double ratio_to_best(double cost, double best) {
  if (cost == best) return 1.0;
  return best > 0.0 ? cost / best : std::numeric_limits<double>::infinity();
}

}  // namespace

double StepFunction::operator()(double at) const {
  const auto after = std::upper_bound(x.begin(), x.end(), at);
  return after == x.begin() ? 0.0 : y[static_cast<std::size_t>(after - x.begin()) - 1];
}

PerformanceProfile performance_profile(const CostTable& costs, std::span<const double> weights) {
  const std::size_t solvers = solver_count(costs);
  PerformanceProfile profile;
  if (costs.empty()) return profile;
  const std::vector<double> weight = normalised_weights(weights, costs.size());
  std::vector<std::optional<double>> best;
  for (std::size_t p = 0; p < costs.size(); ++p) {
    best.push_back(best_cost(costs, p));
    if (!best.back()) profile.unsolved += weight[p];
  }
  for (std::size_t s = 0; s < solvers; ++s) {
    std::vector<std::pair<double, double>> points;
    double solved = 0.0;
    for (std::size_t p = 0; p < costs.size(); ++p) {
      const auto cost = solved_cost(costs, p, s);
      if (!cost) continue;
      solved += weight[p];
      const double ratio = ratio_to_best(*cost, *best[p]);
      if (std::isfinite(ratio)) points.emplace_back(ratio, weight[p]);
    }
    profile.curves.push_back(cumulate(std::move(points)));
    profile.rho_one.push_back(profile.curves.back()(1.0));
    profile.rho_infinity.push_back(whole(solved));
  }
  return profile;
}

std::vector<StepFunction> data_profile(const CostTable& costs, std::span<const double> units,
                                       std::span<const double> weights) {
  const std::size_t solvers = solver_count(costs);
  if (costs.empty()) return {};
  const std::vector<double> weight = normalised_weights(weights, costs.size());
  if (!units.empty() && units.size() != costs.size()) throw std::invalid_argument("units: not one a problem");
  for (const double unit : units) {
    if (!(unit > 0.0) || !std::isfinite(unit)) throw std::invalid_argument("units: one is not positive and finite");
  }
  std::vector<StepFunction> curves;
  for (std::size_t s = 0; s < solvers; ++s) {
    std::vector<std::pair<double, double>> points;
    for (std::size_t p = 0; p < costs.size(); ++p) {
      const auto cost = solved_cost(costs, p, s);
      if (cost) points.emplace_back(units.empty() ? *cost : *cost / units[p], weight[p]);
    }
    curves.push_back(cumulate(std::move(points)));
  }
  return curves;
}

PairProfile pair_counts(const CostTable& costs, std::size_t first, std::size_t second) {
  const std::size_t solvers = solver_count(costs);
  if (first >= solvers || second >= solvers) throw std::invalid_argument("pair profile: no such solver");
  PairProfile pair{.first = first, .second = second, .profile = {}};
  for (std::size_t p = 0; p < costs.size(); ++p) {
    const auto a = solved_cost(costs, p, first);
    const auto b = solved_cost(costs, p, second);
    if (!a && !b) {
      ++pair.neither;
    } else if (a && b && *a == *b) {
      ++pair.ties;
    } else if (a && (!b || *a < *b)) {
      ++pair.first_better;
    } else {
      ++pair.second_better;
    }
  }
  return pair;
}

PairProfile pair_profile(const CostTable& costs, std::size_t first, std::size_t second,
                         std::span<const double> weights) {
  PairProfile pair = pair_counts(costs, first, second);
  CostTable two;
  for (std::size_t p = 0; p < costs.size(); ++p) {
    two.push_back({solved_cost(costs, p, first), solved_cost(costs, p, second)});
  }
  pair.profile = performance_profile(two, weights);
  return pair;
}

}  // namespace conebench
