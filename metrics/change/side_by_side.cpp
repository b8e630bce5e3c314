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

CellEffect effect_of(const ReplicatedCell& cell) {
  CellEffect found{cell.problem, 0.0, {}};
  const std::size_t blocks = std::min(cell.base_s.size(), cell.new_s.size()) / 2;
  for (std::size_t j = 0; j < blocks; ++j) {
    const double a1 = std::log(cell.base_s[2 * j]), a2 = std::log(cell.base_s[2 * j + 1]);
    const double b1 = std::log(cell.new_s[2 * j]), b2 = std::log(cell.new_s[2 * j + 1]);
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

SettingTimes measure(const std::vector<CellEffect>& cells, const TimeRules& rules, std::uint64_t seed) {
  SettingTimes setting;
  setting.cells = cells.size();
  std::vector<double> effects;
  for (const CellEffect& cell : cells) effects.push_back(cell.effect);
  setting.raw = setting.corrected = trimmed_mean(effects, rules.trim).value_or(0.0);
  setting.median = median(effects).value_or(0.0);
  setting.deviation = sign_deviation(cells, rules, seed);
  return setting;
}

}  // namespace

TimeComparison compare_side_by_side(std::span<const ReplicatedCell> cells, std::size_t settings,
                                    const TimeRules& rules) {
  std::vector<std::vector<CellEffect>> effects(settings);
  for (const ReplicatedCell& cell : cells) {
    CellEffect effect = effect_of(cell);
    if (!effect.differences.empty()) effects[cell.setting].push_back(std::move(effect));
  }
  TimeComparison result;
  result.settings.resize(settings);
  std::vector<double> measured;
  for (std::size_t s = 0; s < settings; ++s) {
    std::sort(effects[s].begin(), effects[s].end(),
              [](const CellEffect& a, const CellEffect& b) { return a.problem < b.problem; });
    result.settings[s] = measure(effects[s], rules, rules.seed);
    if (!effects[s].empty()) measured.push_back(result.settings[s].corrected);
  }
  result.together = median(measured).value_or(0.0);
  result.z = alarm_z(measured.size(), rules);
  for (SettingTimes& setting : result.settings) {
    if (setting.cells == 0) {
      setting.reason = "no cell that both solved with the same work, in whole blocks";
    } else if (setting.cells < rules.min_cells) {
      setting.reason =
          fmt::format("only {}; {} are needed", plural(static_cast<long>(setting.cells), "cell"), rules.min_cells);
    } else {
      judge_times(setting, result.z, rules);
    }
  }
  return result;
}

}  // namespace conebench
