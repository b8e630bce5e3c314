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
  std::string kind;           ///< as of --fail-on: "slower", "lost", …
  std::string configuration;  ///< its label; empty: whole problems are missing
  double tolerance = 0.0;
  std::string stop_by, verdict, start;
  ChangeSource source = ChangeSource::two_stores;
  std::string since;      ///< name of the store of the night that saw it first
  std::string since_utc;  ///< when that night began
  /// Start of the pinned run that it is an alarm against; empty: it is an alarm against an earlier night.
  std::string pinned_utc = {};
  double effect = 0.0;                           ///< log ratio of the configuration's times; 0: they were not compared
  bool by_time = false;                          ///< slower by time
  double work = 0.0;                             ///< log ratio of the configuration's work
  bool by_work = false;                          ///< slower by work
  std::map<std::string, double> families = {};   ///< slower by their times: log ratio of each
  std::map<std::string, double> more_work = {};  ///< families with more work: log ratio of each
  double digits = 0.0;                           ///< less-accurate: decimal digits that the median cell lost
  long cells = 0;                                ///< lost, broke, missing, …: number of cells
  std::set<std::string> problems = {};           ///< oldest_hash() of these cells' problems; empty: any
  std::optional<AcceptanceRecord> accepted = {};

  /// All fields except the source, the pinned run and the acceptance.
  static void fields(auto& visit, auto& alarm) {
    visit({"suite"}, alarm.suite);
    visit({"kind"}, alarm.kind);
    visit({"configuration"}, alarm.configuration);
    visit({"tolerance"}, alarm.tolerance);
    visit({"stop_by"}, alarm.stop_by);
    visit({"verdict"}, alarm.verdict);
    visit({"start"}, alarm.start);
    visit({"since"}, alarm.since);
    visit({"since_utc"}, alarm.since_utc);
    visit({"effect"}, alarm.effect);
    visit({"by_time"}, alarm.by_time);
    visit({"cells"}, alarm.cells);
    visit({"work"}, alarm.work);
    visit({"by_work"}, alarm.by_work);
    visit({"families"}, alarm.families);
    visit({"more_work"}, alarm.more_work);
    visit({"digits"}, alarm.digits);
    visit({"problems"}, alarm.problems);
  }

  /// Eight hexadecimal digits: a hash of subject and start.
  std::string id() const;
  /// Whether kind, configuration, tolerance and start are equal. Its beginning and its baseline don't matter.
  bool same_thing(const Alarm& other) const;
  /// The same, and both are against nights, or against the same pinned run.
  bool same_subject(const Alarm& other) const;
  /// Whether this alarm is worse, beyond noise, than `other` of the same subject: another cell or family, or slower for
  /// another reason or by more. An acceptance of `other` does not cover that.
  bool worse_than(const Alarm& other) const;
  /// Whether it is about cells, not about a whole configuration.
  bool of_cells() const;
  /// Whether nothing of it is left.
  bool empty() const;
  /// Adds the findings of another alarm of the same subject.
  void add(const Alarm& other);
};

nlohmann::json to_json(const Alarm& alarm);
/// nullopt: to_json did not write it.
std::optional<Alarm> alarm_of_json(const nlohmann::json& json);

/// The accepted alarms, with who accepted them and why. Those of an older Conebench are left out.
std::vector<Alarm> accepted_alarms(const std::vector<AcceptanceRecord>& acceptances);

/// The alarm in `alarms` that covers `found`, a finding against a run that began at `baseline_utc` (empty: over many
/// nights). It has the same subject, `found` is no worse beyond noise, and the run is older than the alarm or is its
/// pinned run. Over many nights an accepted alarm covers only changes before its acceptance. Null: none.
const Alarm* reported_by(const std::vector<Alarm>& alarms, const Alarm& found, const std::string& baseline_utc);

struct FollowedAlarms {
  std::vector<Alarm> standing;  ///< tonight's own first, then older ones that nothing has cleared
  std::size_t seen = 0;         ///< number of tonight's own in `standing`
  std::vector<Alarm> accepted;  ///< accepted alarms; from follow_alarms(): those that tonight shows
  std::vector<Alarm> gone;
};
/// Updates the alarms of earlier nights. A finding of tonight that is not accepted continues the earlier alarm of the
/// same subject, with its beginning; otherwise it is a new alarm. An accepted alarm that tonight does not show is over.
/// Of the others `rest` returns the part that tonight does not show to be gone; that part stands.
FollowedAlarms follow_alarms(std::vector<Alarm> found, const std::vector<Alarm>& before,
                             const std::function<std::optional<Alarm>(const Alarm&)>& rest);

/// Start of the earliest night with an alarm against earlier nights that is not accepted; empty: none.
std::string alarmed_since(const std::vector<Alarm>& alarms);

}  // namespace conebench
