#include "runners/execute/sweep_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "base/temporary_folder.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/simulate.hpp"
#include "runners/execute/survey.hpp"
#include "runners/execute/survey_file.hpp"
#include "runners/plan/data_set.hpp"
#include "runners/plan/problem_source.hpp"
#include "solvers/registry.hpp"
#include "store/run_mode.hpp"

namespace conebench {

namespace {

Error usage(std::string message) { return Error{ErrorCode::wrong_usage, std::move(message)}; }

Result<void> check(const SweepOptions& options) {
  if (options.jobs < 1 || options.jobs > 1024) return usage(fmt::format("--jobs {}: must be 1 to 1024", options.jobs));
  if (options.shards < 1 || options.shard < 1 || options.shard > options.shards) {
    return usage(fmt::format("--shard {}/{}: must be K/N with 1 <= K <= N", options.shard, options.shards));
  }
  for (const std::string& status : options.retry) {
    if (cell_status(status) != CellStatus::unknown) continue;
    std::string known;
    for (const CellStatusRow& row : cell_status_table()) known += (known.empty() ? "" : ", ") + std::string(row.name);
    return usage(fmt::format("--retry: unknown status '{}'; known: {}", status, known));
  }
  return {};
}

/// What is known of a problem without opening it.
FilterSubject subject_of(const ProblemSource& source) {
  FilterSubject subject;
  subject.family = source.family;
  subject.source = source.source;
  if (!source.name.empty()) subject.problem = source.name;
  return subject;
}

Result<std::vector<ProblemSource>> all_sources(const Suite& suite, const SweepOptions& options,
                                               const SceneWatch& watch) {
  return list_sources(suite, options.data, data_folder_of_environment(), options.cache, watch);
}

/// A filter hides other sources of the same problem, and the original of a duplicate. The store knows both.
void keep_relatives(const ProblemRecord& known, ProblemRecord& record) {
  if (record.duplicate_of.empty()) record.duplicate_of = known.duplicate_of;
  std::vector<std::string> sources = known.copies;
  sources.push_back(known.source);
  for (std::string& source : sources) {
    const bool is_there = source == record.source || std::count(record.copies.begin(), record.copies.end(), source) > 0;
    if (!is_there) record.copies.push_back(std::move(source));
  }
}

/// How far a plan goes into its problems.
struct PlanDepth {
  std::filesystem::path written;  ///< folder for the scenes that are written as FCLIB
  std::filesystem::path surveys;  ///< file that keeps them; empty: nothing is kept
  bool simulates = true;          ///< the samples of scenes that are not there yet; else they are pending
  bool all_features = true;       ///< else those alone that the filter or a condition asks for
  bool notes = true;              ///< what can't be loaded, when it is found
  bool checks_keys = true;        ///< each of --keys is a cell's
};

/// Makes a plan, step by step.
class Planner {
 public:
  Planner(const Suite& suite, const SweepOptions& options, CellFilter filter, PlanDepth depth,
          const std::vector<ProblemRecord>& known, Progress& progress)
      : suite_(suite),
        options_(options),
        filter_(std::move(filter)),
        depth_(std::move(depth)),
        progress_(progress),
        warm_(std::count(suite.starts.begin(), suite.starts.end(), Start::previous) > 0) {
    for (const ProblemRecord& record : known) known_[record.hash] = &record;
  }

  Result<SweepPlan> make() {
    CONEBENCH_CHECK(list_problems());
    leave_out_filtered();
    if (interrupted()) return std::move(plan_);
    CONEBENCH_CHECK(survey());
    if (interrupted()) return std::move(plan_);
    CONEBENCH_CHECK(leave_out_killed());
    take_known_features();
    leave_out_by_conditions();
    join_copies();
    plan_.configurations = plan_configurations(suite_);
    complete_scope();
    CONEBENCH_CHECK(make_cells());
    return std::move(plan_);
  }

 private:
  bool interrupted() {
    plan_.interrupted = options_.interrupted != nullptr && *options_.interrupted;
    return plan_.interrupted;
  }

  bool family_fits(const std::string& family) const {
    FilterSubject subject;
    subject.family = family;
    return filter_.holds(subject);
  }

  Result<void> list_problems() {
    SceneWatch watch{depth_.simulates, options_.interrupted, [this](const std::string& line) { progress_.note(line); },
                     isolated_samples(suite_.limits, options_.interrupted)};
    watch.wanted = [this](const std::string& family) { return family_fits(family); };
    CONEBENCH_TRY(sources_, all_sources(suite_, options_, watch));
    for (const ProblemSource& source : sources_) {
      plan_.scope.problems[source.source];
      plan_.scope.names[source.source] = {source.name, source.family, source.source};
    }
    return {};
  }

  /// A warm cell's start may be the answer to a problem that the filter does not fit, of the same simulation.
  void leave_out_filtered() {
    std::erase_if(sources_, [&](const ProblemSource& source) {
      if (!options_.sources.empty() && !options_.sources.contains(source.source)) return true;
      if (!warm_) return !filter_.holds(subject_of(source));
      return (!source.position || source.pending) && !family_fits(source.family);
    });
    conditional_ = std::ranges::any_of(sources_, [](const ProblemSource& one) { return !one.conditions.empty(); });
  }

  /// Of samples that are pending their names alone are known; they come last.
  Result<void> survey() {
    const bool features = depth_.all_features || conditional_ || filter_.needs_features();
    SurveyPlan survey{suite_, depth_.written, features, {}, depth_.notes};
    for (const auto& [hash, record] : known_) survey.known[hash] = record->rank;
    std::vector<ProblemSource> pending;
    std::ranges::copy_if(sources_, std::back_inserter(pending), &ProblemSource::pending);
    std::erase_if(sources_, [](const ProblemSource& source) { return source.pending; });
    // A shard takes the word of the survey: each of many would read all bytes of the set.
    if (options_.shards == 1 && !options_.keys) {
      CONEBENCH_CHECK(altered_data(sources_, options_.interrupted));
    }
    const auto processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    CONEBENCH_TRY(surveyed_, survey_kept(depth_.surveys, survey, sources_, std::max(options_.jobs, processors),
                                         options_.interrupted, progress_));
    for (ProblemSource& source : pending) {
      surveyed_.push_back(survey_pending(source));
      sources_.push_back(std::move(source));
    }
    return {};
  }

  Result<void> leave_out_killed() {
    for (std::size_t i = surveyed_.size(); i-- > 0;) {
      if (!surveyed_[i].killed) continue;
      plan_.killed.push_back(sources_[i].source);
      sources_.erase(sources_.begin() + static_cast<std::ptrdiff_t>(i));
      surveyed_.erase(surveyed_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (!warm_ || plan_.killed.empty()) return {};
    // The step after it would start from another answer than it should.
    return Error{
        ErrorCode::killed,
        fmt::format(
            "{}: the process that loads it was terminated externally, and starts \"previous\" need every step of a "
            "sequence; nothing was run, run the same command again",
            plan_.killed.front())};
  }

  void take_known_features() {
    for (SurveyedProblem& problem : surveyed_) {
      const auto found = known_.find(problem.record.hash);
      if (found != known_.end()) copy_features(*found->second, problem.record);
    }
  }

  void leave_out_by_conditions() {
    if (!conditional_) return;
    for (const std::string& left_out : leave_out_unwanted(sources_, surveyed_)) {
      plan_.scope.problems.erase(left_out);
      plan_.scope.names.erase(left_out);
    }
  }

  void join_copies() {
    plan_.problems = resolve_duplicates(std::move(sources_), std::move(surveyed_));
    if (options_.filter.empty()) return;
    for (SurveyedProblem& problem : plan_.problems.problems) {
      const auto found = known_.find(problem.record.hash);
      if (found != known_.end()) keep_relatives(*found->second, problem.record);
    }
  }

  /// All that the suite asks for, whatever the filter and the shard leave of it.
  void complete_scope() {
    SuiteScope& scope = plan_.scope;
    for (const SurveyedProblem& problem : plan_.problems.problems) {
      scope.problems[problem.record.source] = problem.record.hash;
      for (const std::string& copy : problem.record.copies) scope.problems[copy] = problem.record.hash;
    }
    for (const PlannedConfiguration& configuration : plan_.configurations) {
      scope.configurations[configuration.record.hash] = {configuration.record.solver, configuration.record.label};
      const SolverRow* const row = find_solver(configuration.record.solver);
      if (row == nullptr) continue;
      if (!row->command_arguments.empty()) scope.code.emplace(row->info.id, row->command_arguments);
      if (!row->content_hash.empty()) scope.code_hashes[row->info.id] = row->content_hash;
    }
    scope.tolerances.insert(suite_.tolerances.begin(), suite_.tolerances.end());
    for (const Start start : suite_.starts) scope.starts.insert(to_string(start));
    scope.stop_by = to_string(suite_.stop_by);
    scope.verdict = suite_.verdict;
    scope.max_iterations = suite_.limits.iterations;
    scope.limit_s = suite_.limits.seconds;
    scope.limit_mb = suite_.limits.memory_mb;
  }

  Result<void> make_cells() {
    const auto cells_of_shard = [&](int shard, int shards, const std::optional<std::set<std::string>>& keys) {
      return plan_cells(suite_, plan_.problems.problems, plan_.configurations, {shard, shards, filter_, keys});
    };
    plan_.cells = cells_of_shard(options_.shard, options_.shards, options_.keys);
    if (depth_.checks_keys && options_.keys) CONEBENCH_CHECK(check_keys(*options_.keys));
    // What the filter leaves is asked for, by whatever shard.
    if (!options_.filter.empty()) plan_.scope.part = wanted(cells_of_shard(1, 1, std::nullopt));
    return {};
  }

  /// Every key is a cell's: a suite that was edited meanwhile has others.
  Result<void> check_keys(std::set<std::string> keys) const {
    const std::size_t all = keys.size();
    for (const PlannedCell& cell : plan_.cells) keys.erase(cell.key);
    if (keys.empty()) return {};
    return Error{ErrorCode::bad_input,
                 fmt::format("--keys: {} of {} are of no cell of this suite and filter, {} is one; was the suite or a "
                             "problem's file changed?",
                             keys.size(), all, *keys.begin())};
  }

  std::set<WantedCell> wanted(const std::vector<PlannedCell>& planned) const {
    std::set<WantedCell> cells;
    for (const PlannedCell& cell : planned) {
      cells.insert({plan_.problems.problems[cell.problem].record.hash,
                    plan_.configurations[cell.configuration].record.hash, cell.tolerance, to_string(cell.start)});
    }
    return cells;
  }

  const Suite& suite_;
  const SweepOptions& options_;
  CellFilter filter_;
  PlanDepth depth_;
  Progress& progress_;
  bool warm_;                                          ///< some cells start from another's answer
  bool conditional_ = false;                           ///< some problems are kept by their features alone
  std::map<std::string, const ProblemRecord*> known_;  ///< by hash
  std::vector<ProblemSource> sources_;
  std::vector<SurveyedProblem> surveyed_;  ///< of sources_, one each
  SweepPlan plan_;
};

Result<SweepPlan> make_plan(const Suite& suite, const SweepOptions& options, PlanDepth depth,
                            const std::vector<ProblemRecord>& known, Progress& progress) {
  CONEBENCH_CHECK(check(options));
  CONEBENCH_TRY(auto filter, CellFilter::parse(options.filter));
  return Planner(suite, options, std::move(filter), std::move(depth), known, progress).make();
}

}  // namespace

std::set<std::size_t> SweepPlan::asked_for() const {
  std::set<std::size_t> indices;
  for (const PlannedCell& cell : cells) indices.insert(cell.problem);
  return indices;
}

Result<SweepPlan> make_sweep_plan(const Suite& suite, const SweepOptions& options,
                                  const std::vector<ProblemRecord>& known, Progress& progress) {
  return make_plan(suite, options, {.written = options.cache, .surveys = survey_file(options.cache)}, known, progress);
}

Result<SweepPlan> preview_sweep(const Suite& suite, const SweepOptions& options, Progress& progress) {
  const TemporaryFolder passing;
  return make_plan(suite, options,
                   {.written = passing.path(),
                    .surveys = {},
                    .simulates = false,
                    .all_features = false,
                    .notes = false,
                    .checks_keys = false},
                   {}, progress);
}

void describe_run(const Suite& suite, const SweepOptions& options, const SweepPlan& plan, RunRecord& run) {
  run.suite_name = suite.name;
  run.suite_text = suite.text;
  const auto data = data_folder(options.data.empty() ? data_folder_of_environment() : options.data);
  std::error_code ignored;
  if (!suite.folder.empty()) run.suite_folder = std::filesystem::absolute(suite.folder, ignored).string();
  if (!data.empty()) run.data_folder = std::filesystem::absolute(data, ignored).string();
  for (const ProblemSource& source : plan.problems.sources) {
    if (!source.data_set.empty()) run.data_sets[source.data_set] = source.data_version;
  }
  run.seed = suite.seed;
  run.started_utc = utc_now();
  run.mode = suite.repeats.counts_only ? quick_mode : options.jobs == 1 ? timed_mode : throughput_mode;
  run.jobs = options.jobs;
}

Result<void> put_plan(Store& store, const SweepPlan& plan) {
  std::set<std::size_t> problems, configurations;
  std::map<std::string, std::size_t> index_of;
  for (std::size_t i = 0; i < plan.problems.problems.size(); ++i) index_of[plan.problems.problems[i].record.hash] = i;
  for (const PlannedCell& cell : plan.cells) {
    problems.insert(cell.problem);
    configurations.insert(cell.configuration);
    // The original of a duplicate is stored too, even if this shard or filter has no cell of it.
    const auto original = index_of.find(plan.problems.problems[cell.problem].record.duplicate_of);
    if (original != index_of.end()) problems.insert(original->second);
  }
  for (const std::size_t problem : problems) {
    CONEBENCH_CHECK(store.put_problem(plan.problems.problems[problem].record));
  }
  for (const std::size_t configuration : configurations) {
    CONEBENCH_CHECK(store.put_configuration(plan.configurations[configuration].record));
  }
  return {};
}

Work work_left(const SweepPlan& plan, const std::vector<CellRecord>& stored, const std::vector<std::string>& retry) {
  std::map<std::string, std::string> status_of;
  for (const CellRecord& cell : stored) status_of.emplace(cell.key, to_string(cell.status));
  const std::set<std::string> again(retry.begin(), retry.end());
  const auto is_done = [&](const PlannedCell& cell) {
    const auto found = status_of.find(cell.key);
    return found != status_of.end() && !again.contains(found->second);
  };
  // What starts from an answer that is to be found again is to be done again, too.
  std::vector<std::optional<bool>> done(plan.cells.size());
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    std::vector<std::size_t> chain;
    std::optional<std::size_t> cell = i;
    while (cell && !done[*cell]) {
      chain.push_back(*cell);
      cell = plan.cells[*cell].previous;
    }
    bool before = !cell || *done[*cell];
    for (auto link = chain.rbegin(); link != chain.rend(); ++link) {
      before = before && is_done(plan.cells[*link]);
      done[*link] = before;
    }
  }
  Work work;
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    if (*done[i]) {
      ++work.resumed;
    } else {
      work.to_run.push_back(i);
    }
  }
  return work;
}

Result<CellCount> count_cells(const Suite& suite, const SweepOptions& options) {
  CONEBENCH_CHECK(check(options));
  const auto filter = CellFilter::parse(options.filter);
  if (!filter) return filter.error();
  const auto sources = all_sources(suite, options, {.simulate = false, .interrupted = nullptr, .note = {}});
  if (!sources) return sources.error();
  CellCount count;
  for (const PlannedConfiguration& configuration : plan_configurations(suite)) {
    count.solvers.insert(configuration.record.solver);
    for (const ProblemSource& source : *sources) {
      count.families.insert(source.family);
      FilterSubject subject = subject_of(source);
      subject.solver = configuration.record.solver;
      subject.configuration = configuration.record.label;
      for (const double tolerance : suite.tolerances) {
        subject.tolerance = tolerance;
        if (filter->holds(subject)) count.left += static_cast<long>(suite.starts.size());
      }
    }
  }
  return count;
}

}  // namespace conebench
