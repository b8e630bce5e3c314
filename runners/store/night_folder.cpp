#include "runners/store/night_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <tuple>

namespace conebench {

namespace fs = std::filesystem;

fs::path night_result_file(const fs::path& store) { return store.string() + ".night.json"; }

Result<std::monostate> write_night_result(const fs::path& store, const NightResult& result) {
  const nlohmann::json json = {{"schema", "conebench.night/1"},
                               {"exit_code", result.exit_code},
                               {"broke", result.broke},
                               {"base", result.base},
                               {"headline", result.headline}};
  const fs::path file = night_result_file(store);
  const fs::path unfinished = file.string() + fmt::format(".unfinished-{}", getpid());
  std::error_code failure;
  {
    std::ofstream stream(unfinished);
    stream << json.dump(1) << "\n";
    if (!stream.flush()) failure = std::make_error_code(std::errc::io_error);
  }
  if (!failure) fs::rename(unfinished, file, failure);
  if (failure) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: {}", file.string(), failure.message())};
  }
  return std::monostate{};
}

std::optional<NightResult> read_night_result(const fs::path& store) {
  std::ifstream stream(night_result_file(store));
  const auto json = nlohmann::json::parse(stream, nullptr, false);
  if (!json.is_object() || !json.contains("exit_code") || !json["exit_code"].is_number_integer()) return std::nullopt;
  const auto text = [&](const char* key) {
    return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
  };
  const bool broke = json.contains("broke") && json["broke"].is_boolean() && json["broke"].get<bool>();
  return NightResult{json["exit_code"].get<int>(), broke, text("base"), text("headline")};
}

Result<NightFolder> read_night_folder(const fs::path& folder, const std::string& suite) {
  NightFolder found;
  std::error_code failure;
  std::vector<fs::path> stores;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    if (entry->path().extension() == ".sqlite" && entry->is_regular_file()) stores.push_back(entry->path());
  }
  if (failure) {
    return Error{ErrorCode::bad_input, fmt::format("{}: cannot be read: {}", folder.string(), failure.message())};
  }
  std::sort(stores.begin(), stores.end());
  for (const fs::path& store : stores) {
    auto night = read_night(store);
    if (!night) {
      found.notes.push_back(night.error().message);
    } else if (night->suite == suite || suite.empty()) {
      found.nights.push_back(std::move(*night));
    }
  }
  // Nights of one second are in the order of their names: "…-2" came after "…".
  std::sort(found.nights.begin(), found.nights.end(), [](const NightSummary& a, const NightSummary& b) {
    const auto key = [](const NightSummary& night) {
      const std::string name = night.store.filename().string();
      return std::tuple(night.started_utc, name.size(), name);
    };
    return key(a) < key(b);
  });
  return found;
}

bool is_good(const NightSummary& night) {
  if (!night.complete()) return false;
  const auto broken = [](const std::string& status) { return status == "bad_problem"; };
  const auto result = read_night_result(night.store);
  if (result) return !result->broke && (result->exit_code == 0 || result->exit_code == 1);
  return std::none_of(night.statuses.begin(), night.statuses.end(), broken);
}

const NightSummary* last_good_night(const NightFolder& folder, const fs::path& store) {
  const NightSummary *good = nullptr, *complete = nullptr;
  for (const NightSummary& night : folder.nights) {
    if (night.store == store) break;
    if (is_good(night)) good = &night;
    if (night.complete()) complete = &night;
  }
  return good != nullptr ? good : complete;
}

fs::path store_of_tonight(const fs::path& folder, const NightFolder& nights, const std::string& date,
                          const std::string& executable, const std::string& suite_hash) {
  if (!nights.nights.empty()) {
    const NightSummary& newest = nights.nights.back();
    const bool same = newest.executable == executable && newest.suite_hash == suite_hash && !newest.several_builds;
    if (!newest.complete() && same) return newest.store;
  }
  constexpr std::size_t digits = 8;
  const std::string stem = date + "-" + executable.substr(0, digits);
  fs::path store = folder / (stem + ".sqlite");
  std::error_code ignored;
  for (int again = 2; fs::exists(store, ignored); ++again) store = folder / fmt::format("{}-{}.sqlite", stem, again);
  return store;
}

std::vector<fs::path> nights_to_delete(const NightFolder& folder, std::size_t keep, const fs::path& tonight,
                                       const fs::path& pinned) {
  const NightSummary* const good = last_good_night(folder, tonight);
  std::vector<fs::path> stores;
  std::error_code ignored;
  for (std::size_t i = 0; i + keep < folder.nights.size(); ++i) {
    const NightSummary& night = folder.nights[i];
    const bool is_pinned = !pinned.empty() && fs::equivalent(night.store, pinned, ignored);
    if (&night == good || night.store == tonight || is_pinned) continue;
    stores.push_back(night.store);
  }
  return stores;
}

void delete_night(const fs::path& store) {
  std::error_code ignored;
  for (const char* beside : {"", "-wal", "-shm", ".summary.json", ".night.json"}) {
    fs::remove(store.string() + beside, ignored);
  }
  fs::remove_all(fs::path(store).replace_extension(".problems"), ignored);
  fs::remove_all(fs::path(store).replace_extension(".comparison"), ignored);
}

fs::path kept_build(const fs::path& folder, const std::string& executable) {
  return executable.empty() ? fs::path() : folder / "builds" / executable;
}

Result<std::monostate> keep_build(const fs::path& folder, const std::string& executable, const fs::path& file) {
  const fs::path kept = kept_build(folder, executable);
  std::error_code failure;
  if (kept.empty() || fs::exists(kept, failure)) return std::monostate{};
  const fs::path unfinished = kept.string() + fmt::format(".unfinished-{}", getpid());
  fs::create_directories(kept.parent_path(), failure);
  if (!failure) fs::copy_file(file, unfinished, fs::copy_options::overwrite_existing, failure);
  if (!failure) fs::permissions(unfinished, fs::perms::owner_exec, fs::perm_options::add, failure);
  if (!failure) fs::rename(unfinished, kept, failure);
  if (!failure) return std::monostate{};
  std::error_code ignored;
  fs::remove(unfinished, ignored);
  return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: {}", kept.string(), failure.message())};
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
