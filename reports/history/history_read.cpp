#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "reports/history/history.hpp"
#include "runners/store/night_folder.hpp"

namespace conebench::reports {

namespace fs = std::filesystem;

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
    auto folder = read_store_folder(place);
    if (!folder) return folder.error();
    notes.insert(notes.end(), folder->notes.begin(), folder->notes.end());
    if (folder->nights.empty()) {
      return Error{ErrorCode::bad_input,
                   fmt::format("{}: no store to read in it{}; name a folder of `conebench nightly --stores`",
                               place.string(), notes.empty() ? "" : ": " + notes.front())};
    }
    std::move(folder->nights.begin(), folder->nights.end(), std::back_inserter(nights));
  }
  History history = make_history(std::move(nights));
  for (SuiteHistory& suite : history.suites) {
    for (HistoryNight& night : suite.nights) {
      night.result = read_night_result(night.summary.store);
      std::error_code ignored;
      const fs::path page = night_pages(night.summary.store) / "index.html";
      if (fs::exists(page, ignored)) night.page = page;
    }
  }
  history.notes.insert(history.notes.begin(), notes.begin(), notes.end());
  return history;
}

HistoryNight* find_night(History& history, const fs::path& store) {
  for (SuiteHistory& suite : history.suites) {
    for (HistoryNight& night : suite.nights) {
      if (night.summary.store == store) return &night;
    }
  }
  return nullptr;
}

}  // namespace conebench::reports
