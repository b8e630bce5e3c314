#include "store/night_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <tuple>

#include "base/text_file.hpp"
#include "base/unfinished.hpp"
#include "store/schema.hpp"
#include "store/store.hpp"
#include "store/store_lock.hpp"

namespace conebench {

namespace fs = std::filesystem;

fs::path night_result_file(const fs::path& store) { return store.string() + ".night.json"; }

Result<void> write_night_result(const fs::path& store, const NightResult& result) {
  nlohmann::json json = {{"schema", "conebench.night/2"},
                         {"exit_code", result.exit_code},
                         {"broke", result.broke},
                         {"baseline", result.baseline},
                         {"headline", result.headline}};
  json["ended"] = result.ended;
  json["alarms"] = json["withdrawn"] = nlohmann::json::array();
  for (const Alarm& alarm : result.alarms) json["alarms"].push_back(to_json(alarm));
  for (const Alarm& alarm : result.withdrawn) json["withdrawn"].push_back(to_json(alarm));
  return write_text_file(night_result_file(store),
                         json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::optional<NightResult> read_night_result(const fs::path& store) {
  std::ifstream stream(night_result_file(store));
  const auto json = nlohmann::json::parse(stream, nullptr, false);
  if (!json.is_object() || !json.contains("exit_code") || !json["exit_code"].is_number_integer()) return std::nullopt;
  const auto text = [&](const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
  };
  const bool broke = json.contains("broke") && json["broke"].is_boolean() && json["broke"].get<bool>();
  const auto alarms = [&](const char* key) {
    std::vector<Alarm> read;
    if (!json.contains(key) || !json[key].is_array()) return read;
    for (const auto& one : json[key]) {
      if (auto alarm = alarm_of_json(one)) read.push_back(std::move(*alarm));
    }
    return read;
  };
  std::set<std::string> ended;
  if (json.contains("ended") && json["ended"].is_array()) {
    for (const auto& id : json["ended"]) {
      if (id.is_string()) ended.insert(id.get<std::string>());
    }
  }
  return NightResult{
      json["exit_code"].get<int>(), broke,           text("baseline"), text("headline"), alarms("alarms"),
      alarms("withdrawn"),          std::move(ended)};
}

namespace {

/// "2026-01-31-1f3a9c77.sqlite", "2026-01-31-1f3a9c77-2.sqlite".
bool has_night_name(const fs::path& store) {
  static const std::string pattern = "dddd-dd-dd-xxxxxxxx";
  const std::string stem = store.stem().string();
  if (stem.size() < pattern.size()) return false;
  const auto fits = [](char sign, char kind) {
    if (kind == 'd') return sign >= '0' && sign <= '9';
    if (kind == 'x') return (sign >= '0' && sign <= '9') || (sign >= 'a' && sign <= 'f');
    return sign == kind;
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (!fits(stem[i], pattern[i])) return false;
  }
  const std::string again = stem.substr(pattern.size());
  return again.empty() || (again.size() > 1 && again[0] == '-' &&
                           std::all_of(again.begin() + 1, again.end(), [&](char sign) { return fits(sign, 'd'); }));
}

}  // namespace

void sort_nights(std::vector<NightSummary>& nights) {
  const auto key = [](const NightSummary& night) {
    const std::string name = night.store.filename().string();
    return std::tuple(night.started_utc, name.size(), name, night.store);
  };
  std::sort(nights.begin(), nights.end(),
            [&](const NightSummary& a, const NightSummary& b) { return key(a) < key(b); });
}

bool is_night(const NightSummary& night) {
  std::error_code ignored;
  return has_night_name(night.store) || fs::exists(night_result_file(night.store), ignored);
}

Result<NightFolder> read_store_folder(const fs::path& folder) {
  NightFolder found;
  std::error_code failure;
  std::vector<fs::path> stores;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    if (!entry->is_regular_file()) continue;
    if (entry->path().extension() == ".sqlite") stores.push_back(entry->path());
    // Of a night whose store was deleted.
    const std::string name = entry->path().string();
    const std::string ending = summary_file("").string();
    if (!name.ends_with(".sqlite" + ending)) continue;
    const fs::path store = name.substr(0, name.size() - ending.size());
    if (std::error_code ignored; !fs::exists(store, ignored)) stores.push_back(store);
  }
  if (failure) {
    return Error{ErrorCode::bad_input, fmt::format("{}: cannot be read: {}", folder.string(), failure.message())};
  }
  std::sort(stores.begin(), stores.end());
  for (const fs::path& store : stores) {
    auto night = read_night(store);
    if (!night) {
      found.notes.push_back(night.error().message);
    } else if (night->side_by_side) {
      found.notes.push_back(store.string() + ": two builds side by side are no night");
    } else {
      found.nights.push_back(std::move(*night));
    }
  }
  sort_nights(found.nights);
  return found;
}

Result<NightFolder> read_night_folder(const fs::path& folder, const std::string& suite) {
  CONEBENCH_TRY(auto found, read_store_folder(folder));
  std::erase_if(found.nights, [&](const NightSummary& night) {
    return !is_night(night) || !(night.suite == suite || suite.empty());
  });
  return found;
}

std::string flaw_of(const NightSummary& night) {
  const auto result = read_night_result(night.store);
  if (!result) return "it was not judged";
  if (result->broke) return "something broke in it";
  return night.answered() ? "" : "no solver answered in it";
}

bool is_good(const NightSummary& night) { return night.complete() && flaw_of(night).empty(); }

fs::path last_judged(const NightFolder& folder, const fs::path& store, const std::string& now) {
  fs::path last;
  for (const NightSummary& night : folder.nights) {
    if (night.store == store) break;
    if (night.started_utc <= now && read_night_result(night.store)) last = night.store;
  }
  return last;
}

std::vector<Alarm> last_alarms(const NightFolder& folder, const fs::path& store, const std::string& now) {
  const fs::path last = last_judged(folder, store, now);
  auto result = read_night_result(last);
  if (!result || result->alarms.empty()) return {};
  const auto kept = Store::open(last, Store::Mode::read_only);
  const auto accepted = kept ? kept->acceptances() : Result<std::vector<AcceptanceRecord>>(kept.error());
  if (!accepted) return std::move(result->alarms);
  for (Alarm& alarm : result->alarms) {
    for (const AcceptanceRecord& one : *accepted) {
      if (alarm.id() == one.alarm) alarm.accepted = one;
    }
  }
  return std::move(result->alarms);
}

std::vector<const NightSummary*> bases_of(const NightFolder& folder, const fs::path& store, const std::string& now,
                                          const std::vector<Alarm>& before) {
  const std::string since = alarmed_since(before);
  std::vector<const NightSummary*> in_time, late, alarmed, flawed;
  for (const NightSummary& night : folder.nights) {
    if (night.store == store) break;
    if (std::error_code ignored; !night.complete() || !fs::exists(night.store, ignored)) continue;
    const bool in_alarm = !since.empty() && night.started_utc >= since;
    (!is_good(night) ? flawed : in_alarm ? alarmed : night.started_utc <= now ? in_time : late).push_back(&night);
  }
  std::vector<const NightSummary*> bases;
  for (const auto* list : {&in_time, &late, &alarmed, &flawed}) bases.insert(bases.end(), list->rbegin(), list->rend());
  return bases;
}

fs::path store_of_tonight(const fs::path& folder, const NightFolder& nights, const std::string& now,
                          const NightOrigin& origin) {
  const auto newest = std::find_if(nights.nights.rbegin(), nights.nights.rend(),
                                   [&](const NightSummary& night) { return night.started_utc <= now; });
  if (newest != nights.nights.rend()) {
    const bool same = newest->executable == origin.build.executable && newest->libraries == origin.build.libraries &&
                      newest->cpu == origin.cpu && newest->suite_hash == origin.suite_hash && !newest->several_builds;
    const bool ended = newest->complete() && read_night_result(newest->store);
    if (same && !ended) return newest->store;
  }
  constexpr std::size_t day = 10, digits = 8;
  const std::string stem = now.substr(0, day) + "-" + origin.build.executable.substr(0, digits);
  fs::path store = folder / (stem + ".sqlite");
  std::error_code ignored;
  const auto taken = [&] { return fs::exists(store, ignored) || fs::exists(night_result_file(store), ignored); };
  for (int again = 2; taken(); ++again) store = folder / fmt::format("{}-{}.sqlite", stem, again);
  return store;
}

std::vector<fs::path> nights_to_delete(const NightFolder& folder, std::size_t keep,
                                       const std::vector<fs::path>& spared) {
  std::vector<fs::path> stores;
  for (std::size_t i = 0; i + keep < folder.nights.size(); ++i) {
    const fs::path& store = folder.nights[i].store;
    const bool is_spared = std::any_of(spared.begin(), spared.end(), [&](const fs::path& other) {
      std::error_code ignored;
      return fs::equivalent(store, other, ignored);
    });
    if (!is_spared) stores.push_back(store);
  }
  return stores;
}

fs::path night_pages(const fs::path& store) { return fs::path(store).replace_extension(".comparison"); }

void delete_store(const fs::path& store) {
  std::error_code ignored;
  // Reading writes the summary, where the folder can be written.
  if (!read_night(store) || !fs::exists(summary_file(store), ignored)) return;
  for (const char* beside : {"", "-wal", "-shm"}) fs::remove(store.string() + beside, ignored);
  fs::remove_all(fs::path(store).replace_extension(".problems"), ignored);
  fs::remove_all(night_pages(store), ignored);
}

void delete_night(const fs::path& store) {
  std::error_code ignored;
  for (const char* beside : {"", "-wal", "-shm", ".summary.json", ".night.json"}) {
    fs::remove(store.string() + beside, ignored);
  }
  fs::remove_all(fs::path(store).replace_extension(".problems"), ignored);
  fs::remove_all(night_pages(store), ignored);
}

fs::path kept_build(const fs::path& folder, const std::string& executable) {
  return executable.empty() ? fs::path() : folder / "builds" / executable;
}

Result<void> keep_build(const fs::path& folder, const std::string& executable, const fs::path& file) {
  const fs::path kept = kept_build(folder, executable);
  std::error_code failure;
  if (kept.empty() || fs::exists(kept, failure)) return {};
  const fs::path unfinished = unfinished_path(kept);
  fs::create_directories(kept.parent_path(), failure);
  if (!failure) fs::copy_file(file, unfinished, fs::copy_options::overwrite_existing, failure);
  if (!failure) fs::permissions(unfinished, fs::perms::owner_exec, fs::perm_options::add, failure);
  if (!failure) fs::rename(unfinished, kept, failure);
  if (!failure) return {};
  std::error_code ignored;
  fs::remove(unfinished, ignored);
  return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: {}", kept.string(), failure.message())};
}

void remove_what_was_not_begun(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> empty;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    if (entry->path().extension() == ".sqlite" && entry->is_regular_file(failure) && has_night_name(entry->path()) &&
        is_blank_store(entry->path())) {
      empty.push_back(entry->path());
    }
  }
  for (const fs::path& store : empty) {
    if (const auto lock = StoreLock::acquire(store); lock) delete_night(store);
  }
  remove_unfinished(folder);
  remove_unfinished(folder / "builds");
}

void delete_builds_but(const fs::path& folder, const std::set<std::string>& executables) {
  std::error_code failure;
  std::vector<fs::path> others;
  for (fs::directory_iterator entry(folder / "builds", failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (!executables.contains(entry->path().filename().string())) others.push_back(entry->path());
  }
  for (const fs::path& other : others) fs::remove(other, failure);
}

}  // namespace conebench
