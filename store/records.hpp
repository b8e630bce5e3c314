#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/field.hpp"
#include "problems/used_parts.hpp"
#include "store/cell_status.hpp"
#include "store/noise.hpp"
#include "store/residual_list.hpp"
#include "store/trace.hpp"

namespace conebench {

/// ProblemRecord::given of what rankings with condensation are for.
inline constexpr const char* given_as_deformable = "deformable";

/// Plain data of a store. Each record says by `fields` what its members are called in SQL, JSON, CSV and Python, their
/// units and what they mean (base/field.hpp): the tables of a store, its documentation and every encoder are made of
/// that. A new field is a member and its line below. Times are in seconds; a missing number is nullopt (null in JSON).

struct MachineRecord {
  std::string host;
  std::string cpu;
  int cores = 0;
  std::int64_t memory_mb = 0;
  std::string kernel;
  std::string governor;

  static void fields(auto& visit, auto& machine) {
    visit({"host", "", "its name"}, machine.host);
    visit({"cpu", "", "its processor"}, machine.cpu);
    visit({"cores", "", "processors"}, machine.cores);
    visit({"memory_mb", "MB", "memory"}, machine.memory_mb);
    visit({"kernel", "", "the system's kernel"}, machine.kernel);
    visit({"governor", "", "frequency governor; `unknown` where the system does not say"}, machine.governor);
  }
};

struct BuildRecord {
  std::string version;
  std::string commit;
  std::string compiler;
  std::string flags;
  std::string build_type;
  bool native = false;
  std::map<std::string, std::string> libraries;
  std::string executable;

  static void fields(auto& visit, auto& build) {
    visit({"version", "", "Conebench's"}, build.version);
    visit({"commit", "", "with `-dirty` where the tree was not clean; `unknown` outside git"}, build.commit);
    visit({"compiler", "", "name and version"}, build.compiler);
    visit({"flags", "", "the compiler's"}, build.flags);
    visit({"type", "", "CMake's build type"}, build.build_type);
    visit({"native", "", "built with -march=native"}, build.native);
    visit({"libraries", "", "name → version"}, build.libraries);
    visit({"executable", "", "hash of the program file's bytes"}, build.executable);
  }
};

struct RunRecord {
  std::int64_t id = 0;  ///< given by the store
  std::string suite_name;
  std::string suite_text;
  std::string suite_folder;
  std::string data_folder;
  std::map<std::string, std::string> data_sets;
  std::string scope_json;
  std::uint64_t seed = 0;
  std::string started_utc;
  std::string finished_utc;
  std::string mode;
  int jobs = 1;
  MachineRecord machine;
  BuildRecord build;
  double load_before = 0.0;
  double load_after = 0.0;
  double steal_share = 0.0;
  std::vector<NoiseRecord> noise;
  std::string side;

  static void fields(auto& visit, auto& run) {
    visit({"suite_name", "", "the suite's name"}, run.suite_name);
    visit({"suite_text", "", "the suite's file, verbatim"}, run.suite_text);
    visit({"suite_folder", "", "absolute; where the suite's relative paths start last"}, run.suite_folder);
    visit({"data_folder", "", "absolute; --data or CONEBENCH_DATA, else empty"}, run.data_folder);
    visit({"data_sets", "", "versions of the [data sets](data_sets.md) that its problems are of, by name"},
          run.data_sets);
    visit({"scope", "",
           "[all that the suite asked for](store.md#scope), unfiltered; of the runs of a suite the last one counts"},
          run.scope_json);
    visit({"seed", "", "of the suite; unsigned, above 2⁶³ SQL shows it negative"}, run.seed);
    visit({"started_utc", "", "ISO 8601"}, run.started_utc);
    visit({"finished_utc", "", "ISO 8601; empty while it runs or where it was interrupted"}, run.finished_utc);
    visit({"mode", "",
           "`timed` (one worker), `throughput` (several), `quick` (each cell run once) or `submitted` ([answers sent "
           "in](submissions.md), nothing run)"},
          run.mode);
    visit({"jobs", "", "workers"}, run.jobs);
    visit.group("machine", [&](auto& inner) { MachineRecord::fields(inner, run.machine); });
    visit.group("build", [&](auto& inner) { BuildRecord::fields(inner, run.build); });
    visit({"load_before", "", "1-minute load average at its start"}, run.load_before);
    visit({"load_after", "", "1-minute load average at its end"}, run.load_after);
    visit({"steal_share", "", "share of the processor time that the hypervisor took"}, run.steal_share);
    visit({"noise", "", "[why times of this run are noisy](store.md#noise); empty when quiet"}, run.noise);
    visit({"side", "", "of an A/B run `baseline` or `candidate`, else empty"}, run.side);
  }
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
  std::string state;
  std::optional<double> margin;
  std::optional<std::int64_t> worst_block;
  std::vector<double> certificate;
  std::optional<double> verdict_bound = {};
  /// Verdicts that the bound is not of, by which a cell is solved: there the problem counts. Not stored.
  std::set<std::string> solved_by = {};

  bool excludes(const std::string& verdict, double value) const {
    return !solved_by.contains(verdict) && conebench::excludes(verdict_bound, verdict, value);
  }

  static void fields(auto& visit, auto& found) {
    visit(
        {"feasibility", "",
         "`infeasible`: the judged [certificate](metrics.md#feasibility) excludes every solution; `refuted`: the same, "
         "but a judged answer is better than its bound; `not_excluded`: none was found; `undecided`: the search did "
         "not end; empty: none was looked for, as for problems solved at the tightest tolerance"},
        found.state);
    visit(
        {"feasibility_margin", "m/s", "gᵀz/‖z‖₁ of the certificate z, below 0: every answer misses in some row by it"},
        found.margin);
    visit({"infeasible_block", "",
           "the block (joint rows, limit rows, intervals, contacts) with the most negative part of gᵀz"},
          found.worst_block);
    visit({"certificate", "", "z, one little-endian float of 8 bytes a row; `rejudge` judges it again"},
          found.certificate);
    visit({"verdict_bound", "",
           "no λ has a `natural_map_scaled` below it: the problem is left out at tolerances below it"},
          found.verdict_bound);
  }
};

struct ProblemRecord {
  std::string hash;
  std::string name;
  std::string family;
  std::string source;
  std::string kind;
  int space_dimension = 3;
  std::int64_t members = 1;
  std::int64_t contacts = 0;
  std::int64_t joints = 0;
  std::int64_t limits = 0;
  std::int64_t intervals = 0;
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  double mu_min = 0.0;
  double mu_max = 0.0;
  double symmetry_error = 0.0;
  std::optional<std::int64_t> rank;
  std::optional<double> conditioning;
  bool features_estimated = false;
  std::string category;
  std::map<std::string, double> zero_impulse;
  std::string duplicate_of;
  std::vector<std::string> copies;
  std::string error;
  std::string given;
  std::string alias;
  std::optional<double> factor_s, assemble_s, diagonal_s;
  FeasibilityRecord feasibility;
  std::optional<double> noise_ratio;
  std::string sequence;
  std::optional<std::int64_t> step;

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

  static void fields(auto& visit, auto& problem) {
    visit({"hash", "", "of [all data that a solver or the judge may read](sample_format.md#identity-and-hashes)"},
          problem.hash);
    visit({"name", "", "as reports show it"}, problem.name);
    visit({"family", "", "the group that it counts in"}, problem.family);
    visit({"source", "", "its path as the suite names it, or scene and parameters"}, problem.source);
    visit({"kind", "", "`local`, `global`, `mixed_local`, `mixed_global` or `generated`"}, problem.kind);
    visit({"space_dimension", "", "2 or 3"}, problem.space_dimension);
    visit({"members", "", "problems that it is a [batch](suites.md#batches) of, else 1; sizes are sums over them"},
          problem.members);
    visit({"contacts", "", "number of contacts"}, problem.contacts);
    visit({"joints", "", "rows of joints"}, problem.joints);
    visit({"limits", "", "rows of limits"}, problem.limits);
    visit({"intervals", "", "rows with bounds"}, problem.intervals);
    visit({"rows", "", "of λ"}, problem.rows);
    visit({"nonzeros", "", "of G; where M and J are given, of those"}, problem.nonzeros);
    visit({"mu_min", "", "least friction coefficient"}, problem.mu_min);
    visit({"mu_max", "", "greatest friction coefficient"}, problem.mu_max);
    visit({"symmetry_error", "", "‖G − Gᵀ‖/‖G‖ (Frobenius)"}, problem.symmetry_error);
    visit({"rank", "", "of G"}, problem.rank);
    visit({"conditioning", "", "of G on its range"}, problem.conditioning);
    visit({"features_estimated", "", "rank and conditioning are estimates"}, problem.features_estimated);
    visit({"category", "", "sample category (Tsounis VII-C); `unknown` without body data"}, problem.category);
    visit(
        {"duplicate_of", "", "hash of the problem that it repeats in another file, order, frame or guess, else empty"},
        problem.duplicate_of);
    visit({"error", "", "why it could not be loaded, else empty"}, problem.error);
    visit({"zero_impulse", "", "residual → its value at λ = 0, where it is finite"}, problem.zero_impulse);
    visit({"copies", "", "further sources of identical data, which are run once"}, problem.copies);
    visit({"given", "",
           "`delassus`: G; `primal`: M, J and v_free alone; `deformable`: the same, and M does not fall apart in small "
           "blocks; empty: it could not be loaded"},
          problem.given);
    visit({"alias", "",
           "hash of the assembled G; comparisons, histories and joined reports pair by it; empty: the same as `hash`"},
          problem.alias);
    visit({"factor_s", "s",
           "given M and J: to factor M. This and the next two: processor time of one thread, median of "
           "three, of one from 2 s on; NULL: not needed"},
          problem.factor_s);
    visit({"assemble_s", "s", "given M and J: to assemble G after that"}, problem.assemble_s);
    visit({"diagonal_s", "s", "given M and J: to find G's diagonal blocks without G"}, problem.diagonal_s);
    FeasibilityRecord::fields(visit, problem.feasibility);
    visit({"noise_ratio", "", "size of g over the rounding of the terms that made it; up to 1 it is at noise level"},
          problem.noise_ratio);
    visit({"sequence", "", "the same for all steps of one [simulation](suites.md#sequences); empty: it is in none"},
          problem.sequence);
    visit({"step", "", "which one"}, problem.step);
  }
};

/// That somebody takes an alarm for what it is (store/alarms.hpp).
struct AcceptanceRecord {
  std::string alarm;
  std::string who, why, accepted_utc;
  std::string facts = "{}";

  static void fields(auto& visit, auto& acceptance) {
    visit({"alarm", "", "identity of the alarm"}, acceptance.alarm);
    visit({"who", "", "who accepted it"}, acceptance.who);
    visit({"why", "", "in their words"}, acceptance.why);
    visit({"accepted_utc", "", "ISO 8601"}, acceptance.accepted_utc);
    visit.json_text({"facts", "", "the alarm as it was accepted"}, acceptance.facts);
  }
};

/// The hash that every build knows the problem by, for pairs of stores.
inline const std::string& oldest_hash(const ProblemRecord& problem) {
  return problem.alias.empty() ? problem.hash : problem.alias;
}

struct ConfigurationRecord {
  std::string hash;
  std::string solver;
  int solver_version = 1;
  std::string formulation;
  std::string label;
  std::string options_json = "{}";
  std::string origin = {};
  std::string peer_version = {};
  std::string peer_released = {};
  std::string peer_build = {};
  std::string checks = {};
  std::vector<std::string> changed_options = {};

  bool sets_option(const std::string& name) const {
    return std::find(changed_options.begin(), changed_options.end(), name) != changed_options.end();
  }

  static void fields(auto& visit, auto& configuration) {
    visit({"hash", "", "of solver, version and effective options"}, configuration.hash);
    visit({"solver", "", "its id"}, configuration.solver);
    visit({"solver_version", "", "goes up where answers may differ"}, configuration.solver_version);
    visit({"formulation", "", "NCP, CCP, LCP, model"}, configuration.formulation);
    visit({"label", "", "the solver's id, with the options that differ from its defaults"}, configuration.label);
    visit.json_text({"options", "", "all effective options"}, configuration.options_json);
    visit({"origin", "",
           "`own` (a method of Conebench's authors), `paper`, `peer`, `foreign` or `submitted` (only its answers are "
           "known)"},
          configuration.origin);
    visit({"peer_version", "", "of a peer: its library's version"}, configuration.peer_version);
    visit({"peer_released", "", "ISO date of that version"}, configuration.peer_released);
    visit({"peer_build", "", "how it was compiled"}, configuration.peer_build);
    visit(
        {"checks", "",
         "who pays for its residual checks. `free`: its iterates are seen while it runs, and checks can be kept out of "
         "its time; `paid`: its time includes its own tests"},
        configuration.checks);
    visit({"changed_options", "", "names of the options that differ from the solver's defaults"},
          configuration.changed_options);
  }
};

struct TimingRecord {
  double cold = 0.0;
  double minimum = 0.0;
  double median = 0.0;
  double deviation = 0.0;

  static void fields(auto& visit, auto& timing) {
    visit({"cold_s", "s", "first run"}, timing.cold);
    visit({"minimum_s", "s", "least of the runs"}, timing.minimum);
    visit({"median_s", "s", "median of the runs"}, timing.median);
    visit({"deviation_s", "s", "median absolute deviation of the runs"}, timing.deviation);
  }
};

/// Times of a cell in one round of the sweep, or of one round of a side of an A/B run.
struct RoundRecord {
  int round = 1;
  std::int64_t run_id = 0;
  double minimum = 0.0;
  double median = 0.0;
  std::optional<double> cpu_share = {};
  std::optional<std::int64_t> switches = {};

  static void fields(auto& visit, auto& round) {
    visit({"round", "", "1, 2, …"}, round.round);
    visit({"run_id", "", "the run that measured it"}, round.run_id);
    visit({"minimum_s", "s", "of set-up + solve over the runs of this round"}, round.minimum);
    visit({"median_s", "s", "the same"}, round.median);
    visit({"cpu_share", "", "processor time over elapsed time of those runs, judging included"}, round.cpu_share);
    visit({"switches", "", "involuntary context switches meanwhile"}, round.switches);
  }
};

/// What was asked for: by the plan.
struct CellIdentity {
  std::string key;
  std::string problem;        ///< ProblemRecord::hash
  std::string configuration;  ///< ConfigurationRecord::hash
  double tolerance = 0.0;
  std::string stop_by;
  std::string verdict;
  std::string start;
  std::int64_t max_iterations = 0;
  double limit_s = 0.0;
  std::int64_t limit_mb = 0;

  static void fields(auto& visit, auto& cell) {
    visit({"key", "",
           "hash of all that decides the answer: problem, configuration, limits, tolerance, stop_by, verdict "
           "with its version, start"},
          cell.key);
    visit({"problem", "", "`problems.hash`"}, cell.problem);
    visit({"configuration", "", "`configurations.hash`"}, cell.configuration);
    visit({"tolerance", "", "what the verdict must not exceed"}, cell.tolerance);
    visit({"stop_by", "", "who stops the solver: `solver`, `judge` or `judge_timed`, as in [suites](suites.md)"},
          cell.stop_by);
    visit({"verdict", "", "name of the residual that decides"}, cell.verdict);
    visit({"start", "", "`cold`, `guess` or `previous`"}, cell.start);
    visit({"max_iterations", "", "limit"}, cell.max_iterations);
    visit({"limit_s", "s", "limit on set-up and solve"}, cell.limit_s);
    visit({"limit_mb", "MB", "limit on memory"}, cell.limit_mb);
  }
};

/// What the solver says of its answer: nothing of it is believed before it is judged.
struct CellClaim {
  bool claimed = false;
  std::string stage;
  double own_residual = 0.0;
  bool own_residual_known = false;
  bool solved_symmetrised = false;
  double compliance_share = 0.0;
  std::int64_t iterations = 0;
  std::int64_t factorizations = 0;
  std::int64_t operator_products = 0;

  static void fields(auto& visit, auto& cell) {
    visit({"claimed", "", "the solver says that it converged"}, cell.claimed);
    visit(
        {"stage", "", "which of the solver's stages converged ([CASCADE](solvers/cascade.md#the-driver)), else empty"},
        cell.stage);
    visit({"own_residual", "", "the solver's own measure"}, cell.own_residual);
    visit({"own_residual_known", "", "it has one"}, cell.own_residual_known);
    visit({"solved_symmetrised", "", "it solved the problem with (G + Gᵀ)/2"}, cell.solved_symmetrised);
    visit({"compliance_share", "", "α where it solved the problem with R = α diag(G) (`with_compliance`), else 0"},
          cell.compliance_share);
    visit({"iterations", "", "counter; −1: a submitter did not say"}, cell.iterations);
    visit({"factorizations", "", "counter; −1: the solver does not keep it"}, cell.factorizations);
    visit({"operator_products", "", "counter; −1: the solver does not keep it"}, cell.operator_products);
  }
};

/// What judging the answer says: by the judge, and by `rejudge`.
struct CellJudgement {
  bool solved = false;
  std::optional<double> verdict_value;
  std::optional<double> verdict_p95;
  std::optional<std::int64_t> members_solved;
  int verdict_version = 0;
  ResidualList residuals;
  std::optional<double> verdict_symmetrised;
  std::optional<double> verdict_compliant;
  std::optional<double> ccp_compliant;
  std::int64_t open = 0;
  std::int64_t stick = 0;
  std::int64_t slip = 0;
  std::int64_t moment_stick = 0;
  std::int64_t moment_slip = 0;
  std::int64_t inside = 0;
  std::int64_t at_lower = 0;
  std::int64_t at_upper = 0;

  /// Without the residuals, which are a table of their own.
  static void fields(auto& visit, auto& cell) {
    visit({"solved", "", "the judge says that the answer is good"}, cell.solved);
    visit({"verdict_value", "", "the official residual of the answer; of a batch that of the worst member"},
          cell.verdict_value);
    visit({"verdict_p95", "", "of a batch: the residual that 95 % of its members are not above, else NULL"},
          cell.verdict_p95);
    visit({"members_solved", "", "of a batch: members whose answers are good, else NULL"}, cell.members_solved);
    visit({"verdict_version", "", "of that residual, by which it was judged ([table](residuals.md))"},
          cell.verdict_version);
    visit({"verdict_symmetrised", "", "that of the symmetrised problem, where that was solved"},
          cell.verdict_symmetrised);
    visit({"verdict_compliant", "", "that of the problem with the added compliance"}, cell.verdict_compliant);
    visit({"ccp_compliant", "", "`natural_map_ccp_scaled` of the problem with the added compliance"},
          cell.ccp_compliant);
    visit({"open", "", "contacts without impulse"}, cell.open);
    visit({"stick", "", "contacts that stick"}, cell.stick);
    visit({"slip", "", "contacts that slip"}, cell.slip);
    visit({"moment_stick", "", "groups of torsion or rolling, apart from sliding, that stick"}, cell.moment_stick);
    visit({"moment_slip", "", "groups of torsion or rolling that slip"}, cell.moment_slip);
    visit({"inside", "", "intervals with an impulse between their bounds"}, cell.inside);
    visit({"at_lower", "", "intervals at their lower bound"}, cell.at_lower);
    visit({"at_upper", "", "intervals at their upper bound"}, cell.at_upper);
  }
};

/// How long it took: by the clock.
struct CellTiming {
  TimingRecord setup;
  TimingRecord solve;
  TimingRecord total;
  std::optional<double> wall_s, own_setup_s, own_solve_s;
  std::optional<double> member_median_s, member_p95_s, member_worst_s;
  int repeats = 0;
  int rounds = 1;
  std::vector<std::string> doubts;
  std::vector<RoundRecord> timed_rounds;  ///< those that timed it, in order

  /// Without the rounds, which are a table of their own.
  static void fields(auto& visit, auto& cell) {
    visit.group("setup", [&](auto& inner) { TimingRecord::fields(inner, cell.setup); });
    visit.group("solve", [&](auto& inner) { TimingRecord::fields(inner, cell.solve); });
    visit.group("total", [&](auto& inner) { TimingRecord::fields(inner, cell.total); });
    visit({"wall_s", "s", "of a [program](program_protocol.md), median: from request to reply by the runner's clock"},
          cell.wall_s);
    visit({"own_setup_s", "s", "of a program, median: its set-up as it says itself"}, cell.own_setup_s);
    visit({"own_solve_s", "s",
           "of a program, median: its solve as it says itself; of a [submission](submissions.md) what it claims"},
          cell.own_solve_s);
    visit({"member_median_s", "s",
           "of a batch, else NULL: set-up + solve of its median member, each member's the median of its runs; one that "
           "did not converge is above all, and NULL where it is such a one"},
          cell.member_median_s);
    visit({"member_p95_s", "s", "the same that 95 % of the members do not exceed"}, cell.member_p95_s);
    visit({"member_worst_s", "s", "the same of the slowest member"}, cell.member_worst_s);
    visit({"repeats", "", "runs that the times are of"}, cell.repeats);
    visit({"rounds", "", "of the sweep that timed it; the times are those of the one with the least `total_median_s`"},
          cell.rounds);
    visit({"doubts", "",
           "codes why the times are [doubtful](trust.md#kept-answers): `kept_answers`, `clock`, `unconfirmed`, "
           "`slow_first`, [`own_tests`](suites.md#equal-terms)"},
          cell.doubts);
  }
};

/// How it went: by the runner.
struct CellEnvironment {
  std::int64_t run_id = 0;
  CellStatus status = CellStatus::unknown;
  std::string reason;
  std::string start_used;
  UsedParts used = UsedParts::unknown;
  std::optional<double> condensation_s;
  double judge_s = 0.0;
  std::int64_t peak_memory_kb = 0;

  static void fields(auto& visit, auto& cell) {
    visit({"run_id", "", "the run that measured its times"}, cell.run_id);
    visit({"status", "",
           "how it ended: `converged`, `max_iterations`, `time_limit`, `stalled`, `diverged`, `breakdown`, "
           "`unsupported`, `timeout`, `crashed`, `out_of_memory`, `flaky`, `bad_problem`, `skipped`"},
          cell.status);
    visit({"reason", "", "why, where there is more to say"}, cell.reason);
    visit({"start_used", "", "what it started from: `cold` where there was no previous answer"}, cell.start_used);
    visit({"used", "",
           "what of the problem the solver used: `delassus` (the assembled G), `products`, `diagonal`, "
           "`products+diagonal`, `primal` (M, J, v_free alone), `none`"},
          cell.used);
    visit({"condensation_s", "s",
           "to make that part before the solver began; in none of the times; NULL where G is given"},
          cell.condensation_s);
    visit({"judge_s", "s", "judging and residual checks, in none of the times"}, cell.judge_s);
    visit({"peak_memory_kb", "kB", "peak resident size of the process that ran it"}, cell.peak_memory_kb);
  }
};

struct CellRecord : CellIdentity, CellClaim, CellJudgement, CellTiming, CellEnvironment {
  std::optional<std::uint32_t> answer_crc;  ///< CRC-32 of the stored λ, filled by Store::read; nullopt: none is stored
  std::vector<double> reaction;             ///< final λ; loaded only where asked for
  Trace trace;                              ///< loaded with the residuals; empty: none is kept

  static void fields(auto& visit, auto& cell) {
    CellIdentity::fields(visit, cell);
    CellEnvironment::fields(visit, cell);
    CellClaim::fields(visit, cell);
    CellJudgement::fields(visit, cell);
    CellTiming::fields(visit, cell);
  }
};

/// A cell that a suite asks for; limits, stop_by and verdict are the same for all of a suite.
struct WantedCell {
  std::string problem;  ///< its hash; of a source that no run has looked at a word for it (SuiteState::known_by_name)
  std::string configuration;  ///< its hash
  double tolerance = 0.0;
  std::string start;

  auto operator<=>(const WantedCell&) const = default;
};

/// What is known of a problem without opening it.
struct NamedSource {
  std::string name, family, source;
};
/// Of a configuration that the store may hold no cell of.
struct NamedConfiguration {
  std::string solver, label;
};

/// How far a suite is in a store.
struct SuiteState {
  std::string name;
  std::set<WantedCell> present;                ///< that the store holds
  std::set<WantedCell> missing;                ///< that it asks for, too
  std::map<std::string, NamedSource> sources;  ///< of `missing`, by their `problem`
  std::map<std::string, NamedConfiguration>
      configurations;  ///< of `missing`, by their hash; empty: a store of an older Conebench
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
  std::vector<ConfigurationRecord> configurations;
  std::vector<CellRecord> cells;
  std::vector<AcceptanceRecord> acceptances;
  std::vector<SuiteState> suites;  ///< see present_contents; empty: not known
  long outdated_cells = 0;         ///< that it took out
  /// What a problem's `family` is: "family", or what grouped() has replaced it with.
  std::string group = "family";
  std::string filter;                            ///< what filtered() kept; empty: all
  std::vector<NamedConfiguration> own_left_out;  ///< that without_own() took out
};

}  // namespace conebench
