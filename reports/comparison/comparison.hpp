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
#include "metrics/change/configuration_times.hpp"
#include "reports/junit.hpp"
#include "store/alarms.hpp"
#include "store/build_difference.hpp"
#include "store/records.hpp"

/// Two runs of one suite, cell by cell: lost and won cells, changed work, slower configurations. Pure functions of
/// stored records. docs/compare.md has the rules.
namespace conebench::reports {

/// The request of a cell. Cells with equal requests are compared.
struct Request {
  double tolerance = 0.0;
  std::string stop_by, verdict, start;
  std::int64_t max_iterations = 0;
  double limit_s = 0.0;
  std::int64_t limit_mb = 0;
  auto operator<=>(const Request&) const = default;
};

/// The fields of a CellRecord that a comparison needs.
struct ComparedCell {
  std::string key;                               ///< CellRecord::key
  std::uint32_t problem = 0, configuration = 0;  ///< into Side::problems, Side::configurations
  std::uint32_t request = 0;                     ///< into Side::requests
  std::int64_t run = 0;                          ///< RunRecord::id
  CellStatus status = CellStatus::unknown;
  std::string reason;
  bool solved = false;
  std::optional<double> verdict_value;
  int verdict_version = 0;  ///< CellRecord::verdict_version
  std::int64_t iterations = 0, factorizations = 0, products = 0;
  std::optional<std::uint32_t> answer_crc;
  double minimum_s = 0.0, median_s = 0.0;
  std::int64_t peak_memory_kb = 0;
  std::vector<std::string> doubts;  ///< CellRecord::doubts
  std::vector<double> rounds_s;     ///< of an A/B run: minimum of each round [s]; NaN: it ran out of time
};

/// One side of a comparison: a store, or a part of one.
struct Side {
  std::string name;  ///< the store's path, or a name given by the caller
  std::vector<RunRecord> runs;
  std::vector<ProblemRecord> problems;
  std::vector<ConfigurationRecord> configurations;
  std::vector<Request> requests;
  std::vector<ComparedCell> cells;
  double loaded_share = 0.0;  ///< share of the solved cells of 5 ms or more with median/minimum > 1.1
  bool loaded = false;
  std::vector<Alarm> accepted;  ///< accepted alarms of this night or an earlier one
};
/// The cells of `contents` whose run `keep` takes (nullptr: all), with the runs, problems and configurations they name.
Side make_side(std::string name, const StoreContents& contents,
               const std::function<bool(const RunRecord&)>& keep = nullptr);

struct NamedRuns {
  std::string name;
  std::function<bool(const RunRecord&)> has;
};
/// The sides of two builds in one store; `contents` before present_contents(). Cells that the later build took over
/// without measuring them are on neither side.
std::pair<Side, Side> split_builds(StoreContents contents, const NamedRuns& baseline, const NamedRuns& candidate);
/// The sides of an A/B run; `contents` after present_contents().
std::pair<Side, Side> split_side_by_side(const std::string& name, const StoreContents& contents);

/// Change of a cell.
enum class CellChange {
  same_work,     ///< both sides solved it, with the same counts and answer
  other_bits,    ///< both solved it, with the same counts and another answer
  other_work,    ///< both solved it, with other counts
  same_failure,  ///< neither solved it, with the same status and counts
  other_failure,
  won,
  lost,
  broke,      ///< crashed, out of memory or its problem unreadable, but not in the baseline
  hit_limit,  ///< a clock or memory limit ended it on one side, and the other was near it
  flaky,      ///< flaky on one side
  missing,    ///< only the baseline has it
  added,      ///< only the candidate has it
};
inline constexpr std::size_t cell_changes = 12;
const char* to_string(CellChange change);
/// Whether its times are compared: both sides solved it with the same counts.
inline bool is_timed(CellChange change) { return change == CellChange::same_work || change == CellChange::other_bits; }

/// A cell of one side or of both, by its index in Side::cells.
struct CellPair {
  std::optional<std::size_t> baseline, candidate;
  std::size_t problem = 0, configuration = 0, slice = 0;  ///< into the Comparison's lists
  CellChange change = CellChange::same_work;
};

/// Change of a family's work; its effect is like WorkChange::effect. `none`: too few cells.
struct FamilyWork {
  std::string family;
  JudgedEffect judged;
};

/// Change of the counts over the cells that both sides solved and λ = 0 does not solve: log ratios of geometric means,
/// candidate over baseline.
struct WorkChange {
  long cells = 0;    ///< compared
  long changed = 0;  ///< cells with other work
  long trivial = 0;  ///< of those: λ = 0 solves them
  double iterations = 0.0, factorizations = 0.0, products = 0.0;
  double time = 0.0;                     ///< of the changed cells: mean log ratio of the minima
  double time_over_configuration = 0.0;  ///< their share of the mean log ratio of all cells, less the machine's part
  double spread = 0.0;                   ///< the same with absolute values
  std::vector<FamilyWork> families = {};
  double time_per_product = 0.0;  ///< `time` less the log ratio of products; 0: products are not counted
  double effect = 0.0;            ///< of the count that changed most, or time_over_configuration if that decided
  ChangeState verdict = ChangeState::same;
};

enum class Assessment { worse, undecided, same, better, added };
const char* to_string(Assessment assessment);

struct ConfigurationChange {
  std::size_t configuration = 0, slice = 0;
  std::array<long, cell_changes> counts{};
  long solved = 0;               ///< cells of both sides that at least one side solved
  long unclear_losses = 0;       ///< of `solved`: only the baseline did, and a limit or a flaky run hides the reason
  long flaky_before = 0;         ///< cells that were flaky in the baseline
  long newly_flaky = 0;          ///< flaky cells that were solved and not flaky in the baseline
  bool became_flaky = false;     ///< newly flaky cells are too many for chance, and the baseline had none
  long missed = 0;               ///< missing cells that the baseline could run
  long missed_with_problem = 0;  ///< of `missed`: the whole problem is gone; reported once for all configurations
  long doubtful = 0;             ///< cells of both sides whose time is doubtful on one
  WorkChange work;
  ConfigurationTimes times;
  std::optional<double> accuracy;  ///< median log10 ratio of the verdict's values where the answers differ
  long accuracy_known = 0;         ///< cells that both solved and whose verdict's values are known
  bool less_accurate = false;
  Assessment assessment = Assessment::undecided;
  std::vector<std::string> reasons;  ///< of the assessment, worst first
  /// Kind of alarm → number of cells, or 1 for the configuration itself; without cells missing with their problem.
  std::map<std::string, long> alarms;
  std::set<std::string> accepted = {};  ///< kinds in `alarms` that were accepted and do not fail the gate
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
  std::size_t configuration = 0, slice = 0;
};

struct ComparedConfiguration {
  std::string solver, label;
  std::vector<std::string> changed_options = {};  ///< ConfigurationRecord::changed_options
  std::string candidate_hash = {};                ///< ConfigurationRecord::hash in the candidate; empty: missing there
  int baseline_version = 0, candidate_version = 0;  ///< 0: missing on that side
  std::string options_changed = {};                 ///< options that one side lacks, or whose defaults differ
  bool in_baseline = false, in_candidate = false;
  std::string note = {};                 ///< why the candidate lacks it, if known
  std::string origin = {}, checks = {};  ///< of ConfigurationRecord; of the candidate if known there
};

struct ComparedProblem {
  std::string name, family, source;
  bool in_baseline = false, in_candidate = false;
  std::string note;         ///< "could not be loaded: …", "the file holds other data"
  bool other_data = false;  ///< the two sides read different data from this source
};

struct TimeSlice {
  Request request;
  long cells = 0;        ///< pairs
  TimeComparison times;  ///< indexed like Comparison::configurations
  std::vector<ConfigurationChange> configurations;
  std::vector<FamilyChange> families;  ///< alarms and near alarms, largest first
};

struct CompareOptions {
  TimeRules rules;
  std::optional<double> min_change = {};  ///< replaces the minimum effect of `rules`, or that of an A/B run
  bool force = false;                     ///< compare times across machines, builds or limits, with a warning
  std::set<std::string> fail_on = {"lost", "slower", "less-accurate", "missing", "broke"};
  /// Replaces the judgement of times. Empty: side_by_side_times() for A/B runs, else compare_times().
  std::function<TimeComparison(const Side&, const Side&, const std::vector<CellPair>&, std::size_t configurations)>
      timing;
};

struct Comparison {
  Side baseline, candidate;
  std::vector<ComparedProblem> problems;
  std::vector<ComparedConfiguration> configurations;
  std::vector<TimeSlice> slices;  ///< loosest tolerance first
  std::vector<CellPair> pairs;    ///< all, slice by slice
  std::vector<CodeChange> code_changes;
  std::vector<std::string> differences;  ///< of machine, build, code, limits and data; one line each
  bool times_compared = true;
  std::string times_refused;  ///< why not
  bool quick = false;         ///< a side ran each cell once (--quick): verdicts and counts are all there is
  long compared = 0;          ///< cells of both sides
  long repeated = 0;          ///< cells that one side has from several builds; the newest are compared
  std::vector<std::string> notes;
  std::vector<Alarm> accepted;         ///< those of Side::accepted that the candidate shows
  std::map<std::string, long> alarms;  ///< kind → number of cells, or of configurations in slices
  bool failed = false;                 ///< one of CompareOptions::fail_on
  bool accepted_missing = false;       ///< missing whole problems do not fail the gate
  double minimum_effect = 0.02;
};

/// "lost,slower" → CompareOptions::fail_on. Errors (wrong_usage): an unknown word, with the nearest.
Result<std::set<std::string>> parse_gate(const std::string& comma_separated);

/// Whether the cell is missed if the candidate does not have it. A cell that could not be run is not.
bool is_missed(const ComparedCell& baseline);
/// Whether a missed cell's whole problem is gone, which is reported once for all configurations.
bool missed_with_problem(const Comparison& comparison, const CellPair& pair);

/// Sums the configurations' alarms and the cells missing with their problem, and sets what fails the gate.
void count_alarms(Comparison& comparison, const std::set<std::string>& fail_on);

Comparison compare(Side baseline, Side candidate, const CompareOptions& options);

/// Whether these are the two sides of an A/B run.
bool ran_side_by_side(const Side& baseline, const Side& candidate);
/// The minimum effect δ of an A/B run.
double side_by_side_effect(const Side& baseline, const Side& candidate);
/// Judges the times of an A/B run (metrics/change/side_by_side.hpp) with δ = `minimum_effect`.
TimeComparison side_by_side_times(const Side& baseline, const Side& candidate, const std::vector<CellPair>& pairs,
                                  std::size_t configurations, double minimum_effect);

struct Calibration {
  double night_deviation = 0.0, inflation = 0.0;
  long comparisons = 0, configurations = 0;
};
/// σ and T/u of this machine, from stores of one build and suite: all their pairs. Errors (bad_input): fewer than six,
/// other builds or machines, fewer than ten cells a configuration.
Result<Calibration> calibrate(const std::vector<Side>& sides);

/// Lines of at most `width` columns, where no single word is longer.
std::string comparison_terminal(const Comparison& comparison, bool colour, std::size_t width = 100);
/// "worse: 2 cells lost, 1 configuration slower (490 cells compared)".
std::string headline(const Comparison& comparison);
/// Bytes that a comment on GitHub or GitLab may have.
inline constexpr std::size_t max_comment = 65536;
/// At most `max_size` bytes, with fewer rows where it would be longer; its heading is the title and the headline.
std::string comparison_markdown(const Comparison& comparison, const std::string& title = "Conebench",
                                std::size_t max_size = max_comment);
std::string comparison_json(const Comparison& comparison);
/// One suite of all configurations together, then one for each slice with a case for each configuration. A case fails
/// if it fails the gate.
std::vector<JunitSuite> comparison_tests(const Comparison& comparison);
std::string comparison_junit(const Comparison& comparison);
std::string comparison_page(const Comparison& comparison);

}  // namespace conebench::reports
