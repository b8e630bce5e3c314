#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metrics/change/change_points.hpp"
#include "metrics/change/configuration_times.hpp"
#include "reports/comparison/comparison.hpp"
#include "store/night_folder.hpp"
#include "store/night_summary.hpp"

/// Many nights of a suite: what each configuration solves and how fast, by date and build, and its changes. Pure
/// functions of the nights' summaries. docs/history.md has the rules.
namespace conebench::reports {

/// Cells that are compared across nights: of one tolerance, stop_by, verdict and start.
struct HistorySlice {
  double tolerance = 0.0;
  std::string stop_by, verdict, start;
  auto operator<=>(const HistorySlice&) const = default;
};

struct HistoryPoint {
  long solved = 0;
  long problems = 0;                ///< with a cell; only problems that count
  long doubtful = 0;                ///< of their cells: with doubtful times
  std::optional<double> corrected;  ///< log ratio to the reference less that of the other configurations; > 0: slower
  std::optional<double> raw;        ///< the same without the correction; nullopt for a family
};

/// One configuration in one slice, over all problems or those of one family.
struct HistorySeries {
  std::size_t configuration = 0, slice = 0;
  std::string family;                ///< empty: all
  std::vector<HistoryPoint> points;  ///< one a night
};

/// A change of times between two nights. Indices in ChangePoint are nights.
struct TimeChange {
  std::size_t configuration = 0, slice = 0;
  ChangePoint change;
};

/// Differences between a night and the last complete night before it, without statistics.
struct CellChanges {
  std::size_t configuration = 0, slice = 0;
  std::size_t before = 0, night = 0;
  std::vector<std::string> lost, won;  ///< names of problems
  long hit_limit = 0;                  ///< lost or won, but a time or memory limit may be the reason
  long flaky = 0;                      ///< flaky in one of the nights: neither lost nor won
  long other_work = 0;                 ///< solved in both nights with other counts
};

/// One night. A series of times starts anew if machine, compiler or suite changes.
struct HistoryNight {
  NightSummary summary;     ///< without its rows
  std::size_t segment = 0;  ///< times of nights with the same number are comparable
  /// Plug-ins and programs that differ from the last night that had them.
  std::vector<CodeChange> code_changes = {};
  std::string not_judged = {};             ///< why its times are left out of change points; empty: they are not
  std::optional<NightResult> result = {};  ///< how it ended, if `conebench nightly` ran it
  std::filesystem::path page = {};         ///< of its comparison with the last good night; empty: none
};

/// State of a configuration in the last night, as in `conebench compare` of the two stores.
struct ConfigurationState {
  std::size_t configuration = 0, slice = 0;
  ChangeState state = ChangeState::undecided;
  std::optional<ChangeEvidence> evidence;  ///< if times were compared
};

/// The last night against the night that `conebench nightly` compares it with.
struct LastNight {
  std::filesystem::path baseline;          ///< empty: there is none
  std::vector<ConfigurationState> states;  ///< of configurations that both have
  std::vector<Alarm> alarms;               ///< as of NightResult
};

struct SuiteHistory {
  std::string suite;
  std::vector<HistoryNight> nights;                          ///< oldest first
  std::vector<std::string> configurations;                   ///< labels, in order of first appearance
  std::vector<std::string> origins;                          ///< ConfigurationRecord::origin of each
  std::vector<HistorySlice> slices;                          ///< loosest tolerance first
  std::vector<std::map<std::string, std::string>> checks;    ///< [slice]: solver → ConfigurationRecord::checks
  std::vector<std::string> families;                         ///< sorted
  std::vector<HistorySeries> series;                         ///< all families first, then each
  std::vector<std::vector<std::optional<double>>> together;  ///< [slice][night]: log ratio common to all configurations
  std::vector<TimeChange> time_changes;                      ///< by the night in which they were found
  std::vector<CellChanges> cell_changes;                     ///< by night
  std::size_t judged_nights = 0;                             ///< of the last night's series
  LastNight last = {};

  /// Whether there are enough judged nights to find a change between two nights.
  bool decidable() const { return judged_nights >= nights_needed; }
  static constexpr std::size_t nights_needed = ChangeRules{}.min_nights + 2;
};

struct History {
  std::vector<SuiteHistory> suites;  ///< by name
  std::vector<std::string> notes;    ///< stores that could not be read, a line each
};

/// `nights` may have any order. A night without a run is left out, with a note.
History make_history(std::vector<NightSummary> nights);

/// The changes of time in `now` that `before`, a history without the newest nights, does not have. One more night moves
/// the references of all nights slightly, so that a known change may move by some nights, or ChangePoint::seen_at may
/// be earlier. So new changes are found by comparison with `before`, not by seen_at.
std::vector<TimeChange> new_time_changes(const SuiteHistory& now, const SuiteHistory& before);

/// A store, or all "*.sqlite" of a folder, as nights. Stores of a folder that cannot be read are notes.
/// Errors (bad_input): a named store that cannot be read, a folder without any store that can.
Result<History> read_history(const std::vector<std::filesystem::path>& stores_or_folders);

/// Fills LastNight::baseline and ::states of a suite from the comparison of its last night.
void set_last_night(SuiteHistory& suite, const Comparison& comparison);

/// The night of this store; null: none.
HistoryNight* find_night(History& history, const std::filesystem::path& store);

/// Plug-ins and programs that differ between two nights of a suite.
std::vector<CodeChange> changed_code(const SuiteHistory& suite, std::size_t before, std::size_t after);

std::string history_markdown(const History& history);
/// The layout "conebench.history/2"; nights' pages as seen from `folder`.
std::string history_json(const History& history, const std::filesystem::path& folder = {});
/// `home`: PageParts::home.
std::string history_page(const History& history, const std::filesystem::path& folder = {},
                         const std::string& home = {});

/// index.html, history.md and history.json in the folder; all of them or none.
Result<std::vector<std::filesystem::path>> write_history(const History& history, const std::filesystem::path& folder);

}  // namespace conebench::reports
