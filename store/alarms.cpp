#include "store/alarms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "store/json_fields.hpp"
#include "store/night_summary.hpp"

namespace conebench {

namespace {

auto subject_of(const Alarm& alarm) {
  return std::tie(alarm.suite, alarm.kind, alarm.configuration, alarm.tolerance, alarm.stop_by, alarm.verdict,
                  alarm.start);
}

}  // namespace

std::string Alarm::id() const {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", suite, kind, configuration, tolerance, stop_by,
                                 verdict, start, since);
  if (!pinned_utc.empty()) text += "\n" + pinned_utc;
  return hash_of_text(text);
}

bool Alarm::same_thing(const Alarm& other) const { return subject_of(*this) == subject_of(other); }

bool Alarm::same_subject(const Alarm& other) const { return same_thing(other) && pinned_utc == other.pinned_utc; }

bool Alarm::worse_than(const Alarm& other) const {
  // Of what the other says twice what two stores can tell of one configuration, else once.
  constexpr double noise = 0.04, half_noise = 0.02;
  constexpr double digit = 1.0;  // of a median that few cells make
  const auto grew = [](bool is, double value, bool was, double before) {
    return is && value > before + (was ? noise : half_noise);
  };
  // A family is within what the whole configuration became slower by.
  const auto any_grew = [&](const std::map<std::string, double>& now, const std::map<std::string, double>& then,
                            bool whole_was, double whole) {
    return std::any_of(now.begin(), now.end(), [&](const auto& family) {
      const auto known = then.find(family.first);
      const double by_family = known == then.end() ? 0.0 : known->second, by_whole = whole_was ? whole : 0.0;
      return grew(true, family.second, known != then.end() || whole_was, std::max(by_family, by_whole));
    });
  };
  const bool named = !other.problems.empty() || other.cells == 0;
  return cells > other.cells || (named && !std::ranges::includes(other.problems, problems)) ||
         grew(by_time, effect, other.by_time, other.effect) || grew(by_work, work, other.by_work, other.work) ||
         any_grew(families, other.families, other.by_time, other.effect) ||
         any_grew(more_work, other.more_work, other.by_work, other.work) || digits > other.digits + digit;
}

bool Alarm::of_cells() const {
  return kind == "lost" || kind == "broke" || kind == "missing" || kind == "flaky" || kind == "at-limit";
}

bool Alarm::empty() const {
  return kind != "undecided" && !by_time && !by_work && families.empty() && more_work.empty() && digits == 0.0 &&
         problems.empty() && !(of_cells() && cells > 0);
}

void Alarm::add(const Alarm& other) {
  if (!by_time && other.by_time) effect = other.effect;
  if (!by_work && other.by_work) work = other.work;
  by_time = by_time || other.by_time;
  by_work = by_work || other.by_work;
  families.insert(other.families.begin(), other.families.end());
  more_work.insert(other.more_work.begin(), other.more_work.end());
  digits = std::max(digits, other.digits);
  problems.insert(other.problems.begin(), other.problems.end());
  cells = std::max(cells, std::ssize(problems));
}

nlohmann::json to_json(const Alarm& alarm) {
  nlohmann::json json = json_of(alarm);
  json["id"] = alarm.id();
  json["source"] = to_string(alarm.source);
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
    JsonReader reader(json);
    Alarm::fields(reader, alarm);
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

const Alarm* reported_by(const std::vector<Alarm>& alarms, const Alarm& found, const std::string& baseline_utc) {
  // These tell how a run is, not what became of it: the baseline may have them, too.
  const bool is_change = found.kind != "flaky" && found.kind != "at-limit" && found.kind != "undecided";
  const auto one = std::find_if(alarms.begin(), alarms.end(), [&](const Alarm& alarm) {
    const bool began_before = !alarm.accepted || found.since_utc <= alarm.accepted->accepted_utc;
    const bool against = !alarm.pinned_utc.empty() ? alarm.pinned_utc == baseline_utc
                         : baseline_utc.empty()    ? began_before
                                                   : baseline_utc < alarm.since_utc || !is_change;
    return against && found.same_thing(alarm) && !found.worse_than(alarm);
  });
  return one == alarms.end() ? nullptr : &*one;
}

FollowedAlarms follow_alarms(std::vector<Alarm> found, const std::vector<Alarm>& before,
                             const std::function<std::optional<Alarm>(const Alarm&)>& rest) {
  FollowedAlarms followed;
  for (Alarm& alarm : found) {
    const auto known = std::find_if(before.begin(), before.end(),
                                    [&](const Alarm& one) { return !one.accepted && one.same_subject(alarm); });
    if (known != before.end() && !alarm.accepted) {
      alarm.since = known->since;
      alarm.since_utc = known->since_utc;
      if (const auto left = rest(*known)) alarm.add(*left);
    }
    (alarm.accepted ? followed.accepted : followed.standing).push_back(alarm);
  }
  followed.seen = followed.standing.size();
  for (const Alarm& alarm : before) {
    const bool again =
        std::any_of(found.begin(), found.end(), [&](const Alarm& one) { return one.same_subject(alarm); });
    if (again || alarm.accepted) continue;
    const auto left = rest(alarm);
    (left ? followed.standing : followed.gone).push_back(left.value_or(alarm));
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
