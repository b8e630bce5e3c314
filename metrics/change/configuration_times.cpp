#include "metrics/change/configuration_times.hpp"

#include <algorithm>
#include <cmath>

#include "metrics/statistics.hpp"

namespace conebench {

std::size_t configurations_with_times(const TimeComparison& times) {
  return static_cast<std::size_t>(std::count_if(times.configurations.begin(), times.configurations.end(),
                                                [](const ConfigurationTimes& one) { return one.cells > 0; }));
}

double alarm_z(std::size_t tests, const TimeRules& rules) {
  return rules.inflation *
         normal_quantile(1.0 - rules.alarm_share / static_cast<double>(std::max<std::size_t>(1, tests)));
}

void judge_times(ConfigurationTimes& configuration, double z, const TimeRules& rules) {
  const double v = std::hypot(configuration.deviation, std::sqrt(2.0) * rules.night_deviation);
  const double effect = configuration.corrected;
  configuration.bar = std::max(rules.minimum_effect, z * v);
  configuration.could_have_seen = configuration.bar + v;
  if (std::abs(effect) > configuration.bar && effect * configuration.median > 0.0) {
    configuration.verdict = effect > 0.0 ? ChangeState::slower : ChangeState::faster;
  } else if (std::abs(effect) + 2.0 * v < same_bound(rules.minimum_effect)) {
    configuration.verdict = ChangeState::same;
  } else {
    configuration.verdict = ChangeState::undecided;
  }
}

ChangeEvidence evidence_of(const ConfigurationTimes& times, ChangeSource source) {
  const double v = times.judged().deviation;
  return {source,      times.corrected,      times.corrected - 2.0 * v, times.corrected + 2.0 * v,
          times.cells, times.could_have_seen};
}

bool rules_out(const JudgedEffect& now, double effect) {
  return now.verdict != ChangeState::none && now.effect + 2.0 * now.deviation < 0.5 * effect;
}

bool has_recovered(JudgedEffect now, double effect, bool in_baseline) {
  if (in_baseline) {
    now.effect += effect;
    return rules_out(now, effect);
  }
  const bool half = now.verdict == ChangeState::same && now.effect < 0.5 * effect;
  return half || now.verdict == ChangeState::faster || rules_out(now, effect);
}

}  // namespace conebench
