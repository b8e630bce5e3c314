#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "metrics/statistics.hpp"
#include "papers/evaluate.hpp"

namespace conebench::papers {

namespace {

using Numbers = std::vector<double>;

Value number(std::optional<double> value, const std::string& otherwise) {
  if (value && std::isfinite(*value)) return {value, Gap::none, {}};
  return {std::nullopt, Gap::not_comparable, otherwise};
}

/// Sums of squares about the means.
struct Moments {
  double xx = 0.0, xy = 0.0, yy = 0.0;
};
Moments moments(const Numbers& x, const Numbers& y) {
  const double mean_x = *mean(x), mean_y = *mean(y);
  Moments sums;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums.xx += (x[i] - mean_x) * (x[i] - mean_x);
    sums.xy += (x[i] - mean_x) * (y[i] - mean_y);
    sums.yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return sums;
}

/// 1, 2, …; equal values share the mean of their ranks.
Numbers ranks(const Numbers& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  Numbers positions(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) positions[order[i]] = 0.5 * static_cast<double>(begin + end + 1);
    begin = end;
  }
  return positions;
}

/// A line through two values of x fits whatever was measured there.
Value slope(const Numbers& x, const Numbers& y) {
  constexpr std::size_t least = 3;
  const Moments sums = moments(x, y);
  const bool fits = std::set<double>(x.begin(), x.end()).size() >= least;
  return number(fits ? std::optional(sums.xy / sums.xx) : std::nullopt, "a slope over fewer than three values");
}

Value rank_correlation(const Numbers& x, const Numbers& y) {
  const Moments sums = moments(ranks(x), ranks(y));
  const double scale = std::sqrt(sums.xx * sums.yy);
  return number(scale > 0.0 ? std::optional(sums.xy / scale) : std::nullopt, "a rank correlation with a constant");
}

Value geometric(const Numbers& values) {
  const bool positive = std::all_of(values.begin(), values.end(), [](double value) { return value > 0.0; });
  return number(positive ? geometric_mean(values) : std::nullopt, "a geometric mean of what is not positive");
}

}  // namespace

Value reduce(const std::string& name, const Numbers& values, const Numbers& second, double p) {
  if (values.empty()) return {std::nullopt, Gap::not_run, name + " of nothing"};
  if (name == "mean") return number(mean(values), "an infinite mean");
  if (name == "median") return number(median(values), "an infinite median");
  if (name == "sd") return number(sample_deviation(values), "a standard deviation of one value");
  if (name == "min") return number(*std::min_element(values.begin(), values.end()), "an infinite minimum");
  if (name == "max") return number(*std::max_element(values.begin(), values.end()), "an infinite maximum");
  if (name == "sum") return number(std::accumulate(values.begin(), values.end(), 0.0), "an infinite sum");
  if (name == "quantile") return number(quantile(values, p), "an infinite quantile");
  if (name == "geometric_mean") return geometric(values);
  if (name == "slope") return slope(values, second);
  return rank_correlation(values, second);
}

}  // namespace conebench::papers
