#include "metrics/change/two_stores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "base/plural.hpp"
#include "metrics/statistics.hpp"

namespace conebench {

namespace {

/// A cell's log ratio less that of the other configurations on the same problem.
struct CorrectedTime {
  std::size_t problem = 0, family = 0;
  double log_ratio = 0.0;
  double seconds = 1.0;
};

std::vector<double> ratios_of(std::span<const CorrectedTime> times) {
  std::vector<double> ratios;
  ratios.reserve(times.size());
  for (const CorrectedTime& time : times) ratios.push_back(time.log_ratio);
  return ratios;
}

/// The median of sorted values without the one at `left_out`, which may be none of them; nothing where no other is.
std::optional<double> median_without(std::span<const double> sorted, std::size_t left_out) {
  const auto at = [&](std::size_t i) { return sorted[i < left_out ? i : i + 1]; };
  const std::size_t left = sorted.size() - (left_out < sorted.size() ? 1 : 0);
  if (left == 0) return std::nullopt;
  return left % 2 == 1 ? at(left / 2) : 0.5 * (at(left / 2 - 1) + at(left / 2));
}

/// By configuration: every cell's ratio less the median of the other configurations' on its problem, or where there is
/// none, less the median of their raw effects; of cells of the same work alone.
std::vector<std::vector<CorrectedTime>> correct(std::span<const PairedTime> times, std::size_t configurations,
                                                double trim) {
  std::map<std::size_t, std::vector<const PairedTime*>> by_problem;
  std::vector<std::vector<double>> ratios(configurations);
  for (const PairedTime& time : times) {
    by_problem[time.problem].push_back(&time);
    if (time.same_work) ratios[time.configuration].push_back(time.log_ratio);
  }
  std::vector<std::optional<double>> other_effects(configurations);
  for (std::size_t s = 0; s < configurations; ++s) {
    std::vector<double> others;
    for (std::size_t t = 0; t < configurations; ++t) {
      if (t != s && !ratios[t].empty()) others.push_back(trimmed_mean(ratios[t], trim).value_or(0.0));
    }
    other_effects[s] = median(others);
  }
  std::vector<std::vector<CorrectedTime>> corrected(configurations);
  for (auto& [problem, there] : by_problem) {
    std::sort(there.begin(), there.end(), [](const PairedTime* a, const PairedTime* b) {
      return a->log_ratio != b->log_ratio ? a->log_ratio < b->log_ratio : a->configuration < b->configuration;
    });
    std::vector<double> controls;
    for (const PairedTime* time : there) {
      if (time->same_work) controls.push_back(time->log_ratio);
    }
    std::size_t passed = 0;  // controls before the cell
    for (const PairedTime* time : there) {
      const auto own = time->same_work ? passed++ : controls.size();
      const auto control = median_without(controls, own);
      const double by = control ? *control : other_effects[time->configuration].value_or(0.0);
      corrected[time->configuration].push_back({problem, time->family, time->log_ratio - by, time->seconds});
    }
  }
  return corrected;
}

/// Deviation of the trimmed mean over bootstrap samples. A sample is drawn as a count for each of the sorted values, so
/// that it needs no sorting.
double bootstrap_deviation(std::vector<double> values, const TimeRules& rules) {
  const std::size_t n = values.size();
  if (n < 2) return 0.0;
  std::sort(values.begin(), values.end());
  const auto cut = static_cast<std::size_t>(rules.trim * static_cast<double>(n));
  std::mt19937_64 engine(rules.seed);
  std::vector<std::size_t> counts(n);
  std::vector<double> means;
  means.reserve(rules.resamples);
  for (std::size_t k = 0; k < rules.resamples; ++k) {
    std::fill(counts.begin(), counts.end(), 0);
    for (std::size_t i = 0; i < n; ++i) ++counts[draw_below(engine, n)];
    double sum = 0.0;
    std::size_t position = 0;  // of the value's first copy in the sorted sample
    for (std::size_t i = 0; i < n && position < n - cut; ++i) {
      const std::size_t begin = std::max(position, cut);
      position += counts[i];
      const std::size_t end = std::min(position, n - cut);
      if (end > begin) sum += static_cast<double>(end - begin) * values[i];
    }
    means.push_back(sum / static_cast<double>(n - 2 * cut));
  }
  return sample_deviation(means).value_or(0.0);
}

/// A bootstrap takes an effect that differs between problems for noise; the other configurations show how large noise
/// is.
void cap_deviations(std::vector<ConfigurationTimes>& configurations, std::size_t min_cells) {
  constexpr double cap = 1.5;
  std::vector<double> capped;
  for (std::size_t s = 0; s < configurations.size(); ++s) {
    std::vector<double> others;
    for (std::size_t t = 0; t < configurations.size(); ++t) {
      if (t != s && configurations[t].cells >= min_cells) others.push_back(configurations[t].deviation);
    }
    const auto typical = median(others);
    capped.push_back(typical ? std::min(configurations[s].deviation, cap * *typical) : configurations[s].deviation);
  }
  for (std::size_t s = 0; s < configurations.size(); ++s) configurations[s].deviation = capped[s];
}

std::vector<FamilyTimes> judge_families(std::size_t configuration, std::span<const CorrectedTime> times, double z,
                                        const TimeRules& rules) {
  constexpr double normal_mad = 1.48;       // deviation of a normal variable by its median absolute deviation
  constexpr double median_variance = 1.57;  // of a median, by that of a mean: π/2
  constexpr double beyond = 0.015;
  std::map<std::size_t, std::vector<double>> by_family;
  for (const CorrectedTime& time : times) {
    if (time.seconds >= rules.shortest_s) by_family[time.family].push_back(time.log_ratio);
  }
  const double of_configuration = normal_mad * median_absolute_deviation(ratios_of(times)).value_or(0.0);
  std::vector<FamilyTimes> families;
  for (const auto& [family, ratios] : by_family) {
    if (ratios.size() < rules.min_family_cells) continue;
    FamilyTimes row{
        .configuration = configuration, .family = family, .cells = ratios.size(), .median = *median(ratios)};
    const double scatter = std::max(of_configuration, normal_mad * *median_absolute_deviation(ratios));
    const double v = std::sqrt(median_variance * scatter * scatter / static_cast<double>(ratios.size()) +
                               2.0 * rules.cell_deviation * rules.cell_deviation);
    row.deviation = v;
    row.bar = std::max(rules.family_effect, z * v);
    const double sign = row.median > 0.0 ? 1.0 : -1.0;
    const auto along = std::count_if(ratios.begin(), ratios.end(), [&](double r) { return sign * r > beyond; });
    const bool most = static_cast<double>(along) >= 0.75 * static_cast<double>(ratios.size());
    row.verdict = std::abs(row.median) > row.bar && most ? (sign > 0.0 ? ChangeState::slower : ChangeState::faster)
                                                         : ChangeState::undecided;
    families.push_back(row);
  }
  return families;
}

/// Why no configuration can be judged, or this one; empty where it can.
std::string reason_against(const TimeComparison& all, std::size_t configuration, const TimeRules& rules) {
  const std::size_t cells = all.configurations[configuration].cells;
  if (cells == 0) return "no cell that both solved with the same work";
  if (configurations_with_times(all) < 2)
    return "a single configuration: its change can't be distinguished from the machine's";
  if (std::abs(all.together) > rules.together_bar) {
    return fmt::format("all configurations together moved by {:+.1f} %: machine or shared code",
                       100.0 * std::expm1(all.together));
  }
  if (cells < rules.min_cells)
    return fmt::format("only {}; {} are needed", plural(static_cast<long>(cells), "cell"), rules.min_cells);
  return {};
}

bool is_alarm(ChangeState verdict) { return verdict == ChangeState::slower || verdict == ChangeState::faster; }

/// Of two configurations it is unknown which one moved. Of three, each one's control is the mean of two, so that the
/// one that moved most shows in the others with the other sign.
void withhold_unattributable(TimeComparison& all) {
  std::vector<std::size_t> measured;
  for (std::size_t s = 0; s < all.configurations.size(); ++s) {
    if (all.configurations[s].cells > 0) measured.push_back(s);
  }
  if (measured.size() > min_configurations) return;
  const bool two = measured.size() < min_configurations;
  const auto size_of = [&](std::size_t s) { return std::abs(all.configurations[s].corrected); };
  std::size_t most = measured.empty() ? 0 : measured.front();
  for (const std::size_t s : measured) most = size_of(s) > size_of(most) ? s : most;
  for (const std::size_t s : measured) {
    ConfigurationTimes& configuration = all.configurations[s];
    if (!is_alarm(configuration.verdict) || (!two && s == most)) continue;
    if (!two && configuration.corrected * all.configurations[most].corrected > 0.0) continue;
    configuration.verdict = ChangeState::undecided;
    configuration.reason = two ? "one of two configurations moved; which one is unknown"
                               : "the one of three configurations that moved most shows in the others";
  }
  for (FamilyTimes& family : all.families) {
    const auto larger = [&](const FamilyTimes& other) {
      return other.family == family.family && other.median * family.median < 0.0 &&
             std::abs(other.median) > std::abs(family.median);
    };
    if (two || std::any_of(all.families.begin(), all.families.end(), larger)) family.verdict = ChangeState::undecided;
  }
}

}  // namespace

TimeComparison compare_times(std::span<const PairedTime> times, std::size_t configurations, bool loaded,
                             const TimeRules& rules) {
  TimeComparison result;
  result.configurations.resize(configurations);
  std::vector<std::vector<double>> ratios(configurations);
  for (const PairedTime& time : times) ratios[time.configuration].push_back(time.log_ratio);
  std::vector<double> raw(configurations), measured;
  std::vector<std::size_t> cells(configurations);
  for (std::size_t s = 0; s < configurations; ++s) {
    cells[s] = result.configurations[s].cells = ratios[s].size();
    raw[s] = result.configurations[s].raw = trimmed_mean(ratios[s], rules.trim).value_or(0.0);
    if (cells[s] > 0) measured.push_back(raw[s]);
  }
  result.together = median(measured).value_or(0.0);
  result.z = alarm_z(measured.size(), rules);
  const auto corrected = correct(times, configurations, rules.trim);
  for (std::size_t s = 0; s < configurations; ++s) {
    const std::vector<double> left = ratios_of(corrected[s]);
    result.configurations[s].corrected = trimmed_mean(left, rules.trim).value_or(0.0);
    result.configurations[s].median = median(left).value_or(0.0);
    result.configurations[s].deviation = bootstrap_deviation(left, rules);
  }
  if (!loaded) cap_deviations(result.configurations, rules.min_cells);
  std::set<std::size_t> families;
  for (const PairedTime& time : times) families.insert(time.family);
  const double family_z = std::max(rules.family_bar, alarm_z(measured.size() * families.size(), rules));
  for (std::size_t s = 0; s < configurations; ++s) {
    ConfigurationTimes& configuration = result.configurations[s];
    configuration.reason = reason_against(result, s, rules);
    if (!configuration.reason.empty()) continue;
    judge_times(configuration, result.z, rules);
    if (loaded) continue;
    for (FamilyTimes& family : judge_families(s, corrected[s], family_z, rules)) result.families.push_back(family);
  }
  withhold_unattributable(result);
  return result;
}

}  // namespace conebench
