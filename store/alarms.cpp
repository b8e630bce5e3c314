#include "store/alarms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "store/night_summary.hpp"

namespace conebench {

namespace {

/// Fields that are texts or numbers, named once for writing and reading.
template <class Visit, class AnyAlarm>
void visit_alarm(Visit visit, AnyAlarm& alarm) {
  visit("suite", alarm.suite);
  visit("kind", alarm.kind);
  visit("setting", alarm.setting);
  visit("tolerance", alarm.tolerance);
  visit("criterion", alarm.criterion);
  visit("verdict", alarm.verdict);
  visit("start", alarm.start);
  visit("since", alarm.since);
  visit("since_utc", alarm.since_utc);
  visit("effect", alarm.effect);
  visit("by_time", alarm.by_time);
  visit("cells", alarm.cells);
}

auto subject_of(const Alarm& alarm) {
  return std::tie(alarm.suite, alarm.kind, alarm.setting, alarm.tolerance, alarm.criterion, alarm.verdict, alarm.start);
}

}  // namespace

std::string Alarm::id() const {
  std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", suite, kind, setting, tolerance, criterion, verdict, start, since);
  if (!pinned_utc.empty()) text += "\n" + pinned_utc;
  return hash_of_text(text);
}

bool Alarm::same_thing(const Alarm& other) const { return subject_of(*this) == subject_of(other); }

bool Alarm::same_subject(const Alarm& other) const { return same_thing(other) && pinned_utc == other.pinned_utc; }

bool Alarm::worse_than(const Alarm& other) const {
  // Twice what two stores can tell of one setting.
  constexpr double noise = 0.04;
  return cells > other.cells || effect > other.effect + noise;
}

nlohmann::json to_json(const Alarm& alarm) {
  nlohmann::json json = {{"id", alarm.id()}, {"source", to_string(alarm.source)}};
  visit_alarm([&json](const char* name, const auto& value) { json[name] = value; }, alarm);
  if (!alarm.pinned_utc.empty()) json["pinned_utc"] = alarm.pinned_utc;
  if (alarm.accepted) {
    json["accepted"] = {
        {"who", alarm.accepted->who}, {"why", alarm.accepted->why}, {"accepted_utc", alarm.accepted->accepted_utc}};
  }
  return json;
}

std::optional<Alarm> alarm_of_json(const nlohmann::json& json) {
  try {
    Alarm alarm;
    visit_alarm([&json](const char* name, auto& value) { json.at(name).get_to(value); }, alarm);
    if (!std::isfinite(alarm.effect)) return std::nullopt;
    alarm.pinned_utc = json.value("pinned_utc", "");
    for (const ChangeSource source : {ChangeSource::two_stores, ChangeSource::side_by_side, ChangeSource::nights}) {
      if (json.at("source") == to_string(source)) alarm.source = source;
    }
    if (json.contains("accepted")) {
      const auto& accepted = json.at("accepted");
      alarm.accepted =
          AcceptanceRecord{alarm.id(), accepted.at("who").get<std::string>(), accepted.at("why").get<std::string>(),
                           accepted.at("accepted_utc").get<std::string>()};
    }
    return alarm;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::vector<Alarm> accepted_alarms(const std::vector<AcceptanceRecord>& acceptances) {
  std::vector<Alarm> alarms;
  for (const AcceptanceRecord& one : acceptances) {
    auto alarm = alarm_of_json(nlohmann::json::parse(one.facts, nullptr, false));
    if (!alarm || alarm->id() != one.alarm) continue;
    alarm->accepted = one;
    alarms.push_back(std::move(*alarm));
  }
  return alarms;
}

const Alarm* told_by(const std::vector<Alarm>& alarms, const Alarm& found, const std::string& base_utc) {
  // These tell how a run is, not what became of it: the base may have them, too.
  const bool is_change = found.kind != "flaky" && found.kind != "at-limit" && found.kind != "undecided";
  const auto one = std::find_if(alarms.begin(), alarms.end(), [&](const Alarm& alarm) {
    const bool against = !alarm.pinned_utc.empty() ? alarm.pinned_utc == base_utc
                                                   : base_utc.empty() || base_utc < alarm.since_utc || !is_change;
    return against && found.same_thing(alarm) && !found.worse_than(alarm);
  });
  return one == alarms.end() ? nullptr : &*one;
}

FollowedAlarms follow_alarms(std::vector<Alarm> found, const std::vector<Alarm>& before,
                             const std::function<bool(const Alarm&)>& is_gone) {
  FollowedAlarms followed;
  for (Alarm& alarm : found) {
    const auto known = std::find_if(before.begin(), before.end(),
                                    [&](const Alarm& one) { return !one.accepted && one.same_subject(alarm); });
    if (known != before.end() && !alarm.accepted) {
      alarm.since = known->since;
      alarm.since_utc = known->since_utc;
    }
    (alarm.accepted ? followed.accepted : followed.standing).push_back(alarm);
  }
  followed.seen = followed.standing.size();
  for (const Alarm& alarm : before) {
    const bool again =
        std::any_of(found.begin(), found.end(), [&](const Alarm& one) { return one.same_subject(alarm); });
    if (again || alarm.accepted) continue;
    (is_gone(alarm) ? followed.gone : followed.standing).push_back(alarm);
  }
  return followed;
}

std::string alarmed_since(const std::vector<Alarm>& alarms) {
  std::string since;
  for (const Alarm& alarm : alarms) {
    const bool of_nights = !alarm.accepted && alarm.pinned_utc.empty();
    if (of_nights && (since.empty() || alarm.since_utc < since)) since = alarm.since_utc;
  }
  return since;
}

}  // namespace conebench
