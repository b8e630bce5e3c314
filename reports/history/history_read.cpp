#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "reports/comparison/alarms.hpp"
#include "reports/history/history.hpp"
#include "store/night_folder.hpp"
#include "store/suite_scope.hpp"

namespace conebench::reports {

namespace fs = std::filesystem;

namespace {

/// The newest night of a suite, with what is needed to compare it.
struct Newest {
  fs::path store, baseline;
  std::vector<Alarm> alarms, withdrawn;
};

/// Of each suite, the store that its newest night is compared with: that which `conebench nightly` takes.
std::map<std::string, Newest> newest_nights(std::vector<NightSummary>& nights) {
  std::map<std::string, NightFolder> suites;
  const auto first = std::stable_partition(nights.begin(), nights.end(), [](const NightSummary& night) {
    return night.started_utc.empty() || night.side_by_side;
  });
  for (auto night = first; night != nights.end(); ++night) suites[night->suite].nights.push_back(std::move(*night));
  nights.erase(first, nights.end());
  std::map<std::string, Newest> found;
  for (auto& [suite, folder] : suites) {
    sort_nights(folder.nights);
    const NightSummary& last = folder.nights.back();
    Newest newest{last.store, {}, {}, {}};
    const std::string now = last.started_utc;
    newest.alarms = last_alarms(folder, {}, now);
    if (auto result = read_night_result(last.store)) newest.withdrawn = std::move(result->withdrawn);
    if (last.complete()) {
      // Stores of other names are no baselines of a night.
      const bool is_made = is_night(last);
      for (const NightSummary* baseline : bases_of(folder, last.store, now, last_alarms(folder, last.store, now))) {
        if (is_made && !is_night(*baseline)) continue;
        newest.baseline = baseline->store;
        break;
      }
    }
    found.emplace(suite, std::move(newest));
    std::move(folder.nights.begin(), folder.nights.end(), std::back_inserter(nights));
  }
  return found;
}

/// Nothing where a store can't be read any more.
void compare_last_night(SuiteHistory& suite, const Newest& newest) {
  suite.last.alarms = newest.alarms;
  if (newest.baseline.empty()) return;
  const auto baseline = read_present(newest.baseline);
  const auto candidate = read_present(newest.store);
  if (!baseline || !candidate) return;
  Comparison comparison = compare(make_side(newest.baseline.filename().string(), *baseline),
                                  make_side(newest.store.filename().string(), *candidate), {});
  for (const Alarm& alarm : newest.withdrawn) withdraw(comparison, alarm);
  set_last_night(suite, comparison);
}

}  // namespace

void set_last_night(SuiteHistory& suite, const Comparison& comparison) {
  suite.last.baseline = comparison.baseline.name;
  suite.last.states.clear();
  const ChangeSource source = ran_side_by_side(comparison.baseline, comparison.candidate) ? ChangeSource::side_by_side
                                                                                          : ChangeSource::two_stores;
  for (const TimeSlice& slice : comparison.slices) {
    const HistorySlice wanted{slice.request.tolerance, slice.request.stop_by, slice.request.verdict,
                              slice.request.start};
    const auto at = std::find(suite.slices.begin(), suite.slices.end(), wanted);
    for (const ConfigurationChange& change : slice.configurations) {
      const std::string& label = comparison.configurations[change.configuration].label;
      const auto configuration = std::find(suite.configurations.begin(), suite.configurations.end(), label);
      if (at == suite.slices.end() || configuration == suite.configurations.end()) continue;
      ConfigurationState state{static_cast<std::size_t>(configuration - suite.configurations.begin()),
                               static_cast<std::size_t>(at - suite.slices.begin()), state_of(change), std::nullopt};
      if (comparison.times_compared && change.times.cells > 0) state.evidence = evidence_of(change.times, source);
      suite.last.states.push_back(state);
    }
  }
}

Result<History> read_history(const std::vector<fs::path>& stores_or_folders) {
  std::vector<NightSummary> nights;
  std::vector<std::string> notes;
  for (const fs::path& target : stores_or_folders) {
    std::error_code ignored;
    if (!fs::is_directory(target, ignored)) {
      auto night = read_night(target);
      if (!night) return night.error();
      nights.push_back(std::move(*night));
      continue;
    }
    auto folder = read_store_folder(target);
    if (!folder) return folder.error();
    notes.insert(notes.end(), folder->notes.begin(), folder->notes.end());
    if (folder->nights.empty()) {
      return Error{ErrorCode::bad_input,
                   fmt::format("{}: it has no store that can be read{}; name a folder of `conebench nightly --stores`",
                               target.string(), notes.empty() ? "" : ": " + notes.front())};
    }
    std::move(folder->nights.begin(), folder->nights.end(), std::back_inserter(nights));
  }
  const auto newest = newest_nights(nights);
  History history = make_history(std::move(nights));
  for (SuiteHistory& suite : history.suites) {
    compare_last_night(suite, newest.at(suite.suite));
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
