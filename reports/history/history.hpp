#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metrics/change/change_points.hpp"
#include "metrics/change/setting_times.hpp"
#include "reports/comparison/comparison.hpp"
#include "store/night_folder.hpp"
#include "store/night_summary.hpp"

/// Many nights of a suite: what each setting solves and how fast, against date and build, and where that changed. Pure
/// functions of the nights' summaries; docs/history.md says how each is decided.
namespace conebench::reports {

/// What is compared across nights: cells of one tolerance, criterion, verdict and start.
struct HistorySlice {
  double tolerance = 0.0;
  std::string criterion, verdict, start;
  auto operator<=>(const HistorySlice&) const = default;
};

struct HistoryPoint {
  long solved = 0;
  long problems = 0;                ///< with a cell, problems that count only
  long doubtful = 0;                ///< of these cells: their times are doubtful
  std::optional<double> corrected;  ///< log ratio to the reference less that of the other settings; > 0: slower
  std::optional<double> raw;        ///< the same with what the machine did in it; none for a family
};

/// One setting in one slice, over all problems or those of one family.
struct HistorySeries {
  std::size_t setting = 0, slice = 0;
  std::string family;                ///< empty: all
  std::vector<HistoryPoint> points;  ///< one a night
};

/// Times that changed between two nights: those of ChangePoint are indices of nights.
struct TimeChange {
  std::size_t setting = 0, slice = 0;
  ChangePoint change;
};

/// Facts between a night and the complete one before it; no statistics.
struct CellChanges {
  std::size_t setting = 0, slice = 0;
  std::size_t before = 0, night = 0;
  std::vector<std::string> lost, won;  ///< names of problems
  long hit_limit = 0;                  ///< lost or won where a clock or memory limit may have decided
  long flaky = 0;                      ///< flaky on either night: neither lost nor won
  long other_work = 0;                 ///< solved both times with other counts
};

/// A series of times starts anew at another machine, compiler or suite.
struct HistoryNight {
  NightSummary summary;     ///< without its rows
  std::size_t segment = 0;  ///< nights of one number can be compared in time
  /// Plug-ins and programs that are no longer those of the night before, or of the last one that had them.
  std::vector<CodeChange> code_changes = {};
  std::string not_judged = {};             ///< why its times take no part in change points; empty: they do
  std::optional<NightResult> result = {};  ///< how it ended, where `conebench nightly` ran it
  std::filesystem::path page = {};         ///< of it beside the last good night; empty: there is none
};

/// What became of a setting in the last night, as `conebench compare` of the two stores says it.
struct SettingState {
  std::size_t setting = 0, slice = 0;
  ChangeState state = ChangeState::undecided;
  std::optional<ChangeEvidence> evidence;  ///< where times were compared
};

/// The last night against the night that `conebench nightly` compares it with.
struct LastNight {
  std::filesystem::path base;        ///< empty: there is none
  std::vector<SettingState> states;  ///< of what both have
  std::vector<Alarm> alarms;         ///< as of NightResult
};

struct SuiteHistory {
  std::string suite;
  std::vector<HistoryNight> nights;                          ///< oldest first
  std::vector<std::string> settings;                         ///< labels, in the order in which they first came
  std::vector<std::string> origins;                          ///< SettingRecord::origin of each
  std::vector<HistorySlice> slices;                          ///< loosest tolerance first
  std::vector<std::map<std::string, std::string>> looks;     ///< [slice]: solver → SettingRecord::looks
  std::vector<std::string> families;                         ///< sorted
  std::vector<HistorySeries> series;                         ///< all families first, then each
  std::vector<std::vector<std::optional<double>>> together;  ///< [slice][night]: what moved all settings, log ratio
  std::vector<TimeChange> time_changes;                      ///< by the night at which they showed
  std::vector<CellChanges> cell_changes;                     ///< by night
  std::size_t judged_nights = 0;                             ///< of the last night's series
  LastNight last = {};

  /// Whether there are as many judged nights as a change between two nights takes.
  bool decidable() const { return judged_nights >= nights_needed; }
  static constexpr std::size_t nights_needed = ChangeRules{}.fewest + 2;
};

struct History {
  std::vector<SuiteHistory> suites;  ///< by name
  std::vector<std::string> notes;    ///< stores that could not be read, a line each
};

/// In any order. A night without a run is left out, with a note.
History make_history(std::vector<NightSummary> nights);

/// The changes of time in `now` that `before`, of some of the same nights, does not show. With a night more the
/// references of all are others by a little, so that a change may be put some nights off, or be said to have shown on
/// an earlier night than it did: what is new tonight is told by what was there before, not by ChangePoint::seen_at.
std::vector<TimeChange> new_time_changes(const SuiteHistory& now, const SuiteHistory& before);

/// A store, or all "*.sqlite" of a folder, as nights. Stores of a folder that cannot be read are notes.
/// Errors (bad_input): a named store that cannot be read, a folder without any store that can.
Result<History> read_history(const std::vector<std::filesystem::path>& stores_or_folders);

/// Fills LastNight::base and ::states of a suite of the comparison of its last night.
void set_last_night(SuiteHistory& suite, const Comparison& comparison);

/// The night of this store; null: none.
HistoryNight* find_night(History& history, const std::filesystem::path& store);

/// What of plug-ins and programs two nights of a suite differ in.
std::vector<CodeChange> changed_code(const SuiteHistory& suite, std::size_t before, std::size_t after);

std::string history_markdown(const History& history);
/// The layout "conebench.history/1"; nights' pages as seen from `folder`.
std::string history_json(const History& history, const std::filesystem::path& folder = {});
std::string history_page(const History& history, const std::filesystem::path& folder = {});

/// index.html, history.md and history.json in the folder; all of them or none.
Result<std::vector<std::filesystem::path>> write_history(const History& history, const std::filesystem::path& folder);

}  // namespace conebench::reports
