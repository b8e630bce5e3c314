#include "runners/execute/timing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace conebench {

namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace

TimingRecord summarise_times(const std::vector<double>& seconds) {
  TimingRecord timing;
  if (seconds.empty()) return timing;
  timing.cold = seconds.front();
  timing.minimum = *std::min_element(seconds.begin(), seconds.end());
  timing.median = median_of(seconds);
  std::vector<double> distances;
  distances.reserve(seconds.size());
  for (const double value : seconds) distances.push_back(std::abs(value - timing.median));
  timing.deviation = median_of(std::move(distances));
  return timing;
}

bool another_repeat(const CellRequest::Repeats& repeats, double budget, const std::vector<double>& seconds) {
  const double spent = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const double longest = seconds.empty() ? 0.0 : *std::max_element(seconds.begin(), seconds.end());
  const auto count = static_cast<int>(seconds.size());
  if (count >= repeats.maximum || spent + longest > budget) return false;
  return count < repeats.minimum || spent * 1e3 < repeats.minimum_ms;
}

}  // namespace conebench
