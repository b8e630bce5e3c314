#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "metrics/change/setting_times.hpp"
#include "reports/junit.hpp"
#include "store/alarms.hpp"
#include "store/build_difference.hpp"
#include "store/records.hpp"

/// Two runs of one suite, cell by cell: what was lost and won, whose work changed, who became slower. Pure functions of
/// stored records; docs/compare.md says how each is decided.
namespace conebench::reports {

/// What a cell was asked for; equal ones are compared.
struct Request {
  double tolerance = 0.0;
  std::string criterion, verdict, start;
  std::int64_t max_iterations = 0;
  double limit_s = 0.0;
  std::int64_t limit_mb = 0;
  auto operator<=>(const Request&) const = default;
};

/// What a comparison needs of a CellRecord.
struct ComparedCell {
  std::string key;                         ///< CellRecord::key
  std::uint32_t problem = 0, setting = 0;  ///< into Side::problems, Side::settings
  std::uint32_t request = 0;               ///< into Side::requests
  std::int64_t run = 0;                    ///< RunRecord::id
  CellStatus status = CellStatus::unknown;
  std::string reason;
  bool solved = false;
  std::optional<double> verdict_value;
  int verdict_version = 0;  ///< CellRecord::verdict_version
  std::int64_t iterations = 0, factorizations = 0, products = 0;
  std::optional<std::uint32_t> answer_crc;
  double minimum_s = 0.0, median_s = 0.0;
  std::int64_t peak_memory_kb = 0;
  std::vector<std::string> doubts;   ///< CellRecord::doubts
  std::vector<double> replicates_s;  ///< minima of the replicates of a side-by-side run by round; NaN: ran out of time
};

/// One of the two: a store, or a part of one.
struct Side {
  std::string name;  ///< the store's path, or what the caller calls it
  std::vector<RunRecord> runs;
  std::vector<ProblemRecord> problems;
  std::vector<SettingRecord> settings;
  std::vector<Request> requests;
  std::vector<ComparedCell> cells;
  double loaded_share = 0.0;  ///< of the solved cells of 5 ms or more: those with median/minimum > 1.1
  bool loaded = false;
  std::vector<Alarm> accepted;  ///< by somebody, in it or a night before it
};
/// The cells of `contents` whose run `keep` takes (nullptr: all), with the runs, problems and settings they name.
Side make_side(std::string name, const StoreContents& contents,
               const std::function<bool(const RunRecord&)>& keep = nullptr);

struct NamedRuns {
  std::string name;
  std::function<bool(const RunRecord&)> has;
};
/// Two builds of one store; `contents` as read, before present_contents(). Cells that the later build took over
/// unmeasured are on neither side.
std::pair<Side, Side> split_builds(StoreContents contents, const NamedRuns& base, const NamedRuns& fresh);
/// The sides of a side-by-side run; `contents` after present_contents().
std::pair<Side, Side> split_side_by_side(const std::string& name, const StoreContents& contents);

/// What became of a cell.
enum class CellChange {
  same_work,     ///< both solved it, same counts and answer
  other_bits,    ///< both solved it, same counts, another answer
  other_work,    ///< both solved it, other counts
  same_failure,  ///< nobody solved it, same status and counts
  other_failure,
  won,
  lost,
  broke,      ///< crashed, out of memory or its problem unreadable, and was not
  hit_limit,  ///< a clock or memory limit ended it on one side, and the other was near it
  flaky,      ///< on one side
  missing,    ///< the base alone has it
  added,      ///< the new one alone
};
inline constexpr std::size_t cell_changes = 12;
const char* to_string(CellChange change);
/// Both solved it with the same counts: its times are compared.
inline bool is_timed(CellChange change) { return change == CellChange::same_work || change == CellChange::other_bits; }

/// A cell of either or both, by its place in the sides' lists.
struct CellPair {
  std::optional<std::size_t> base, fresh;
  std::size_t problem = 0, setting = 0, slice = 0;  ///< into the Comparison's lists
  CellChange change = CellChange::same_work;
};

/// Counts of a family's cells: `effect` as WorkChange::effect; `none`: too few cells.
struct FamilyWork {
  std::string family;
  JudgedEffect judged;
};

/// Counts compared over the cells that both solved and λ = 0 does not: log ratios of their geometric means, new over
/// base.
struct WorkChange {
  long cells = 0;    ///< compared
  long changed = 0;  ///< cells with other work
  long trivial = 0;  ///< of those: λ = 0 solves them
  double iterations = 0.0, factorizations = 0.0, products = 0.0;
  double time = 0.0;               ///< of the changed cells: mean log ratio of the minima
  double time_over_setting = 0.0;  ///< what they add to the mean log ratio of all cells, the machine's part taken off
  double spread = 0.0;             ///< the same of their absolute values
  std::vector<FamilyWork> families = {};
  double time_per_product = 0.0;  ///< `time` less their log ratio of products; 0 where products are not counted
  double effect = 0.0;            ///< of the count that changed most; time_over_setting where that alone decided
  ChangeState verdict = ChangeState::same;
};

enum class Assessment { worse, undecided, same, better, added };
const char* to_string(Assessment assessment);

struct SettingChange {
  std::size_t setting = 0, slice = 0;
  std::array<long, cell_changes> counts{};
  long solved = 0;               ///< cells that either side solved, of those that both have
  long unclear_losses = 0;       ///< of those: the base alone did, and a limit or a flaky run hides why
  long flaky_before = 0;         ///< cells that were flaky in the base
  long newly_flaky = 0;          ///< that the base solved and did not find flaky
  bool became_flaky = false;     ///< too many for a setting that had none to be chance
  long missed = 0;               ///< of the missing cells: those that the base could try
  long missed_with_problem = 0;  ///< of those: the whole problem is gone, which is told once for all settings
  long doubtful = 0;             ///< cells that both have and whose time is doubtful on a side
  WorkChange work;
  SettingTimes times;
  std::optional<double> accuracy;  ///< median log10 ratio of the verdict's values where the answers differ
  long accuracy_known = 0;         ///< cells that both solved and whose verdict's values are known
  bool less_accurate = false;
  Assessment assessment = Assessment::undecided;
  std::vector<std::string> reasons;  ///< of the assessment, worst first
  /// Gate word → how many cells, or 1 of the setting itself; not what is missing with its problem.
  std::map<std::string, long> alarms;
  std::set<std::string> accepted = {};  ///< of these those that fail nothing, since somebody accepted them
  bool failed = false;                  ///< one of CompareOptions::fail_on
  long count(CellChange change) const { return counts[static_cast<std::size_t>(change)]; }
  /// Cells that both sides have.
  long compared() const {
    return std::accumulate(counts.begin(), counts.end(), 0L) - count(CellChange::missing) - count(CellChange::added);
  }
};

struct FamilyChange {
  FamilyTimes times;
  std::string family;
  std::size_t setting = 0, slice = 0;
};

struct ComparedSetting {
  std::string solver, label;
  std::vector<std::string> changed_options = {};  ///< SettingRecord::changed_options
  std::string new_hash = {};                      ///< SettingRecord::hash of the new side; empty: it lacks it
  int base_version = 0, new_version = 0;          ///< 0: that side lacks it
  std::string options_changed = {};               ///< options that one side lacks, or whose defaults differ
  bool in_base = false, in_new = false;
  std::string note = {};                ///< why the new side lacks it, where that is known
  std::string origin = {}, looks = {};  ///< of its SettingRecord, of the new side where that knows them
};

struct ComparedProblem {
  std::string name, family, source;
  bool in_base = false, in_new = false;
  std::string note;         ///< "could not be loaded: …", "the file holds other data"
  bool other_data = false;  ///< the two sides read different data from this source
};

struct TimeSlice {
  Request request;
  long cells = 0;        ///< pairs
  TimeComparison times;  ///< its settings are by the index in Comparison::settings
  std::vector<SettingChange> settings;
  std::vector<FamilyChange> families;  ///< alarms and near ones, largest first
};

struct CompareOptions {
  TimeRules rules;
  std::optional<double> min_change = {};  ///< in place of `rules`' and side by side of its own minimum effect
  bool force = false;                     ///< compare times of other machines, builds or limits, labelled
  std::set<std::string> fail_on = {"lost", "slower", "less-accurate", "missing", "broke"};
  /// Judges times otherwise than as of two stores; empty: side_by_side_times() where the sides were run in turn.
  std::function<TimeComparison(const Side&, const Side&, const std::vector<CellPair>&, std::size_t settings)> timing;
};

struct Comparison {
  Side base, fresh;
  std::vector<ComparedProblem> problems;
  std::vector<ComparedSetting> settings;
  std::vector<TimeSlice> slices;  ///< loosest tolerance first
  std::vector<CellPair> pairs;    ///< all, slice by slice
  std::vector<CodeChange> code_changes;
  std::vector<std::string> differences;  ///< of machine, build, code, limits and data: a line each
  bool times_compared = true;
  std::string times_refused;  ///< why not
  long compared = 0;          ///< cells that both have
  long repeated = 0;          ///< cells that a side has twice, of several builds: their newest are compared
  std::vector<std::string> notes;
  std::vector<Alarm> accepted;         ///< of Side::accepted what the new side shows
  std::map<std::string, long> alarms;  ///< gate word → how many cells, or settings of a slice
  bool failed = false;                 ///< one of CompareOptions::fail_on
  bool accepted_missing = false;       ///< that whole problems are gone fails nothing
  double minimum_effect = 0.02;
};

/// Words for CompareOptions::fail_on.
const std::vector<std::string>& gate_words();
/// "lost,slower" → the words. Errors (wrong_usage): an unknown one, with the nearest.
Result<std::set<std::string>> parse_gate(const std::string& comma_separated);

/// Whether the new side lacks something by not having this cell: one that nobody could solve is not missed.
bool is_missed(const ComparedCell& base);
/// A missed cell whose whole problem is gone: told once for all settings.
bool missed_with_problem(const Comparison& comparison, const CellPair& pair);

/// Sums the settings' alarms, and what is missing with its problem, and says what fails the gate.
void count_alarms(Comparison& comparison, const std::set<std::string>& fail_on);

Comparison compare(Side base, Side fresh, const CompareOptions& options);

/// Whether these are the two sides of a side-by-side run.
bool ran_side_by_side(const Side& base, const Side& fresh);
/// The least change that counts there: δ.
double side_by_side_effect(const Side& base, const Side& fresh);
/// Their times by metrics/change/side_by_side.hpp, with δ = `minimum_effect`.
TimeComparison side_by_side_times(const Side& base, const Side& fresh, const std::vector<CellPair>& pairs,
                                  std::size_t settings, double minimum_effect);

struct Calibration {
  double night_deviation = 0.0, inflation = 0.0;
  long comparisons = 0, settings = 0;
};
/// σ and T/u of this machine, from stores of one build and suite: all their pairs. Errors (bad_input): fewer than six,
/// other builds or machines, fewer than ten cells a setting.
Result<Calibration> calibrate(const std::vector<Side>& sides);

/// Lines of at most `width` columns, where no single word is longer.
std::string comparison_terminal(const Comparison& comparison, bool colour, std::size_t width = 100);
/// "worse: 2 cells lost, 1 setting slower (490 cells compared)".
std::string headline(const Comparison& comparison);
/// At most 65,536 characters; its heading is the title and the headline.
std::string comparison_markdown(const Comparison& comparison, const std::string& title = "Conebench");
std::string comparison_json(const Comparison& comparison);
/// A suite of all settings together, then one a slice with a case a setting: those fail that fail the gate.
std::vector<JunitSuite> comparison_tests(const Comparison& comparison);
std::string comparison_junit(const Comparison& comparison);
std::string comparison_page(const Comparison& comparison);

}  // namespace conebench::reports
