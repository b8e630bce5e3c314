#include "metrics/cost_table.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

namespace conebench {

std::size_t solver_count(const CostTable& costs) {
  const std::size_t solvers = costs.empty() ? 0 : costs.front().size();
  for (const auto& row : costs) {
    if (row.size() != solvers) throw std::invalid_argument("cost table: rows of different lengths");
    for (const auto& cost : row) {
      if (cost && !(*cost >= 0.0)) throw std::invalid_argument("cost table: a cost that is negative or not a number");
    }
  }
  return solvers;
}

std::optional<double> solved_cost(const CostTable& costs, std::size_t problem, std::size_t solver) {
  const std::optional<double> cost = costs[problem][solver];
  return cost && std::isfinite(*cost) ? cost : std::nullopt;
}

std::optional<double> best_cost(const CostTable& costs, std::size_t problem) {
  std::optional<double> best;
  for (std::size_t s = 0; s < costs[problem].size(); ++s) {
    const auto cost = solved_cost(costs, problem, s);
    if (cost && (!best || *cost < *best)) best = cost;
  }
  return best;
}

std::vector<double> family_weights(std::span<const std::string> families) {
  std::map<std::string, double> members;
  for (const auto& family : families) members[family] += 1.0;
  const auto count = static_cast<double>(members.size());
  std::vector<double> weights;
  weights.reserve(families.size());
  for (const auto& family : families) weights.push_back(1.0 / (count * members[family]));
  return weights;
}

std::vector<double> normalised_weights(std::span<const double> weights, std::size_t problems) {
  if (weights.empty()) return std::vector<double>(problems, 1.0 / static_cast<double>(problems));
  if (weights.size() != problems) throw std::invalid_argument("weights: not one a problem");
  for (const double weight : weights) {
    if (!(weight >= 0.0)) throw std::invalid_argument("weights: one is negative or not a number");
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(sum > 0.0)) throw std::invalid_argument("weights: all are 0");
  std::vector<double> scaled(weights.begin(), weights.end());
  for (double& weight : scaled) weight /= sum;
  return scaled;
}

std::vector<std::size_t> common_subset(const CostTable& costs, double minimum_share) {
  std::vector<std::size_t> members;
  for (std::size_t s = 0; s < solver_count(costs); ++s) {
    double solved = 0.0;
    for (std::size_t p = 0; p < costs.size(); ++p) solved += solved_cost(costs, p, s) ? 1.0 : 0.0;
    if (solved >= minimum_share * static_cast<double>(costs.size())) members.push_back(s);
  }
  std::vector<std::size_t> subset;
  if (members.empty()) return subset;
  for (std::size_t p = 0; p < costs.size(); ++p) {
    bool all = true;
    for (const std::size_t s : members) all = all && solved_cost(costs, p, s).has_value();
    if (all) subset.push_back(p);
  }
  return subset;
}

}  // namespace conebench
