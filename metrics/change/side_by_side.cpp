#include "metrics/change/side_by_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/plural.hpp"
#include "metrics/statistics.hpp"

namespace conebench {

namespace {

/// What the blocks of one cell say.
struct CellEffect {
  std::size_t problem = 0;
  double effect = 0.0;              ///< x, mean over the blocks
  std::vector<double> differences;  ///< e of each block
};

CellEffect effect_of(const TimedRounds& cell) {
  CellEffect found{cell.problem, 0.0, {}};
  const std::size_t blocks = std::min(cell.baseline_s.size(), cell.candidate_s.size()) / 2;
  for (std::size_t j = 0; j < blocks; ++j) {
    const double a1 = std::log(cell.baseline_s[2 * j]), a2 = std::log(cell.baseline_s[2 * j + 1]);
    const double b1 = std::log(cell.candidate_s[2 * j]), b2 = std::log(cell.candidate_s[2 * j + 1]);
    const double x = 0.5 * (b1 + b2) - 0.5 * (a1 + a2);
    const double e = 0.5 * ((a1 - a2) + (b1 - b2));
    if (!std::isfinite(x) || !std::isfinite(e)) continue;
    found.effect += x;
    found.differences.push_back(e);
  }
  if (!found.differences.empty()) found.effect /= static_cast<double>(found.differences.size());
  return found;
}

/// Deviation of the trimmed mean when every block's e gets a sign by chance.
double sign_deviation(const std::vector<CellEffect>& cells, const TimeRules& rules, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<double> drawn(cells.size()), means;
  means.reserve(rules.resamples);
  for (std::size_t k = 0; k < rules.resamples; ++k) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      double sum = 0.0;
      for (const double e : cells[i].differences) sum += draw_below(engine, 2) == 0 ? e : -e;
      drawn[i] = sum / static_cast<double>(cells[i].differences.size());
    }
    means.push_back(trimmed_mean(drawn, rules.trim).value_or(0.0));
  }
  return sample_deviation(means).value_or(0.0);
}

ConfigurationTimes measure(const std::vector<CellEffect>& cells, const TimeRules& rules, std::uint64_t seed) {
  ConfigurationTimes configuration;
  configuration.cells = cells.size();
  std::vector<double> effects;
  for (const CellEffect& cell : cells) effects.push_back(cell.effect);
  configuration.raw = configuration.corrected = trimmed_mean(effects, rules.trim).value_or(0.0);
  configuration.median = median(effects).value_or(0.0);
  configuration.deviation = sign_deviation(cells, rules, seed);
  return configuration;
}

}  // namespace

TimeComparison compare_side_by_side(std::span<const TimedRounds> cells, std::size_t configurations,
                                    const TimeRules& rules) {
  std::vector<std::vector<CellEffect>> effects(configurations);
  for (const TimedRounds& cell : cells) {
    CellEffect effect = effect_of(cell);
    if (!effect.differences.empty()) effects[cell.configuration].push_back(std::move(effect));
  }
  TimeComparison result;
  result.configurations.resize(configurations);
  std::vector<double> measured;
  for (std::size_t s = 0; s < configurations; ++s) {
    std::sort(effects[s].begin(), effects[s].end(),
              [](const CellEffect& a, const CellEffect& b) { return a.problem < b.problem; });
    result.configurations[s] = measure(effects[s], rules, rules.seed);
    if (!effects[s].empty()) measured.push_back(result.configurations[s].corrected);
  }
  result.together = median(measured).value_or(0.0);
  result.z = alarm_z(measured.size(), rules);
  for (ConfigurationTimes& configuration : result.configurations) {
    if (configuration.cells == 0) {
      configuration.reason = "no cell that both solved with the same work, in whole blocks";
    } else if (configuration.cells < rules.min_cells) {
      configuration.reason = fmt::format("only {}; {} are needed",
                                         plural(static_cast<long>(configuration.cells), "cell"), rules.min_cells);
    } else {
      judge_times(configuration, result.z, rules);
    }
  }
  return result;
}

}  // namespace conebench
