#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/view.hpp"
#include "store/records.hpp"

/// From records to the plain tables that every format prints. Computed once; formats only lay out.
///
/// Vocabulary: a *column* is a solver with its options; a *slice* is all cells with one tolerance, stop_by, verdict
/// and start; a *scope* is a slice narrowed to one family, or to none. *Headline* problems are those that count:
/// loaded, not solved by λ = 0, not a repetition of another problem of the store, and run by every ranked column.
namespace conebench::reports {

/// `condensed_time`: the time plus the cost of making what the solver used: G, the factor of M, or neither.
enum class Cost { time, solve_time, condensed_time, iterations, factorizations, operator_products };
constexpr std::array<Cost, 6> all_costs{Cost::time,       Cost::solve_time,     Cost::condensed_time,
                                        Cost::iterations, Cost::factorizations, Cost::operator_products};

std::string id(Cost cost);     ///< "time", "solve_time", …: in files
std::string title(Cost cost);  ///< "set-up + solve time", …: for people
bool is_time(Cost cost);

/// Outcome of one cell.
enum class Outcome {
  solved,       ///< the judge accepts
  false_claim,  ///< the solver says converged, the judge does not accept
  failed,       ///< neither
  unsupported,  ///< the solver can't run on the problem, for a stated reason
  not_run,      ///< no cell yet, or skipped
};
std::string id(Outcome outcome);

struct Column {
  const ConfigurationRecord* configuration = nullptr;
  std::string label;  ///< unique in the report
};

/// Why a problem is not in a headline.
struct Exclusion {
  enum class Why {
    taken_by_none,  ///< no solver takes it; `detail`: the error
    not_loaded,     ///< `detail`: the error
    repeats,        ///< duplicate of another problem; `detail`: its name
    noise_level,
    no_solution,   ///< certified; `detail`: the bound of the verdict, as text
    zero_impulse,  ///< λ = 0 solves it
    gaps,          ///< not run by every solver
  } why;
  std::string detail = {};
  std::vector<std::size_t> slices = {};  ///< in which it holds; empty: in all
};

struct Problem {
  const ProblemRecord* record = nullptr;
  std::string name;                   ///< unique in the report
  std::vector<Exclusion> exclusions;  ///< from headlines of some slice or of all
  std::string left_out;               ///< the same, as text
  std::vector<bool> counted;          ///< by slice: whether it is a headline problem there
  bool headline = true;               ///< in any slice

  bool excluded_by(Exclusion::Why why) const {
    return std::ranges::any_of(exclusions, [why](const Exclusion& one) { return one.why == why; });
  }
};

struct Slice {
  double tolerance = 0.0;
  std::string stop_by, verdict, start;
  std::string label;  ///< "1e-6", plus what distinguishes it from other slices
  /// Indices of cells, one a (problem, column); nullptr where there is none.
  std::vector<std::vector<const CellRecord*>> grid;  ///< [problem][column]
  std::vector<bool> ranked;                          ///< by column: it has run on enough of the problems
};

struct Tally {
  long solved = 0, false_claim = 0, failed = 0, unsupported = 0, not_run = 0;
  long total() const { return solved + false_claim + failed + unsupported + not_run; }
};

/// Claim against verdict, over the cells that ran.
struct ClaimMatrix {
  long claimed_solved = 0, claimed_unsolved = 0, silent_solved = 0, silent_unsolved = 0;
};

/// Cells whose solver added R = α diag(G) to the problem (NEWTON-CCP's `r_alpha`), and their residuals with that R. The
/// outcome of a cell is that of the problem without it.
struct AddedCompliance {
  long cells = 0;
  double min_alpha = 0.0, max_alpha = 0.0;
  long verdict_solved = 0;  ///< verdict_compliant ≤ tolerance
  long ccp_solved = 0;      ///< ccp_compliant ≤ tolerance
};

/// Shifted geometric means of the time (metrics/statistics.hpp), families weighing the same.
struct GeometricMeans {
  std::optional<double> at_limit;   ///< unsolved problems count with the time limit
  std::optional<double> cold;       ///< … and solved ones with the first run
  std::optional<double> penalised;  ///< unsolved problems count with ten times the limit
  std::optional<double> common;     ///< over the scope's common subset only
};

struct RankingRow {
  std::size_t column = 0;
  Tally tally;
  double solved_share = 0.0;  ///< of all headline problems, families weighing the same
  /// The same over the problems that the solver supports and has run; nothing where there are none.
  std::optional<double> supported_share;
  ClaimMatrix claims;
  AddedCompliance added_compliance;
  long passes_relative_only = 0;  ///< natural_map_relative ≤ tolerance < natural_map_scaled
  GeometricMeans means;
  /// Geometric mean of time / (best time of the problem) over the problems that it solves, families weighing the same.
  std::optional<double> times_best;
  std::optional<double> time_mean, time_deviation;  ///< over the common subset, plain mean and sample deviation
  std::optional<double> rho_one, rho_infinity;      ///< of the performance profile over the scope's ranking cost
  std::optional<double> median_iterations, mean_factorizations, mean_products;  ///< over solved cells
  std::map<std::string, long> doubts;  ///< by code (store/time_doubts.hpp): cells of the scope with doubtful times
};

/// Ranking of one scope, best first: by solved share, then by the mean at the limit, then by label.
struct Ranking {
  std::size_t slice = 0;
  std::string family;  ///< empty: all
  long problems = 0;   ///< headline problems with at least one cell
  long families = 0;
  /// Problems that every column which solves at least half of the scope solves, and how many columns these are.
  long common_problems = 0;
  long common_columns = 0;
  Cost cost = Cost::time;            ///< of means and ρ: iterations where times are left out
  std::vector<RankingRow> rows;      ///< of the ranked columns
  std::vector<std::string> remarks;  ///< what a share hides, one sentence each
  long solved_by_any = 0;
  std::optional<double> best_of_all;  ///< mean at the limit of the best column of each problem

  const RankingRow& row(std::size_t column) const;  ///< of a ranked column
};

/// A step function: y[i] holds from x[i] up to x[i + 1].
struct Curve {
  std::size_t column = 0;
  std::vector<double> x, y;
};

struct Profile {
  std::size_t slice = 0;
  std::string family;  ///< empty: all
  Cost cost = Cost::time;
  long problems = 0;
  std::vector<Curve> performance;  ///< one a column; x: ratio τ to the best of the problem
  std::vector<Curve> data;         ///< one a column; x: cost, in seconds or counts
  std::vector<double> rho_one, rho_infinity;
};

/// Two columns only, independent of all others. Their performance profiles: PairCurves.
struct Pair {
  std::size_t slice = 0;
  Cost cost = Cost::time;
  std::size_t first = 0, second = 0;
  long first_better = 0, ties = 0, second_better = 0, neither = 0;  ///< problems
};

/// Cells of a slice with one status and reason.
struct StatusRow {
  std::size_t slice = 0, column = 0;
  CellStatus status = CellStatus::unknown;
  std::string reason;
  long cells = 0;
};

/// Summary of one problem in a slice.
struct ProblemRow {
  std::size_t slice = 0, problem = 0;
  long solved_by = 0, tried_by = 0;
  std::optional<std::size_t> fastest;  ///< column; where times are left out, the one with the fewest iterations
  std::optional<double> fastest_cost;
  std::optional<double> best_verdict;  ///< least verdict of any column, and whose
  std::optional<std::size_t> best_verdict_by;
};

/// Effect of a solver's options: its configurations in a slice against each other, over the headline problems that at
/// least one of them solves. The cost of a cell is that of rankings; unsolved, it is penalty_factor times the
/// limit. *Times best*: exp(Σ w log(cost / least cost of the problem among these configurations)), families of equal
/// weight; 1 where a configuration is the best on every problem.
struct OptionStudy {
  struct Axis {
    std::string option;
    std::vector<std::string> values;  ///< as JSON text, in order: numbers by size, others by name
    bool numeric = false;
  };
  struct Configuration {
    std::size_t column = 0;
    std::vector<std::size_t> indices;  ///< of its value, by axis
    double times_best = 1.0;
    std::array<double, 3> quartiles{};   ///< of cost / least cost over the problems, of equal weight
    std::vector<double> by_family = {};  ///< times best, in the order of `families`
    long solved = 0;
  };
  /// A family, and what happens on it to someone who has chosen the configuration on all other families.
  struct Family {
    std::string name;
    long problems = 0;
    std::size_t best = 0;               ///< index of the configuration that is the best here
    std::optional<std::size_t> chosen;  ///< index of the configuration chosen on the others; nothing: there are none
    std::optional<double> chosen_times_best;  ///< of that, here
    long chosen_lost = 0;                     ///< problems here that some configuration solves and that one does not
  };
  std::size_t slice = 0;
  std::string solver;
  Cost cost = Cost::time;
  std::vector<Axis> axes;                     ///< options in which the configurations differ, by name
  std::vector<Configuration> configurations;  ///< ranked ones, by their indices
  std::vector<Family> families;
  long problems = 0;
  long unsolved = 0;            ///< headline problems that no configuration solves: left out
  std::size_t recommended = 0;  ///< index of the configuration with the least times_best over all families
  /// What a choice by other families costs: the geometric mean of Family::chosen_times_best.
  std::optional<double> unseen_times_best;
  long unseen_lost = 0;
  /// Configurations that ran on fewer problems: a search dropped them before. Costs of all families have then chosen
  /// the others, and nothing is known of a family left out.
  long dropped = 0;

  /// "increment=0.01, rule=spectral" of a configuration.
  std::string values(std::size_t configuration) const;
  /// "chosen among the 3 configurations that ran on all problems; 6 ran on fewer"; empty where none was dropped.
  std::string chosen_among() const;
  /// "Chosen on all families but one, it takes 1.02 × the best time there …": what unseen_times_best and unseen_lost
  /// say, if they are known. `group`: what stands in the place of families.
  std::string unseen_text(const std::string& group) const;
};

/// The error that is left after a budget, over the headline problems of a scope, families weighing the same: by the
/// slice's verdict, of the last iterate of the first run that was checked by then. Before the first one, and of a cell
/// without a trace until its end, it is that of λ = 0.
struct BudgetErrors {
  struct Row {
    std::size_t column = 0;
    std::vector<std::optional<double>> median, high;  ///< by budget; high: 90 % have no more. Nothing: not finite
  };
  std::size_t slice = 0;
  std::string family;  ///< empty: all
  Cost cost = Cost::time;
  long problems = 0;
  std::vector<double> budgets;  ///< ascending
  std::vector<Row> rows;        ///< of the ranked columns that count this cost
};

struct Note {
  enum class Level { info, warning } level = Level::info;
  std::string text;
  bool of_noise = false;  ///< what disturbed the times of runs
};

struct Analysis {
  const StoreContents* contents = nullptr;  ///< must outlive the analysis
  ReportView view;
  std::string title;
  bool times_shown = true;
  bool condensation_shown = false;  ///< times, and some headline problem is given as (M, J, v_free), its costs known
  bool deformable = false;          ///< all headline problems are: then rankings are with condensation first
  double shift_s = 1e-5;            ///< of the geometric means
  double penalty_factor = 10.0;     ///< of the time limit
  std::vector<Note> notes;
  std::vector<std::string> families;  ///< of headline problems, sorted
  std::vector<Column> columns;
  std::vector<Problem> problems;
  std::vector<Slice> slices;  ///< loosest tolerance first
  /// Per slice: all families, then each; where condensation is shown two in turn, by shown_cost() and by the other
  /// time.
  std::vector<Ranking> rankings;
  std::vector<Profile> profiles;      ///< per slice, family and shown cost
  std::vector<BudgetErrors> budgets;  ///< per slice with traces, cost (time, iterations, products) and family
  std::vector<Pair> pairs;            ///< per slice and shown cost, where there are more than two columns
  std::vector<StatusRow> statuses;
  std::vector<ProblemRow> problem_rows;
  std::vector<OptionStudy>
      option_studies;                    ///< per slice and solver of which two configurations or more solve something
  std::vector<std::string> residuals;    ///< all that some cell has, in the judge's order, unknown ones last
  std::map<std::string, long> left_out;  ///< reason → problems left out of all slices, or of some

  /// By shown_cost().
  const Ranking& ranking(std::size_t slice, const std::string& family = {}) const;
  /// All of the scope, that by shown_cost() first.
  std::vector<const Ranking*> rankings_of(std::size_t slice, const std::string& family = {}) const;
};

Outcome outcome(const CellRecord* cell);
/// Whether the solver claims its answer. A flaky cell's runs contradict each other, so it claims nothing.
bool claims(const CellRecord& cell);
/// The cost of a solved cell; counts of zero count as one so that ratios exist. Nothing for an unsolved or missing
/// cell.
std::optional<double> cost(const CellRecord* cell, Cost kind);
/// The same of the first run. `kind`: time or condensed_time.
std::optional<double> cold_cost(const CellRecord* cell, Cost kind);
/// The cost that rankings use: time (of deformable problems with condensation), or iterations where times are left out.
Cost shown_cost(const Analysis& analysis);

/// What a traced cell had spent at a point: seconds, iterations, or its products in proportion to its iterations.
double spent_at(const CellRecord& cell, const TracePoint& point, Cost kind);
/// The verdict's residual there; of a solver that measures the verdict itself, its own.
double error_at(const TracePoint& point);
/// All with a trace: those that are not solved first, then the slowest.
std::vector<const CellRecord*> traced_cells(const Analysis& analysis);

/// Nothing where the solver's ranked configurations in the slice do not differ in options, or solve nothing. `cost`: a
/// time or iterations, whose limits say what an unsolved cell counts.
std::optional<OptionStudy> study_options(const Analysis& analysis, std::size_t slice, const std::string& solver,
                                         Cost cost);

Analysis analyse(const StoreContents& contents, bool force_time_profiles, const std::string& title = {});

}  // namespace conebench::reports
