#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "metrics/change/state.hpp"
#include "store/records.hpp"

namespace conebench {

/// Something that became worse, from the night that saw it first until it is gone or accepted.
struct Alarm {
  std::string suite;
  std::string kind;     ///< as of --fail-on: "slower", "lost", …
  std::string setting;  ///< its label; empty: whole problems are missing
  double tolerance = 0.0;
  std::string criterion, verdict, start;
  ChangeSource source = ChangeSource::two_stores;
  std::string since;      ///< name of the store of the night that saw it first
  std::string since_utc;  ///< when that night began
  /// When the pinned run that it is worse than began; empty: it is worse than a night before it.
  std::string pinned_utc = {};
  double effect = 0.0;                           ///< log ratio of the setting's times; 0: they were not compared
  bool by_time = false;                          ///< it is slower by them
  double work = 0.0;                             ///< log ratio of the setting's work
  bool by_work = false;                          ///< it is slower by it
  std::map<std::string, double> families = {};   ///< slower by their times: log ratio of each
  std::map<std::string, double> more_work = {};  ///< families with more work: log ratio of each
  double digits = 0.0;                           ///< of less-accurate: lost by the median cell
  long cells = 0;                                ///< of lost, broke, missing, …
  std::set<std::string> problems = {};           ///< of these cells: oldest_hash() of each; none: any
  std::optional<AcceptanceRecord> accepted = {};

  /// Eight hexadecimal digits of what it is and since when.
  std::string id() const;
  /// Of the same kind, setting, tolerance and start, whenever it began and whatever it is worse than.
  bool same_thing(const Alarm& other) const;
  /// And against nights, or the same pinned run.
  bool same_subject(const Alarm& other) const;
  /// More than an alarm of the same subject says, but for noise: another cell or family, slower for another reason or
  /// by more. Nobody accepted that.
  bool worse_than(const Alarm& other) const;
  /// It is of cells, not of a whole setting.
  bool of_cells() const;
  /// Nothing of it is left.
  bool empty() const;
  /// Adds what an alarm of the same subject says beyond it.
  void add(const Alarm& other);
};

nlohmann::json to_json(const Alarm& alarm);
/// nullopt for what to_json did not write.
std::optional<Alarm> alarm_of_json(const nlohmann::json& json);

/// The alarms that somebody accepted, with who and why; those of an older Conebench are not told.
std::vector<Alarm> accepted_alarms(const std::vector<AcceptanceRecord>& acceptances);

/// The one of `alarms` that tells of what was `found` against a run that began at `base_utc` (empty: over many nights):
/// the same thing, no worse but for noise, and the run is from before the alarm, or the pinned one that it is about.
/// Over many nights an accepted one tells only of what began before it was accepted. Null: none.
const Alarm* told_by(const std::vector<Alarm>& alarms, const Alarm& found, const std::string& base_utc);

struct FollowedAlarms {
  std::vector<Alarm> standing;  ///< tonight's own first, then those that stand since nothing clears them
  std::size_t seen = 0;         ///< of `standing`: tonight's own
  std::vector<Alarm> accepted;  ///< somebody accepted them; of follow_alarms() those that tonight shows
  std::vector<Alarm> gone;
};
/// What becomes of alarms: what tonight `found` and nobody accepted is the alarm of the night before where that had it,
/// and since then. Of the others an accepted one is over. `rest` of an alarm is what tonight does not show to be gone:
/// it stands.
FollowedAlarms follow_alarms(std::vector<Alarm> found, const std::vector<Alarm>& before,
                             const std::function<std::optional<Alarm>(const Alarm&)>& rest);

/// Begin of the earliest night that raised one against the nights before it that nobody accepted; empty: there is none.
std::string alarmed_since(const std::vector<Alarm>& alarms);

}  // namespace conebench
