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
  if (alarm.by_time) return has_recovered(change.times, alarm.effect);
  // Work is exact, and families are judged where nothing was loaded.
  return change.work.verdict != ChangeState::undecided && !comparison.base.loaded && !comparison.fresh.loaded;
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

namespace {

/// That of Comparison::accepted which it is.
Alarm as_accepted(const Comparison& comparison, const Alarm& alarm) {
  const auto known = std::find_if(comparison.accepted.begin(), comparison.accepted.end(),
                                  [&](const Alarm& one) { return one.same_thing(alarm); });
  return known == comparison.accepted.end() ? alarm : *known;
}

/// Whether somebody accepted it: then it is one of Comparison::accepted.
bool take_accepted(Comparison& comparison, const Alarm& found) {
  const Alarm* const known = told_by(comparison.fresh.accepted, found, comparison.base.runs.front().started_utc);
  if (known == nullptr) return false;
  const bool is_new = std::none_of(comparison.accepted.begin(), comparison.accepted.end(),
                                   [&](const Alarm& one) { return one.same_thing(*known); });
  if (!is_new) return true;
  comparison.accepted.push_back(*known);
  comparison.notes.push_back("accepted: " + alarm_words(*known));
  return true;
}

Alarm missing_problems(long cells, Alarm night) {
  night.kind = "missing";
  night.cells = cells;
  return night;
}

}  // namespace

Alarm alarm_of(const Comparison& comparison, const TimeSlice& slice, const SettingChange& change,
               const std::string& kind, Alarm night) {
  night.kind = kind;
  night.setting = comparison.settings[change.setting].label;
  night.tolerance = slice.request.tolerance;
  night.criterion = slice.request.criterion;
  night.verdict = slice.request.verdict;
  night.start = slice.request.start;
  night.cells = change.alarms.at(kind);
  night.by_time = kind == "slower" && change.times.verdict == ChangeState::slower;
  if (night.by_time) night.effect = change.times.corrected;
  return change.accepted.contains(kind) ? as_accepted(comparison, night) : night;
}

std::vector<Alarm> alarms_of(const Comparison& comparison, const std::set<std::string>& kinds, const Alarm& night) {
  std::vector<Alarm> alarms;
  for (const TimeSlice& slice : comparison.slices) {
    for (const SettingChange& change : slice.settings) {
      for (const auto& [kind, count] : change.alarms) {
        if (kinds.contains(kind)) alarms.push_back(alarm_of(comparison, slice, change, kind, night));
      }
    }
  }
  if (const long missing = missing_with_problem(comparison); missing > 0 && kinds.contains("missing")) {
    const Alarm alarm = missing_problems(missing, night);
    alarms.push_back(comparison.accepted_missing ? as_accepted(comparison, alarm) : alarm);
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

void mark_accepted(Comparison& comparison) {
  if (comparison.compared == 0 || comparison.fresh.accepted.empty()) return;
  Alarm night;
  night.suite = comparison.fresh.runs.back().suite_name;
  for (TimeSlice& slice : comparison.slices) {
    for (SettingChange& change : slice.settings) {
      for (const auto& [kind, count] : change.alarms) {
        if (take_accepted(comparison, alarm_of(comparison, slice, change, kind, night))) change.accepted.insert(kind);
      }
    }
  }
  const long missing = missing_with_problem(comparison);
  comparison.accepted_missing = missing > 0 && take_accepted(comparison, missing_problems(missing, night));
}

void withdraw(Comparison& comparison, const Alarm& alarm) {
  for_each_of(comparison, comparison.slices, alarm, [&](TimeSlice& slice, SettingChange& change) {
    if (change.alarms.erase("slower") == 0) return;
    for (FamilyChange& family : slice.families) {
      if (family.setting == change.setting && family.times.verdict == ChangeState::slower) {
        family.times.verdict = ChangeState::undecided;
      }
    }
    change.times.verdict = ChangeState::undecided;
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
  std::string text = fmt::format("{}: {} since {}{}", alarm.id(), what, one_line(alarm.since),
                                 alarm.pinned_utc.empty() ? "" : ", against the pinned reference");
  if (alarm.accepted) {
    text += fmt::format(", accepted by {}: {}", one_line(alarm.accepted->who), one_line(alarm.accepted->why));
  }
  return text;
}

}  // namespace conebench::reports
