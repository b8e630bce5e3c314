#include "runners/cli/night_alarms.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace conebench::cli {

namespace {

using reports::Comparison;
using reports::SettingChange;

bool family_is_slower(const reports::TimeSlice& slice, std::size_t setting, double than) {
  return std::any_of(slice.families.begin(), slice.families.end(), [&](const reports::FamilyChange& family) {
    return family.setting == setting && family.times.verdict == TimeVerdict::slower && family.times.median > than;
  });
}

}  // namespace

SlowerSettings slower_settings(const Comparison& comparison) {
  SlowerSettings found;
  for (const reports::TimeSlice& slice : comparison.slices) {
    for (const SettingChange& change : slice.settings) {
      if (!change.alarms.contains("slower")) continue;
      const reports::ComparedSetting& setting = comparison.settings[change.setting];
      const bool by_time = change.times.verdict == TimeVerdict::slower;
      if (by_time && change.work.verdict != TimeVerdict::slower &&
          !family_is_slower(slice, change.setting, 2.0 * change.times.corrected)) {
        found.suspects.push_back(
            {setting.new_hash, slice.request.tolerance, slice.request.start, change.times.corrected, setting.label});
        Alarm& alarm = found.alarms.emplace_back();
        alarm.kind = "slower";
        alarm.setting = setting.label;
        alarm.tolerance = slice.request.tolerance;
        alarm.criterion = slice.request.criterion;
        alarm.verdict = slice.request.verdict;
        alarm.start = slice.request.start;
      } else {
        found.certain.push_back(fmt::format("{} at {:g}", setting.label, slice.request.tolerance));
      }
    }
  }
  return found;
}

}  // namespace conebench::cli
