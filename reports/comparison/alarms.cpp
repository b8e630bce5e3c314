#include "reports/comparison/alarms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reports/comparison/describe.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

bool is_of(const Comparison& comparison, const TimeSlice& slice, std::size_t configuration, const Alarm& alarm) {
  return comparison.configurations[configuration].label == alarm.configuration &&
         slice.request.tolerance == alarm.tolerance && slice.request.stop_by == alarm.stop_by &&
         slice.request.verdict == alarm.verdict && slice.request.start == alarm.start;
}

/// Calls `visit` for the alarm's configuration in each slice that differs in limits alone.
template <class Slices, class Visit>
void for_each_of(const Comparison& comparison, Slices& slices, const Alarm& alarm, Visit visit) {
  for (auto& slice : slices) {
    for (auto& change : slice.configurations) {
      if (is_of(comparison, slice, change.configuration, alarm)) visit(slice, change);
    }
  }
}

/// Its oldest_hash() names it in alarms.
const ProblemRecord& problem_of(const Comparison& comparison, const CellPair& pair) {
  const Side& side = pair.baseline ? comparison.baseline : comparison.candidate;
  return side.problems[side.cells[pair.baseline ? *pair.baseline : *pair.candidate].problem];
}

/// Whether the pair is one of the cells that an alarm of this kind counts.
bool counts_in(const Comparison& comparison, const ConfigurationChange& change, const CellPair& pair,
               const std::string& kind) {
  switch (pair.change) {
    case CellChange::lost: return kind == "lost";
    case CellChange::won: return kind == "won";
    case CellChange::broke: return kind == "broke";
    case CellChange::hit_limit: return kind == "at-limit";
    case CellChange::missing:
      return kind == "missing" && is_missed(comparison.baseline.cells[*pair.baseline]) &&
             !missed_with_problem(comparison, pair);
    case CellChange::flaky: {
      const ComparedCell& baseline = comparison.baseline.cells[*pair.baseline];
      const bool newly = baseline.status != CellStatus::flaky && baseline.solved;
      return kind == "flaky" || (kind == "lost" && change.became_flaky && newly);
    }
    default: return false;
  }
}

/// Whether the candidate shows that an alarm of this kind no longer holds for the cell.
bool is_back(const Comparison& comparison, const CellPair& pair, const std::string& kind) {
  if (!pair.candidate) return false;
  const ComparedCell& cell = comparison.candidate.cells[*pair.candidate];
  if (kind == "missing") return true;
  if (cell.status == CellStatus::flaky) return false;
  if (kind == "flaky" || cell.solved) return true;
  const StatusClass ended = class_of(cell.status);
  const bool by_itself = ended != StatusClass::broke && ended != StatusClass::unreadable && ended != StatusClass::clock;
  return kind != "lost" && by_itself && pair.baseline && !comparison.baseline.cells[*pair.baseline].solved;
}

/// Work is compared on most of the cells that the baseline solved.
bool work_is_known(const ConfigurationChange& change) {
  return change.work.cells >
         change.count(CellChange::lost) + change.count(CellChange::broke) + change.unclear_losses + change.missed;
}

/// Removes the parts of the alarm that the configuration's times, work and answers show to be gone.
void take_off_recovered(const Comparison& comparison, const TimeSlice& slice, const ConfigurationChange& change,
                        bool in_baseline, Alarm& alarm) {
  if (comparison.times_compared) {
    if (has_recovered(change.times.judged(), alarm.effect, in_baseline)) alarm.by_time = false;
    for (const FamilyChange& family : slice.families) {
      const auto known = alarm.families.find(family.family);
      if (family.configuration != change.configuration || known == alarm.families.end()) continue;
      if (has_recovered(family.times.judged(), known->second, in_baseline)) alarm.families.erase(known);
    }
  }
  const JudgedEffect work{change.work.verdict, change.work.effect};
  const bool balanced = work.verdict == ChangeState::undecided;
  if (work_is_known(change) && !balanced && has_recovered(work, alarm.work, in_baseline)) alarm.by_work = false;
  for (const FamilyWork& family : change.work.families) {
    const auto known = alarm.more_work.find(family.family);
    if (known == alarm.more_work.end() || family.judged.verdict == ChangeState::undecided) continue;
    if (has_recovered(family.judged, known->second, in_baseline)) alarm.more_work.erase(known);
  }
  // Answers without another bit are as accurate.
  const double left = change.accuracy.value_or(0.0) + (in_baseline ? alarm.digits : 0.0);
  if (change.accuracy_known > 0 && !change.less_accurate && left < 0.5 * alarm.digits) alarm.digits = 0.0;
}

}  // namespace

ChangeState state_of(const ConfigurationChange& change) {
  const auto has = [&](const char* word) { return change.alarms.contains(word); };
  const auto count = [&](const char* word) {
    const auto found = change.alarms.find(word);
    return found == change.alarms.end() ? 0L : found->second;
  };
  return state_of(
      ChangeFacts{.lost = count("lost") + count("broke") + count("missing"),
                  .won = count("won"),
                  .slower = has("slower"),
                  .faster = has("faster"),
                  .decided = change.assessment != Assessment::undecided && change.assessment != Assessment::added});
}

namespace {

/// The entry of Comparison::accepted that it equals, or the alarm itself.
Alarm as_accepted(const Comparison& comparison, const Alarm& alarm) {
  const auto known = std::find_if(comparison.accepted.begin(), comparison.accepted.end(),
                                  [&](const Alarm& one) { return one.same_thing(alarm); });
  return known == comparison.accepted.end() ? alarm : *known;
}

/// Whether the alarm was accepted. It is then one of Comparison::accepted.
bool take_accepted(Comparison& comparison, const Alarm& found) {
  const Alarm* const known =
      reported_by(comparison.candidate.accepted, found, comparison.baseline.runs.front().started_utc);
  if (known == nullptr) return false;
  const bool is_new = std::none_of(comparison.accepted.begin(), comparison.accepted.end(),
                                   [&](const Alarm& one) { return one.same_thing(*known); });
  if (!is_new) return true;
  comparison.accepted.push_back(*known);
  comparison.notes.push_back("accepted: " + describe_alarm(*known));
  return true;
}

/// Cells that are missing with their whole problem; none: no alarm.
std::optional<Alarm> missing_problems(const Comparison& comparison, Alarm night) {
  night.kind = "missing";
  for (const CellPair& pair : comparison.pairs) {
    if (!missed_with_problem(comparison, pair)) continue;
    ++night.cells;
    night.problems.insert(oldest_hash(problem_of(comparison, pair)));
  }
  return night.cells > 0 ? std::optional(std::move(night)) : std::nullopt;
}

/// Why it is slower.
void add_slower(const Comparison& comparison, const TimeSlice& slice, const ConfigurationChange& change, Alarm& alarm) {
  alarm.by_time = change.times.verdict == ChangeState::slower;
  if (comparison.times_compared) alarm.effect = change.times.corrected;
  alarm.by_work = change.work.verdict == ChangeState::slower;
  alarm.work = change.work.effect;
  for (const FamilyChange& family : slice.families) {
    const bool slower = family.configuration == change.configuration && family.times.verdict == ChangeState::slower;
    if (slower) alarm.families[family.family] = family.times.median;
  }
  for (const FamilyWork& family : change.work.families) {
    if (family.judged.verdict == ChangeState::slower) alarm.more_work[family.family] = family.judged.effect;
  }
}

}  // namespace

Alarm alarm_of(const Comparison& comparison, const TimeSlice& slice, const ConfigurationChange& change,
               const std::string& kind, Alarm night) {
  night.kind = kind;
  night.configuration = comparison.configurations[change.configuration].label;
  night.tolerance = slice.request.tolerance;
  night.stop_by = slice.request.stop_by;
  night.verdict = slice.request.verdict;
  night.start = slice.request.start;
  night.cells = change.alarms.at(kind);
  if (kind == "slower") add_slower(comparison, slice, change, night);
  if (kind == "less-accurate") night.digits = change.accuracy.value_or(0.0);
  for (const CellPair& pair : comparison.pairs) {
    const bool its = pair.slice == change.slice && pair.configuration == change.configuration;
    if (its && counts_in(comparison, change, pair, kind)) {
      night.problems.insert(oldest_hash(problem_of(comparison, pair)));
    }
  }
  return change.accepted.contains(kind) ? as_accepted(comparison, night) : night;
}

std::vector<Alarm> alarms_of(const Comparison& comparison, const std::set<std::string>& kinds, const Alarm& night) {
  std::vector<Alarm> alarms;
  for (const TimeSlice& slice : comparison.slices) {
    for (const ConfigurationChange& change : slice.configurations) {
      for (const auto& [kind, count] : change.alarms) {
        if (kinds.contains(kind)) alarms.push_back(alarm_of(comparison, slice, change, kind, night));
      }
    }
  }
  if (const auto missing = missing_problems(comparison, night); missing && kinds.contains("missing")) {
    alarms.push_back(comparison.accepted_missing ? as_accepted(comparison, *missing) : *missing);
  }
  return alarms;
}

std::optional<Alarm> rest_of(const Comparison& comparison, Alarm alarm) {
  if (comparison.compared == 0) return std::nullopt;
  const bool in_baseline = alarm.pinned_utc.empty() && comparison.baseline.runs.front().started_utc >= alarm.since_utc;
  bool decided = false;
  bool again = alarm.configuration.empty() && comparison.alarms.contains(alarm.kind);
  for_each_of(comparison, comparison.slices, alarm, [&](const TimeSlice& slice, const ConfigurationChange& change) {
    again = again || change.alarms.contains(alarm.kind);
    decided = decided || (change.compared() > 0 && change.assessment != Assessment::undecided);
    take_off_recovered(comparison, slice, change, in_baseline, alarm);
  });
  const long before = std::ssize(alarm.problems);
  const bool missing = alarm.kind == "missing";  // then the baseline alone has what is asked for
  bool readable = true;
  std::set<std::string> problems, families;  // asked for
  for (const CellPair& pair : comparison.pairs) {
    const TimeSlice& slice = comparison.slices[pair.slice];
    if (!alarm.configuration.empty() && !is_of(comparison, slice, pair.configuration, alarm)) continue;
    const ProblemRecord& problem = problem_of(comparison, pair);
    if (is_back(comparison, pair, alarm.kind)) alarm.problems.erase(oldest_hash(problem));
    if (!pair.candidate && !missing) continue;
    readable = readable && problem.error.empty();
    problems.insert(oldest_hash(problem));
    families.insert(problem.family);
  }
  if (!missing || !in_baseline) {
    if (problems.empty()) return std::nullopt;
    // The hash of what neither side can read names no problem.
    if (readable) {
      std::erase_if(alarm.problems, [&](const std::string& hash) { return !problems.contains(hash); });
      const auto is_left_out = [&](const auto& family) { return !families.contains(family.first); };
      std::erase_if(alarm.families, is_left_out);
      std::erase_if(alarm.more_work, is_left_out);
    }
  }
  if (alarm.kind == "undecided") return decided ? std::nullopt : std::optional(std::move(alarm));
  if (before > 0) {
    alarm.cells = alarm.cells * std::ssize(alarm.problems) / before;
  } else if (alarm.of_cells() && !again && !in_baseline) {
    alarm.cells = 0;
  }
  return alarm.empty() ? std::nullopt : std::optional(std::move(alarm));
}

void mark_accepted(Comparison& comparison) {
  if (comparison.compared == 0 || comparison.candidate.accepted.empty()) return;
  Alarm night;
  night.suite = comparison.candidate.runs.back().suite_name;
  for (TimeSlice& slice : comparison.slices) {
    for (ConfigurationChange& change : slice.configurations) {
      for (const auto& [kind, count] : change.alarms) {
        if (take_accepted(comparison, alarm_of(comparison, slice, change, kind, night))) change.accepted.insert(kind);
      }
    }
  }
  const auto missing = missing_problems(comparison, night);
  comparison.accepted_missing = missing && take_accepted(comparison, *missing);
}

void withdraw(Comparison& comparison, const Alarm& alarm) {
  for_each_of(comparison, comparison.slices, alarm, [&](TimeSlice& slice, ConfigurationChange& change) {
    if (change.alarms.erase("slower") == 0) return;
    for (FamilyChange& family : slice.families) {
      if (family.configuration == change.configuration && family.times.verdict == ChangeState::slower) {
        family.times.verdict = ChangeState::undecided;
      }
    }
    change.times.verdict = ChangeState::undecided;
    change.reasons.insert(change.reasons.begin(), "withdrawn by an A/B run");
    const bool else_worse = std::any_of(change.alarms.begin(), change.alarms.end(), [](const auto& one) {
      return one.first == "lost" || one.first == "broke" || one.first == "missing" || one.first == "less-accurate";
    });
    if (!else_worse) {
      change.assessment = Assessment::undecided;
      change.alarms["undecided"] = 1;
    }
    comparison.notes.push_back(fmt::format("{} at {} is not slower in an A/B run: that alarm is withdrawn",
                                           alarm.configuration, human_tolerance(alarm.tolerance)));
  });
}

namespace {

/// " by 4.1 %, 12.0 % more work, on odd by 20.1 %".
std::string describe_slower(const Alarm& alarm) {
  constexpr std::size_t most = 3;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? " " : ", ") + part; };
  const auto more = [](double effect) { return 100.0 * std::expm1(effect); };
  if (alarm.by_time) add(fmt::format("by {:.1f} %", more(alarm.effect)));
  if (alarm.by_work) add(fmt::format("by {:.1f} % more work", more(alarm.work)));
  const auto add_families = [&](const std::map<std::string, double>& families, bool in_whole, const char* what) {
    std::size_t shown = 0;
    for (const auto& [family, effect] : families) {
      if (!in_whole && shown++ < most) add(fmt::format("on {} by {:.1f} %{}", one_line(family), more(effect), what));
    }
    if (shown > most) add(fmt::format("on {} more families", shown - most));
  };
  add_families(alarm.families, alarm.by_time, "");
  add_families(alarm.more_work, alarm.by_work, " more work");
  return text;
}

}  // namespace

std::string describe_alarm(const Alarm& alarm) {
  std::string what;
  if (alarm.configuration.empty()) {
    what = fmt::format("problems are missing ({})", plural(alarm.cells, "cell"));
  } else {
    what = fmt::format("{} at {}", one_line(alarm.configuration), human_tolerance(alarm.tolerance));
    if (alarm.start != "cold") what += ", start " + one_line(alarm.start);
    if (alarm.kind == "slower") {
      what += " is slower" + describe_slower(alarm);
      if (alarm.source == ChangeSource::nights) what += " over the nights";
    } else if (alarm.kind == "less-accurate") {
      what += fmt::format(" is less accurate by {:.1f} digits", alarm.digits);
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
