#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "problems/used_parts.hpp"
#include "store/cell_status.hpp"
#include "store/noise.hpp"
#include "store/residual_list.hpp"

namespace conebench {

/// ProblemRecord::given of what rankings with condensation are for.
inline constexpr const char* given_as_deformable = "deformable";

/// Plain data of a store, as reports see it. Times in seconds, sizes in bytes unless a name says otherwise; a missing
/// number is nullopt (null in JSON), never a sentinel.

struct MachineRecord {
  std::string host;
  std::string cpu;
  int cores = 0;
  std::int64_t memory_mb = 0;
  std::string kernel;
  std::string governor;  ///< "unknown" where the system does not say
};

struct BuildRecord {
  std::string version;  ///< Conebench's
  std::string commit;   ///< with "-dirty" where the tree was not clean; "unknown" outside git
  std::string compiler;
  std::string flags;
  std::string build_type;
  bool native = false;                           ///< built with -march=native
  std::map<std::string, std::string> libraries;  ///< name → version
  std::string executable;                        ///< hash of the program file's bytes; empty: of an older Conebench
};

struct RunRecord {
  std::int64_t id = 0;
  std::string suite_name;
  std::string suite_text;                        ///< the suite file, verbatim
  std::string suite_folder;                      ///< absolute; where its relative paths start from last
  std::string data_folder;                       ///< absolute; --data or CONEBENCH_DATA, else empty
  std::map<std::string, std::string> data_sets;  ///< named sets that its problems are of → their version
  std::string scope_json;                        ///< what the suite asked for then (suite_scope.hpp); empty: not known
  std::uint64_t seed = 0;
  std::string started_utc;
  std::string finished_utc;  ///< empty while it runs or where it was interrupted
  std::string mode;          ///< "timed" (one worker) or "throughput"
  int jobs = 1;
  MachineRecord machine;
  BuildRecord build;
  double load_before = 0.0;  ///< 1-minute load average
  double load_after = 0.0;
  double steal_share = 0.0;        ///< of CPU time while the run lasted
  std::vector<NoiseRecord> noise;  ///< why times of this run are doubtful; empty when quiet
  std::string side;                ///< of a side-by-side run: "base" or "new"; else empty
};

/// The verdict that a certificate's bound is of.
inline constexpr const char* bounded_verdict = "natural_map_scaled";

/// Whether a certificate says that no λ has a `verdict` of at most `value`. Of other residuals than bounded_verdict,
/// and where its bound is not known, it says so of every value.
inline bool excludes(const std::optional<double>& verdict_bound, const std::string& verdict, double value) {
  return !verdict_bound || verdict != bounded_verdict || *verdict_bound > value;
}

/// What is known of whether a problem has a solution (metrics/feasibility.hpp).
struct FeasibilityRecord {
  /// "infeasible": the judged certificate excludes every solution; "refuted": the same, but a judged answer is better
  /// than its bound; "not_excluded": none was found; "undecided": the search did not end; empty: none was looked for.
  std::string state;
  std::optional<double> margin;              ///< gᵀz/‖z‖₁ of the certificate z [m/s], below 0
  std::optional<std::int64_t> worst_block;   ///< block with the most negative part of gᵀz
  std::vector<double> certificate;           ///< z, rows; empty: none, or of an older Conebench
  std::optional<double> verdict_bound = {};  ///< no λ has a natural_map_scaled below it; nullopt: of an older Conebench
  /// Verdicts that the bound is not of, by which a cell is solved: there the problem counts. Not stored.
  std::set<std::string> solved_by = {};

  bool excludes(const std::string& verdict, double value) const {
    return !solved_by.contains(verdict) && conebench::excludes(verdict_bound, verdict, value);
  }
};

struct ProblemRecord {
  std::string hash;  ///< ContactProblem::data_hash
  std::string name;
  std::string family;
  std::string source;  ///< path as the suite names it, or scene and parameters
  std::string kind;    ///< local, global, mixed_local, mixed_global, or generated
  int space_dimension = 3;
  std::int64_t contacts = 0;
  std::int64_t joints = 0;
  std::int64_t limits = 0;
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  double mu_min = 0.0;
  double mu_max = 0.0;
  double symmetry_error = 0.0;
  std::optional<std::int64_t> rank;
  std::optional<double> conditioning;  ///< on the range
  bool features_estimated = false;
  std::string category;                        ///< 004 VII-C, "unknown" without body data
  std::map<std::string, double> zero_impulse;  ///< residual name → its value at λ = 0, where it is finite
  std::string duplicate_of;                    ///< hash of the problem it repeats in another form, else empty
  std::vector<std::string> copies;             ///< further sources of the very same data, left out of the sweep
  std::string error;                           ///< why it could not be loaded ("bad_problem" cells), else empty
  /// As what it is given: "delassus" (G), "primal" (M, J, v_free alone), "deformable" (the same, and M does not fall
  /// apart in small blocks); empty: not known.
  std::string given;
  /// The hash under which builds that assembled G of every problem knew it; empty: the same, or they could not.
  std::string alias;
  /// What it takes to make what is not given: to factor M, to assemble G, to find G's diagonal blocks without G.
  std::optional<double> factor_s, assemble_s, diagonal_s;
  FeasibilityRecord feasibility;
  std::optional<double> noise_ratio;  ///< size of g over the rounding of the terms that made it; up to 1: noise-level

  /// A certificate stands. Whether it leaves the problem out depends on the tolerance: infeasible_at().
  bool infeasible() const { return feasibility.state == "infeasible"; }
  bool infeasible_at(const std::string& verdict, double tolerance) const {
    return infeasible() && feasibility.excludes(verdict, tolerance);
  }
  bool noise_level() const { return noise_ratio && *noise_ratio <= 1.0; }
  /// Whether solving it says anything of a solver; if not, it is out of every share.
  bool counts(const std::string& verdict, double tolerance) const {
    return !infeasible_at(verdict, tolerance) && !noise_level();
  }
};

/// That somebody takes an alarm for what it is (store/alarms.hpp).
struct AcceptanceRecord {
  std::string alarm;  ///< Alarm::id()
  std::string who, why, accepted_utc;
  std::string facts = "{}";  ///< the alarm as it was accepted, in JSON; "{}": an older Conebench
};

/// The hash that every build knows the problem by, for pairs of stores.
inline const std::string& oldest_hash(const ProblemRecord& problem) {
  return problem.alias.empty() ? problem.hash : problem.alias;
}

struct SettingRecord {
  std::string hash;
  std::string solver;
  int solver_version = 1;
  std::string formulation;   ///< NCP, CCP, LCP, model
  std::string label;         ///< the solver's id, with the options that differ from the defaults
  std::string options_json;  ///< effective options, all of them
  std::string origin = {};   ///< "own" (a method of Conebench's authors), "paper", "peer", "foreign"; empty: not known
  std::string peer_version = {};   ///< of a peer: its library's
  std::string peer_released = {};  ///< ISO date of that version
  std::string peer_build = {};     ///< how it was compiled: "Debian, -O2", "this machine's flags"; empty: not known
  /// "free": the harness sees its iterates while it runs and keeps its looks out of the time; "paid": it pays for tests
  /// of its own; empty: not known.
  std::string looks = {};
  std::vector<std::string> changed_options = {};  ///< names of the options that differ from the solver's defaults

  bool sets_option(const std::string& name) const {
    return std::find(changed_options.begin(), changed_options.end(), name) != changed_options.end();
  }
};

struct TimingRecord {
  double cold = 0.0;  ///< first run
  double minimum = 0.0;
  double median = 0.0;
  double deviation = 0.0;  ///< median absolute deviation
};

/// Times of a cell in one pass of the sweep, or in one replicate of a side of a side-by-side run.
struct RoundRecord {
  int round = 1;  ///< 1, 2, …
  std::int64_t run_id = 0;
  double minimum = 0.0;                       ///< of set-up + solve over the runs of this round
  double median = 0.0;                        ///< the same
  std::optional<double> cpu_share = {};       ///< processor time by time passed, of those runs
  std::optional<std::int64_t> switches = {};  ///< involuntary context switches meanwhile
};

struct CellRecord {
  std::string key;  ///< content address: problem, setting, limits, tolerance, criterion, verdict, start
  std::int64_t run_id = 0;
  std::string problem;  ///< ProblemRecord::hash
  std::string setting;  ///< SettingRecord::hash
  double tolerance = 0.0;
  std::string criterion;   ///< own, verdict, verdict-paid
  std::string verdict;     ///< the residual's name
  std::string start;       ///< cold, guess or previous: what was asked for
  std::string start_used;  ///< what was used: cold where there was no previous answer
  std::int64_t max_iterations = 0;
  double limit_s = 0.0;
  std::int64_t limit_mb = 0;

  CellStatus status = CellStatus::unknown;
  std::string reason;    ///< breakdown reason, signal, why killed, why unsupported; else empty
  bool claimed = false;  ///< the solver says converged
  std::string stage;     ///< which of the solver's stages converged; empty: it has none or none did
  bool solved = false;   ///< the judge says so
  std::optional<double> verdict_value;
  int verdict_version = 0;  ///< of the residual that it was judged by (ResidualInfo); 0: of an older Conebench
  ResidualList residuals;
  double own_residual = 0.0;
  bool own_residual_known = false;
  bool solved_symmetrised = false;
  std::optional<double> verdict_symmetrised;  ///< the symmetrised problem's verdict, where that was solved
  double compliance_share = 0.0;              ///< α where the solver solved with R = α diag(G), see with_compliance
  std::optional<double> verdict_compliant;    ///< that problem's verdict
  std::optional<double> ccp_compliant;        ///< that problem's natural_map_ccp_scaled

  UsedParts used = UsedParts::unknown;  ///< what of the problem the solver looked at
  /// What making that took before the solver began, where the problem is given as (M, J, v_free); not part of the
  /// times.
  std::optional<double> condensation_s;

  std::int64_t iterations = 0;
  std::int64_t factorizations = 0;     ///< -1: not counted by the solver
  std::int64_t operator_products = 0;  ///< the same
  TimingRecord setup;
  TimingRecord solve;
  TimingRecord total;  ///< set-up + solve: the ranked cost
  /// Of a solver in a process of its own, medians: by the runner's clock, and as it says itself.
  std::optional<double> wall_s, own_setup_s, own_solve_s;
  int repeats = 0;
  int rounds = 1;  ///< passes of the sweep that timed it; the times are of the one with the least total.median
  std::vector<std::string> doubts;  ///< codes of why the times are doubtful (time_doubts.hpp); empty: they are not
  double judge_s = 0.0;             ///< judging and verdict looks, kept out of the times
  std::int64_t peak_memory_kb = 0;
  std::int64_t open = 0;
  std::int64_t stick = 0;
  std::int64_t slip = 0;
  std::vector<RoundRecord> timed_rounds;    ///< those that timed it, in order; empty in stores of an older Conebench
  std::optional<std::uint32_t> answer_crc;  ///< CRC-32 of the stored λ, filled by Store::read; nullopt: none is stored
  std::vector<double> reaction;             ///< final λ; loaded only where asked for
};

/// A cell that a suite asks for; limits, criterion and verdict are the same for all of a suite.
struct WantedCell {
  std::string problem;  ///< its hash; of a source that no run has looked at a word for it (SuiteState::known_by_name)
  std::string setting;  ///< its hash
  double tolerance = 0.0;
  std::string start;

  auto operator<=>(const WantedCell&) const = default;
};

/// What is known of a problem without opening it.
struct NamedSource {
  std::string name, family, source;
};
/// Of a setting that the store may hold no cell of.
struct NamedSetting {
  std::string solver, label;
};

/// How far a suite is in a store.
struct SuiteState {
  std::string name;
  std::set<WantedCell> present;                  ///< that the store holds
  std::set<WantedCell> missing;                  ///< that it asks for, too
  std::map<std::string, NamedSource> sources;    ///< of `missing`, by their `problem`
  std::map<std::string, NamedSetting> settings;  ///< of `missing`, by their hash; empty: a store of an older Conebench
  /// Of the `problem`s in `missing` those that count as one each, though they may repeat another, be none (a simulation
  /// gives fewer samples) or not fit `filter`.
  std::set<std::string> known_by_name;
  std::string filter;  ///< what the cells were filtered by; empty: they are the suite's

  long cells() const { return static_cast<long>(present.size() + missing.size()); }
};

/// All of a store (or of several, joined) that a report needs.
struct StoreContents {
  std::vector<RunRecord> runs;
  std::vector<ProblemRecord> problems;
  std::vector<SettingRecord> settings;
  std::vector<CellRecord> cells;
  std::vector<AcceptanceRecord> acceptances;
  std::vector<SuiteState> suites;  ///< see present_contents; empty: not known
  long outdated_cells = 0;         ///< that it took out
  /// What a problem's `family` is: "family", or what grouped() has put in its place.
  std::string group = "family";
  std::string filter;                      ///< what filtered() kept; empty: all
  std::vector<NamedSetting> own_left_out;  ///< that without_own() took out
};

}  // namespace conebench
