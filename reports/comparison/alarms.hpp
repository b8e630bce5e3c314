#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "metrics/change/state.hpp"
#include "reports/comparison/comparison.hpp"
#include "store/alarms.hpp"

/// What a comparison says in the terms of docs/compare.md#states, and the alarms that it raises.
namespace conebench::reports {

ChangeState state_of(const SettingChange& change);

/// One of SettingChange::alarms: that which somebody accepted, else as of a night that no earlier one saw.
Alarm alarm_of(const Comparison& comparison, const TimeSlice& slice, const SettingChange& change,
               const std::string& kind, Alarm night);

/// Those of `kinds`, and of whole problems.
std::vector<Alarm> alarms_of(const Comparison& comparison, const std::set<std::string>& kinds, const Alarm& night);

/// What of an earlier night's alarm the comparison does not show to be gone; nothing: all of it is, or no cell is in
/// both, as after an edit of the suite's limits. Settings, slices, families and problems that the new side is not asked
/// for, or that say nothing of a solver, are gone. Of an alarm from before the base the base has the effect itself.
std::optional<Alarm> rest_of(const Comparison& comparison, Alarm alarm);

/// Takes off what fails what the new side shows of the alarms that somebody accepted. The caller calls count_alarms().
void mark_accepted(Comparison& comparison);

/// Takes the alarm "slower" off a setting that is not slower side by side, as mark_accepted().
void withdraw(Comparison& comparison, const Alarm& alarm);

/// "3fa9c1d2: NSGS at 1e-6 is slower by 4.1 % since 2026-01-31-1f3a9c77.sqlite"; with who accepted it and why.
std::string alarm_words(const Alarm& alarm);

}  // namespace conebench::reports
