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

void judge_again(SettingChange& change) {
  const auto any_of = [&](const std::set<std::string>& words) {
    return std::any_of(words.begin(), words.end(), [&](const auto& word) { return change.alarms.contains(word); });
  };
  if (!any_of({"lost", "broke", "missing", "less-accurate"})) {
    change.outlook = reports::Outlook::undecided;
    change.alarms["undecided"] = 1;
  }
}

}  // namespace

SlowerSettings slower_settings(const Comparison& comparison) {
  SlowerSettings found;
  for (std::size_t s = 0; s < comparison.slices.size(); ++s) {
    const reports::TimeSlice& slice = comparison.slices[s];
    for (std::size_t row = 0; row < slice.settings.size(); ++row) {
      const SettingChange& change = slice.settings[row];
      if (!change.alarms.contains("slower")) continue;
      const reports::ComparedSetting& setting = comparison.settings[change.setting];
      const bool by_time = change.times.verdict == TimeVerdict::slower;
      if (by_time && change.work.verdict != TimeVerdict::slower &&
          !family_is_slower(slice, change.setting, 2.0 * change.times.corrected)) {
        found.suspects.push_back(
            {setting.new_hash, slice.request.tolerance, slice.request.start, change.times.corrected});
        found.places.push_back({s, row});
      } else {
        found.certain.push_back(fmt::format("{} at {:g}", setting.label, slice.request.tolerance));
      }
    }
  }
  return found;
}

void withdraw_slower(Comparison& comparison, SlowerSettings::Place place, const std::set<std::string>& fail_on) {
  reports::TimeSlice& slice = comparison.slices[place.slice];
  SettingChange& change = slice.settings[place.row];
  change.alarms.erase("slower");
  for (reports::FamilyChange& family : slice.families) {
    if (family.setting == change.setting && family.times.verdict == TimeVerdict::slower) {
      family.times.verdict = TimeVerdict::undecided;
    }
  }
  for (std::string& reason : change.reasons) {
    if (reason.starts_with("slower ")) reason += " between the two nights, withdrawn side by side";
  }
  judge_again(change);
  comparison.notes.push_back(fmt::format("{} at {:g} is not slower side by side: that alarm is withdrawn",
                                         comparison.settings[change.setting].label, slice.request.tolerance));
  reports::count_alarms(comparison, fail_on);
}

}  // namespace conebench::cli
