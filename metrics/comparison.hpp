#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace conebench {

/// Whether settings became slower between two stores of one machine: docs/compare.md has the procedure and how often it
/// errs. Log ratios are natural logarithms, new over base.

enum class TimeVerdict {
  slower,
  faster,
  same,       ///< within a bound that the noise allows to tell
  undecided,  ///< could_have_seen says what would have been seen
  none        ///< not judged, `reason` says why
};
const char* to_string(TimeVerdict verdict);

/// A cell that both stores solved. The three are indices from 0; a setting has one time a problem.
struct PairedTime {
  std::size_t setting = 0;
  std::size_t problem = 0;
  std::size_t family = 0;
  double log_ratio = 0.0;  ///< of the minima of the total time
  double seconds = 1.0;    ///< of the base
  bool same_work = true;   ///< else it tells nothing of the machine, and is taken off no other
};

/// The numbers of the procedure; those that a machine decides can be measured by calibrate().
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
  std::size_t fewest_cells = 10;
  std::size_t fewest_family_cells = 3;
  double trim = 0.2;
  std::size_t resamples = 1000;
  std::uint64_t seed = 1;
};

struct SettingTimes {
  std::size_t cells = 0;
  double raw = 0.0;        ///< g: trimmed mean of the log ratios
  double corrected = 0.0;  ///< T: the same after the other settings' on each problem are taken off
  double median = 0.0;     ///< of the corrected ratios
  double deviation = 0.0;  ///< u: of T, by a bootstrap over problems, capped by the other settings'
  double bar = 0.0;        ///< z v, or δ where larger: |T| beyond it is a change
  double could_have_seen = 0.0;
  TimeVerdict verdict = TimeVerdict::none;
  std::string reason;  ///< of `none`, and of an alarm that few settings leave undecided
};

struct FamilyTimes {
  std::size_t setting = 0, family = 0;
  std::size_t cells = 0;
  double median = 0.0;  ///< of the corrected ratios
  double bar = 0.0;
  TimeVerdict verdict = TimeVerdict::none;  ///< slower, faster or undecided
};

struct TimeComparison {
  double together = 0.0;  ///< G: the median of all settings' raw effects
  double z = 0.0;
  std::vector<SettingTimes> settings;  ///< one each, also where it has no cell
  std::vector<FamilyTimes> families;   ///< empty where a store was loaded
};

/// `settings`: their number. `loaded`: one of the two stores was (metrics/load.hpp).
TimeComparison compare_times(std::span<const PairedTime> times, std::size_t settings, bool loaded,
                             const TimeRules& rules = {});

/// How many deviations off one of `tests` settings or families must be: 1.2 Φ⁻¹(1 − 0.0125/tests).
double alarm_z(std::size_t tests, const TimeRules& rules);

/// Fills bar, could_have_seen and verdict of a setting whose effect, median and deviation are known; z as alarm_z.
void judge_times(SettingTimes& setting, double z, const TimeRules& rules);

}  // namespace conebench
