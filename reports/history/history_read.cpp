#include <fmt/format.h>

#include <algorithm>

#include "reports/history/history.hpp"

namespace conebench::reports {

namespace {

namespace fs = std::filesystem;

/// Errors (bad_input): the folder can't be read.
Result<std::vector<fs::path>> stores_in(const fs::path& folder) {
  std::vector<fs::path> stores;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code ignored;
    if (entry->path().extension() == ".sqlite" && entry->is_regular_file(ignored)) stores.push_back(entry->path());
  }
  if (failure) {
    return Error{ErrorCode::bad_input, fmt::format("{}: can't be read: {}", folder.string(), failure.message())};
  }
  std::sort(stores.begin(), stores.end());
  return stores;
}

}  // namespace

Result<History> read_history(const std::vector<fs::path>& stores_or_folders) {
  std::vector<NightSummary> nights;
  std::vector<std::string> notes;
  for (const fs::path& place : stores_or_folders) {
    std::error_code ignored;
    if (!fs::is_directory(place, ignored)) {
      auto night = read_night(place);
      if (!night) return night.error();
      nights.push_back(std::move(*night));
      continue;
    }
    const auto stores = stores_in(place);
    if (!stores) return stores.error();
    std::size_t read = 0;
    for (const fs::path& store : *stores) {
      if (auto night = read_night(store)) {
        nights.push_back(std::move(*night));
        ++read;
      } else {
        notes.push_back(night.error().message);
      }
    }
    if (read == 0) {
      return Error{ErrorCode::bad_input,
                   fmt::format("{}: no store to read in it{}; name a folder of `conebench nightly --stores`",
                               place.string(), notes.empty() ? "" : ": " + notes.front())};
    }
  }
  History history = make_history(std::move(nights));
  history.notes.insert(history.notes.begin(), notes.begin(), notes.end());
  return history;
}

}  // namespace conebench::reports
