#include "cli/night_alarms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/comparison/alarms.hpp"
#include "store/night_folder.hpp"

namespace conebench::cli {

namespace {

using reports::Comparison;
using reports::ConfigurationChange;

constexpr double part_of_the_whole = 2.0;  // a family is, up to so many times the whole configuration's effect

bool family_is_slower(const reports::TimeSlice& slice, std::size_t configuration, double than) {
  return std::any_of(slice.families.begin(), slice.families.end(), [&](const reports::FamilyChange& family) {
    return family.configuration == configuration && family.times.verdict == ChangeState::slower &&
           family.times.median > than;
  });
}

}  // namespace

SlowerConfigurations slower_configurations(const Comparison& comparison, const Alarm& night) {
  SlowerConfigurations found;
  for (const reports::TimeSlice& slice : comparison.slices) {
    for (const ConfigurationChange& change : slice.configurations) {
      if (!change.alarms.contains("slower") || change.accepted.contains("slower")) continue;
      const reports::ComparedConfiguration& configuration = comparison.configurations[change.configuration];
      const bool by_time = change.times.verdict == ChangeState::slower;
      if (by_time && change.work.verdict != ChangeState::slower &&
          !family_is_slower(slice, change.configuration, part_of_the_whole * change.times.corrected)) {
        found.suspects.push_back({configuration.candidate_hash, slice.request.tolerance, slice.request.start,
                                  change.times.corrected, configuration.label});
        found.alarms.push_back(reports::alarm_of(comparison, slice, change, "slower", night));
      } else {
        found.certain.push_back(fmt::format("{} at {:g}", configuration.label, slice.request.tolerance));
      }
    }
  }
  return found;
}

bool is_over(const reports::History& history, const Alarm& alarm) {
  if (!alarm.by_time || !alarm.pinned_utc.empty()) return false;
  for (const reports::SuiteHistory& suite : history.suites) {
    if (suite.suite != alarm.suite) continue;
    for (const reports::TimeChange& change : suite.time_changes) {
      const reports::HistorySlice& slice = suite.slices[change.slice];
      const std::string& began = suite.nights[change.change.first_after].summary.started_utc;
      const bool its = suite.configurations[change.configuration] == alarm.configuration &&
                       slice.tolerance == alarm.tolerance && slice.stop_by == alarm.stop_by &&
                       slice.verdict == alarm.verdict && slice.start == alarm.start;
      if (its && change.change.effect < -0.5 * alarm.effect && began > alarm.since_utc) return true;
    }
  }
  return false;
}

Alarm without_time(Alarm alarm, double effect) {
  alarm.by_time = false;
  std::erase_if(alarm.families, [&](const auto& family) { return family.second <= part_of_the_whole * effect; });
  return alarm;
}

Result<void> copy_acceptances(const std::filesystem::path& from, Store& to) {
  CONEBENCH_TRY(const auto source, Store::open(from, Store::Mode::read_only));
  CONEBENCH_TRY(const auto accepted, source.acceptances());
  const auto judged = read_night_result(from);
  for (const AcceptanceRecord& one : accepted) {
    if (judged && judged->ended.contains(one.alarm)) continue;
    CONEBENCH_CHECK(to.put_acceptance(one));
  }
  return {};
}

}  // namespace conebench::cli
