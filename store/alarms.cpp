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
  return hash_of_text(
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", suite, kind, setting, tolerance, criterion, verdict, start, since));
}

bool Alarm::same_subject(const Alarm& other) const { return subject_of(*this) == subject_of(other); }

bool Alarm::worse_than(const Alarm& other) const {
  // Twice what two stores can tell of one setting.
  constexpr double noise = 0.04;
  return cells > other.cells || effect > other.effect + noise;
}

nlohmann::json to_json(const Alarm& alarm) {
  nlohmann::json json = {{"id", alarm.id()}, {"source", to_string(alarm.source)}};
  visit_alarm([&json](const char* name, const auto& value) { json[name] = value; }, alarm);
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

FollowedAlarms follow_alarms(std::vector<Alarm> found, const std::vector<Alarm>& before,
                             const std::function<bool(const Alarm&)>& is_gone) {
  FollowedAlarms followed;
  for (Alarm& alarm : found) {
    const auto known =
        std::find_if(before.begin(), before.end(), [&](const Alarm& one) { return one.same_subject(alarm); });
    if (known != before.end() && !(known->accepted && alarm.worse_than(*known))) {
      alarm.since = known->since;
      alarm.since_utc = known->since_utc;
      alarm.accepted = known->accepted;
      // What was accepted stays so much: or it could grow by what is taken for noise every night.
      if (known->accepted) alarm.effect = known->effect, alarm.cells = known->cells;
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
    if (!alarm.accepted && (since.empty() || alarm.since_utc < since)) since = alarm.since_utc;
  }
  return since;
}

}  // namespace conebench
