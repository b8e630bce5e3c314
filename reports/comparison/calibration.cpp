#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "metrics/statistics.hpp"
#include "reports/comparison/comparison.hpp"

namespace conebench::reports {

Result<Calibration> calibrate(const std::vector<Side>& sides) {
  constexpr std::size_t fewest = 6;
  if (sides.size() < fewest) {
    return Error{
        ErrorCode::wrong_usage,
        fmt::format("--calibrate takes at least {} stores of one build and suite, not {}", fewest, sides.size())};
  }
  Calibration result;
  double squares = 0.0, spread = 0.0;
  std::vector<double> over_deviation;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (std::size_t j = i + 1; j < sides.size(); ++j) {
      const Comparison comparison = compare(sides[i], sides[j], {});
      if (!comparison.times_compared) {
        return Error{ErrorCode::bad_input, fmt::format("{} and {}: {}; calibrate with stores of one build and machine",
                                                       sides[i].name, sides[j].name, comparison.times_refused)};
      }
      ++result.comparisons;
      for (const TimeSlice& slice : comparison.slices) {
        for (const ConfigurationTimes& configuration : slice.times.configurations) {
          if (configuration.cells < TimeRules{}.min_cells || !(configuration.deviation > 0.0)) continue;
          ++result.configurations;
          squares += configuration.corrected * configuration.corrected;
          spread += configuration.deviation * configuration.deviation;
          over_deviation.push_back(std::abs(configuration.corrected) / configuration.deviation);
        }
      }
    }
  }
  if (result.configurations == 0) {
    return Error{ErrorCode::bad_input,
                 "the stores share no configuration with ten cells that two of them solved alike"};
  }
  // T = night effects of two stores + what the bootstrap sees; |T/u| of a normal variable has the median 0.674.
  const double count = static_cast<double>(result.configurations);
  result.night_deviation = std::sqrt(std::max(0.0, (squares - spread) / count) / 2.0);
  result.inflation = median(over_deviation).value_or(0.0) / normal_quantile(0.75);
  return result;
}

}  // namespace conebench::reports
