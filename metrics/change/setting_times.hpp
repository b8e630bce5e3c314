#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/change/state.hpp"

namespace conebench {

/// How much slower a setting's times became, and the rule that makes a state of it, whether the times are of two stores
/// or of two builds in turn. Log ratios are natural logarithms, new over base.

/// The numbers of the rules; those that a machine decides can be measured by calibrate(). Two builds side by side have
/// another δ and σ (metrics/change/side_by_side.hpp).
struct TimeRules {
  double minimum_effect = 0.02;    ///< δ
  double night_deviation = 0.003;  ///< σ of a setting's corrected effect from store to store
  double inflation = 1.2;          ///< of T/u over the normal distribution
  double alarm_share = 0.0125;     ///< one-sided share of false alarms, all settings together
  double together_bar = 0.06;      ///< |G| beyond which no setting is judged
  double cell_deviation = 0.005;   ///< as night_deviation, of a family
  double family_effect = 0.03;
  double family_bar = 4.0;   ///< deviations that a family's median must be off, at least
  double shortest_s = 1e-5;  ///< cells below it are left out of families: their noise is 4 % and has long tails
  std::size_t min_cells = 10;
  std::size_t min_family_cells = 3;
  double trim = 0.2;
  std::size_t resamples = 1000;
  std::uint64_t seed = 1;
};

/// Settings with times below which a change is no setting's: of two nothing tells which one moved.
inline constexpr std::size_t min_settings = 3;

/// An effect as a comparison judged it, of times or of work: log ratio and its standard deviation.
struct JudgedEffect {
  ChangeState verdict = ChangeState::none;
  double effect = 0.0, deviation = 0.0;
};

struct SettingTimes {
  std::size_t cells = 0;
  double raw = 0.0;        ///< g: trimmed mean of the log ratios
  double corrected = 0.0;  ///< T: the same after the other settings' on each problem are taken off
  double median = 0.0;     ///< of the corrected ratios
  double deviation = 0.0;  ///< u: of T, by resampling
  double bar = 0.0;        ///< z v, or δ where larger: |T| beyond it is a change
  double could_have_seen = 0.0;
  ChangeState verdict = ChangeState::none;
  std::string reason;  ///< of `none`, and of an alarm that few settings leave undecided

  /// T and v.
  JudgedEffect judged() const { return {verdict, corrected, could_have_seen - bar}; }
};

struct FamilyTimes {
  std::size_t setting = 0, family = 0;
  std::size_t cells = 0;
  double median = 0.0;  ///< of the corrected ratios
  double bar = 0.0;
  ChangeState verdict = ChangeState::none;  ///< slower, faster or undecided
  double deviation = 0.0;                   ///< v_f, of the median

  JudgedEffect judged() const { return {verdict, median, deviation}; }
};

struct TimeComparison {
  double together = 0.0;  ///< G: the median of all settings' raw effects
  double z = 0.0;
  std::vector<SettingTimes> settings;  ///< one each, also where it has no cell
  std::vector<FamilyTimes> families;   ///< empty where a store was loaded, and side by side
};

/// How many settings have times. One alone has nothing that tells its change from the machine's.
std::size_t settings_with_times(const TimeComparison& times);

/// How many deviations off one of `tests` settings or families must be: 1.2 Φ⁻¹(1 − 0.0125/tests).
double alarm_z(std::size_t tests, const TimeRules& rules);

/// Fills bar, could_have_seen and verdict of a setting whose effect, median and deviation are known; z as alarm_z.
void judge_times(SettingTimes& setting, double z, const TimeRules& rules);

/// |T| + 2 v below it is `same`.
constexpr double same_bound(double minimum_effect) { return minimum_effect + 0.01; }

/// What a state rests on, where times were compared.
struct ChangeEvidence {
  ChangeSource source = ChangeSource::two_stores;
  double estimate = 0.0;
  double low = 0.0, high = 0.0;  ///< two deviations to each side
  std::size_t cells = 0;
  double could_have_seen = 0.0;
};
ChangeEvidence evidence_of(const SettingTimes& times, ChangeSource source);

/// Whether a change of this size that was seen before is ruled out: what is left and two deviations are below half of
/// it.
bool rules_out(const JudgedEffect& now, double effect);
/// Whether what became slower by `effect`, a setting or a family, by time or work, no longer is: faster, the same with
/// less than half of it left, or ruled out. `in_base`: the base of the comparison has that effect already.
bool has_recovered(JudgedEffect now, double effect, bool in_base = false);

}  // namespace conebench
