#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/change/state.hpp"

namespace conebench {

/// How much slower a configuration became, and the rule that decides its state, for two stores and for A/B runs. Log
/// ratios are natural logarithms of candidate over baseline.

/// The constants of the rules. calibrate() measures those that depend on the machine. A/B runs have other δ and σ
/// (metrics/change/side_by_side.hpp).
struct TimeRules {
  double minimum_effect = 0.02;    ///< δ
  double night_deviation = 0.003;  ///< σ of a configuration's corrected effect from store to store
  double inflation = 1.2;          ///< factor on the normal quantile of T/u
  double alarm_share = 0.0125;     ///< one-sided probability of a false alarm, over all configurations
  double together_bar = 0.06;      ///< if |G| is larger, no configuration is judged
  double cell_deviation = 0.005;   ///< as night_deviation, of a family
  double family_effect = 0.03;
  double family_bar = 4.0;   ///< minimum number of deviations of a family's median from 0
  double shortest_s = 1e-5;  ///< families leave out shorter cells, whose noise is 4 % with long tails
  std::size_t min_cells = 10;
  std::size_t min_family_cells = 3;
  double trim = 0.2;
  std::size_t resamples = 1000;
  std::uint64_t seed = 1;
};

/// With fewer configurations no change is attributed: of two it is unknown which one moved.
inline constexpr std::size_t min_configurations = 3;

/// A judged effect on times or work: log ratio and its standard deviation.
struct JudgedEffect {
  ChangeState verdict = ChangeState::none;
  double effect = 0.0, deviation = 0.0;
};

struct ConfigurationTimes {
  std::size_t cells = 0;
  double raw = 0.0;              ///< g: trimmed mean of the log ratios
  double corrected = 0.0;        ///< T: the same less the other configurations' ratio on each problem
  double median = 0.0;           ///< of the corrected ratios
  double deviation = 0.0;        ///< u: of T, by resampling
  double bar = 0.0;              ///< z v, or δ where larger: |T| beyond it is a change
  double could_have_seen = 0.0;  ///< bar + v: the smallest change that would have been found
  ChangeState verdict = ChangeState::none;
  std::string reason;  ///< why `none`, or why an alarm is undecided for lack of configurations

  /// T and v.
  JudgedEffect judged() const { return {verdict, corrected, could_have_seen - bar}; }
};

struct FamilyTimes {
  std::size_t configuration = 0, family = 0;
  std::size_t cells = 0;
  double median = 0.0;  ///< of the corrected ratios
  double bar = 0.0;
  ChangeState verdict = ChangeState::none;  ///< slower, faster or undecided
  double deviation = 0.0;                   ///< v_f, of the median

  JudgedEffect judged() const { return {verdict, median, deviation}; }
};

struct TimeComparison {
  double together = 0.0;  ///< G: the median of all configurations' raw effects
  double z = 0.0;
  std::vector<ConfigurationTimes> configurations;  ///< one for each, also without cells
  std::vector<FamilyTimes> families;               ///< empty for a loaded store and for A/B runs
};

/// How many configurations have times. A change of a single one can't be distinguished from one of the machine.
std::size_t configurations_with_times(const TimeComparison& times);

/// Number of deviations from 0 at which one of `tests` configurations or families is an alarm: 1.2 Φ⁻¹(1 −
/// 0.0125/tests).
double alarm_z(std::size_t tests, const TimeRules& rules);

/// Fills bar, could_have_seen and verdict of a configuration whose effect, median and deviation are known; z as
/// alarm_z.
void judge_times(ConfigurationTimes& configuration, double z, const TimeRules& rules);

/// If |T| + 2 v is below it, the state is `same`.
constexpr double same_bound(double minimum_effect) { return minimum_effect + 0.01; }

/// Evidence for a state that was decided by times.
struct ChangeEvidence {
  ChangeSource source = ChangeSource::two_stores;
  double estimate = 0.0;
  double low = 0.0, high = 0.0;  ///< two deviations to each side
  std::size_t cells = 0;
  double could_have_seen = 0.0;
};
ChangeEvidence evidence_of(const ConfigurationTimes& times, ChangeSource source);

/// Whether an earlier change of size `effect` is ruled out now: the present effect plus two deviations is below half of
/// it.
bool rules_out(const JudgedEffect& now, double effect);
/// Whether a configuration or family that became slower by `effect` (time or work) has recovered: it is faster, or the
/// same with less than half of the effect, or the effect is ruled out. `in_baseline`: the baseline already has the
/// effect.
bool has_recovered(JudgedEffect now, double effect, bool in_baseline = false);

}  // namespace conebench
