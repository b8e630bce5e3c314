#include "metrics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace conebench {

namespace {

double sorted_median(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : 0.5 * sorted[half - 1] + 0.5 * sorted[half];
}

}  // namespace

std::size_t draw_below(std::mt19937_64& engine, std::size_t bound) {
  const double unit = static_cast<double>(engine() >> 11U) * 0x1.0p-53;
  return std::min(bound - 1, static_cast<std::size_t>(unit * static_cast<double>(bound)));
}

std::optional<double> mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> median(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted_median(sorted);
}

std::optional<double> quantile(std::span<const double> values, double p) {
  if (values.empty()) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<double> median_absolute_deviation(std::span<const double> values) {
  const auto centre = median(values);
  if (!centre) return std::nullopt;
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - *centre));
  return median(distances);
}

std::optional<double> sample_deviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double centre = *mean(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

std::optional<double> trimmed_mean(std::span<const double> values, double share) {
  if (values.empty()) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto cut = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return mean(std::span(sorted).subspan(cut, sorted.size() - 2 * cut));
}

double normal_quantile(double p) {
  if (!(p > 0.0 && p < 1.0)) throw std::invalid_argument("normal_quantile: p must be between 0 and 1");
  if (p > 0.5) return -normal_quantile(1.0 - p);
  // Newton's method on Φ(x) = erfc(−x/√2)/2 for p ≤ 1/2, where Φ is convex, from the right of the root: it descends.
  double x = 0.0;
  for (int k = 0; k < 200; ++k) {
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
    const double step = (0.5 * std::erfc(-x / std::numbers::sqrt2) - p) / density;
    x -= step;
    if (std::abs(step) <= 1e-15 * std::max(1.0, std::abs(x))) break;
  }
  return x;
}

std::optional<double> geometric_mean(std::span<const double> values, std::span<const double> weights) {
  return shifted_geometric_mean(values, 0.0, weights);
}

std::optional<double> shifted_geometric_mean(std::span<const double> values, double shift,
                                             std::span<const double> weights) {
  if (values.empty()) return std::nullopt;
  if (!(shift >= 0.0)) throw std::invalid_argument("shifted geometric mean: the shift must not be negative");
  const std::vector<double> weight = normalised_weights(weights, values.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= 0.0)) throw std::invalid_argument("geometric mean: a value is negative or not a number");
    if (weight[i] > 0.0) sum += weight[i] * std::log(values[i] + shift);
  }
  // Rounding can leave the mean of zeros just below 0.
  return std::max(0.0, std::exp(sum) - shift);
}

std::vector<ShiftedMean> shifted_means(const CostTable& costs, std::span<const double> limits,
                                       const MeanOptions& options, std::span<const double> weights) {
  const std::size_t solvers = solver_count(costs);
  const bool common = options.mode == FailureMode::common_subset;
  if (!common && limits.size() != costs.size()) throw std::invalid_argument("shifted means: not one limit a problem");
  if (!weights.empty() && weights.size() != costs.size()) throw std::invalid_argument("weights: not one a problem");
  std::vector<std::size_t> problems(costs.size());
  std::iota(problems.begin(), problems.end(), std::size_t{0});
  if (common) problems = common_subset(costs, options.minimum_solved_share);
  std::vector<double> chosen_weights;
  for (const std::size_t p : problems) {
    if (!weights.empty()) chosen_weights.push_back(weights[p]);
  }
  const double failure_factor = options.mode == FailureMode::penalised ? options.penalty_factor : 1.0;

  std::vector<ShiftedMean> means;
  for (std::size_t s = 0; s < solvers; ++s) {
    ShiftedMean result{.value = std::nullopt, .problems = problems.size()};
    std::vector<double> values;
    for (const std::size_t p : problems) {
      const auto cost = solved_cost(costs, p, s);
      result.failures += cost ? 0 : 1;
      if (cost || !common) values.push_back(cost ? *cost : failure_factor * limits[p]);
    }
    if (values.size() == problems.size()) result.value = shifted_geometric_mean(values, options.shift, chosen_weights);
    means.push_back(result);
  }
  return means;
}

}  // namespace conebench
