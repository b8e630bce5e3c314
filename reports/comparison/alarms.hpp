#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "metrics/change/state.hpp"
#include "reports/comparison/comparison.hpp"
#include "store/alarms.hpp"

/// States (docs/compare.md#states) and alarms of a comparison.
namespace conebench::reports {

ChangeState state_of(const ConfigurationChange& change);

/// One of ConfigurationChange::alarms: the accepted one, else a new alarm of `night`.
Alarm alarm_of(const Comparison& comparison, const TimeSlice& slice, const ConfigurationChange& change,
               const std::string& kind, Alarm night);

/// The alarms of `kinds`, including those of whole problems.
std::vector<Alarm> alarms_of(const Comparison& comparison, const std::set<std::string>& kinds, const Alarm& night);

/// The part of an earlier night's alarm that the comparison does not show to be gone. nullopt: all of it is gone, or
/// the two runs share no cell, as after an edit of the suite's limits. Configurations, slices, families and problems
/// that the candidate is not asked for count as gone, and so do problems that no longer count. If the alarm is older
/// than the baseline, the baseline has the effect itself.
std::optional<Alarm> rest_of(const Comparison& comparison, Alarm alarm);

/// Marks the accepted alarms that the candidate shows, so that they do not fail the gate. The caller then calls
/// count_alarms().
void mark_accepted(Comparison& comparison);

/// Removes the alarm "slower" from a configuration that is not slower in an A/B run. The caller then calls
/// count_alarms().
void withdraw(Comparison& comparison, const Alarm& alarm);

/// "3fa9c1d2: NSGS at 1e-6 is slower by 4.1 % since 2026-01-31-1f3a9c77.sqlite"; for an accepted one also who and why.
std::string describe_alarm(const Alarm& alarm);

}  // namespace conebench::reports
