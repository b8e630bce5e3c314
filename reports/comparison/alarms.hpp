#pragma once

#include <set>
#include <string>
#include <vector>

#include "metrics/change.hpp"
#include "reports/comparison/comparison.hpp"
#include "store/alarms.hpp"

/// What a comparison says in the terms of docs/compare.md#states, and the alarms that it raises.
namespace conebench::reports {

ChangeState state_of(const SettingChange& change);

/// An alarm about a setting of the comparison, as of a night that no earlier one saw; without its size.
Alarm alarm_of(const Comparison& comparison, const TimeSlice& slice, const SettingChange& change,
               const std::string& kind, Alarm night);

/// The alarms of `kinds`, as of a night that no earlier one saw.
std::vector<Alarm> alarms_of(const Comparison& comparison, const std::set<std::string>& kinds, const Alarm& night);

/// Whether the comparison clears an earlier night's alarm that is not among its own: it could have seen it.
bool clears(const Comparison& comparison, const Alarm& alarm);

/// Takes an alarm off what fails. The caller calls count_alarms() when it has done so for all.
void accept(Comparison& comparison, const Alarm& alarm);

/// Takes the alarm "slower" off a setting that is not slower side by side, as accept().
void withdraw(Comparison& comparison, const Alarm& alarm);

/// "3fa9c1d2: NSGS at 1e-6 is slower by 4.1 % since 2026-01-31-1f3a9c77.sqlite"; with who accepted it and why.
std::string alarm_words(const Alarm& alarm);

}  // namespace conebench::reports
