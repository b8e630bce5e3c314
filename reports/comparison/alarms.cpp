#include "reports/comparison/alarms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/comparison/words.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

bool is_of(const Comparison& comparison, const TimeSlice& slice, const SettingChange& change, const Alarm& alarm) {
  return comparison.settings[change.setting].label == alarm.setting && slice.request.tolerance == alarm.tolerance &&
         slice.request.criterion == alarm.criterion && slice.request.verdict == alarm.verdict &&
         slice.request.start == alarm.start;
}

/// Calls `visit` for the alarm's setting in each slice that differs in limits alone.
template <class Slices, class Visit>
void for_each_of(const Comparison& comparison, Slices& slices, const Alarm& alarm, Visit visit) {
  for (auto& slice : slices) {
    for (auto& change : slice.settings) {
      if (is_of(comparison, slice, change, alarm)) visit(slice, change);
    }
  }
}

long missing_with_problem(const Comparison& comparison) {
  long cells = 0;
  for (const TimeSlice& slice : comparison.slices) {
    for (const SettingChange& change : slice.settings) cells += change.missed_with_problem;
  }
  return cells;
}

bool clears_slower(const Comparison& comparison, const SettingChange& change, const Alarm& alarm) {
  if (!comparison.times_compared) return false;
  if (alarm.by_time) {
    const bool half = change.times.verdict == TimeVerdict::same && change.times.corrected < 0.5 * alarm.effect;
    return half || change.times.verdict == TimeVerdict::faster || rules_out(change.times, alarm.effect);
  }
  // Work is exact, and families are judged where nothing was loaded.
  return change.work.verdict != TimeVerdict::undecided && !comparison.base.loaded && !comparison.fresh.loaded;
}

}  // namespace

ChangeState state_of(const SettingChange& change) {
  const auto has = [&](const char* word) { return change.alarms.contains(word); };
  const auto count = [&](const char* word) {
    const auto found = change.alarms.find(word);
    return found == change.alarms.end() ? 0L : found->second;
  };
  return state_of(ChangeFacts{.lost = count("lost") + count("broke") + count("missing"),
                              .won = count("won"),
                              .slower = has("slower"),
                              .faster = has("faster"),
                              .decided = change.outlook != Outlook::undecided && change.outlook != Outlook::added});
}

Alarm alarm_of(const Comparison& comparison, const TimeSlice& slice, const SettingChange& change,
               const std::string& kind, Alarm night) {
  night.kind = kind;
  night.setting = comparison.settings[change.setting].label;
  night.tolerance = slice.request.tolerance;
  night.criterion = slice.request.criterion;
  night.verdict = slice.request.verdict;
  night.start = slice.request.start;
  return night;
}

std::vector<Alarm> alarms_of(const Comparison& comparison, const std::set<std::string>& kinds, const Alarm& night) {
  std::vector<Alarm> alarms;
  for (const TimeSlice& slice : comparison.slices) {
    for (const SettingChange& change : slice.settings) {
      for (const auto& [kind, count] : change.alarms) {
        if (!kinds.contains(kind)) continue;
        Alarm alarm = alarm_of(comparison, slice, change, kind, night);
        alarm.cells = count;
        alarm.by_time = kind == "slower" && change.times.verdict == TimeVerdict::slower;
        if (alarm.by_time) alarm.effect = change.times.corrected;
        alarms.push_back(std::move(alarm));
      }
    }
  }
  if (const long missing = missing_with_problem(comparison); missing > 0 && kinds.contains("missing")) {
    Alarm alarm = night;
    alarm.kind = "missing";
    alarm.cells = missing;
    alarms.push_back(std::move(alarm));
  }
  return alarms;
}

bool clears(const Comparison& comparison, const Alarm& alarm) {
  if (comparison.compared == 0 || alarm.setting.empty()) return true;
  bool cleared = true;
  for_each_of(comparison, comparison.slices, alarm, [&](const TimeSlice&, const SettingChange& change) {
    if (alarm.kind == "slower") cleared = cleared && clears_slower(comparison, change, alarm);
    if (alarm.kind == "lost") cleared = cleared && change.no_longer == 0;
  });
  return cleared;
}

void accept(Comparison& comparison, const Alarm& alarm) {
  if (!alarm.accepted) return;
  if (alarm.setting.empty()) comparison.accepted_missing = true;
  for_each_of(comparison, comparison.slices, alarm,
              [&](TimeSlice&, SettingChange& change) { change.accepted.insert(alarm.kind); });
  comparison.notes.push_back("accepted: " + alarm_words(alarm));
}

void withdraw(Comparison& comparison, const Alarm& alarm) {
  for_each_of(comparison, comparison.slices, alarm, [&](TimeSlice& slice, SettingChange& change) {
    if (change.alarms.erase("slower") == 0) return;
    for (FamilyChange& family : slice.families) {
      if (family.setting == change.setting && family.times.verdict == TimeVerdict::slower) {
        family.times.verdict = TimeVerdict::undecided;
      }
    }
    change.times.verdict = TimeVerdict::undecided;
    change.reasons.insert(change.reasons.begin(), "withdrawn side by side");
    const bool else_worse = std::any_of(change.alarms.begin(), change.alarms.end(), [](const auto& one) {
      return one.first == "lost" || one.first == "broke" || one.first == "missing" || one.first == "less-accurate";
    });
    if (!else_worse) {
      change.outlook = Outlook::undecided;
      change.alarms["undecided"] = 1;
    }
    comparison.notes.push_back(fmt::format("{} at {} is not slower side by side: that alarm is withdrawn",
                                           alarm.setting, human_tolerance(alarm.tolerance)));
  });
}

std::string alarm_words(const Alarm& alarm) {
  std::string what;
  if (alarm.setting.empty()) {
    what = fmt::format("problems are missing ({})", plural(alarm.cells, "cell"));
  } else {
    what = fmt::format("{} at {}", one_line(alarm.setting), human_tolerance(alarm.tolerance));
    if (alarm.start != "cold") what += ", start " + one_line(alarm.start);
    if (alarm.kind == "slower") {
      what += " is slower";
      if (alarm.by_time) what += fmt::format(" by {:.1f} %", 100.0 * std::expm1(alarm.effect));
      if (alarm.source == ChangeSource::nights) what += " over the nights";
    } else if (alarm.kind == "less-accurate") {
      what += " is less accurate";
    } else if (alarm.kind == "undecided") {
      what += " is not yet decidable";
    } else {
      what += fmt::format(": {} {}", plural(alarm.cells, "cell"), one_line(alarm.kind));
    }
  }
  std::string text = fmt::format("{}: {} since {}", alarm.id(), what, one_line(alarm.since));
  if (alarm.accepted) {
    text += fmt::format(", accepted by {}: {}", one_line(alarm.accepted->who), one_line(alarm.accepted->why));
  }
  return text;
}

}  // namespace conebench::reports
