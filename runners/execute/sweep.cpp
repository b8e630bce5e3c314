#include "runners/execute/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "runners/execute/cell_process.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/process.hpp"
#include "runners/execute/simulate.hpp"
#include "runners/execute/survey.hpp"
#include "runners/execute/sweep_loop.hpp"
#include "runners/execute/sweep_monitor.hpp"
#include "runners/plan/cell_plan.hpp"
#include "runners/plan/problem_source.hpp"
#include "runners/store/suite_scope.hpp"
#include "solvers/registry.hpp"

namespace conebench {

namespace {

Error usage(std::string message) { return Error{ErrorCode::wrong_usage, std::move(message)}; }

const std::vector<std::string>& all_statuses() {
  static const std::vector<std::string> statuses = {
      "converged", "max_iterations", "time_limit",    "stalled", "diverged",    "breakdown", "unsupported",
      "timeout",   "crashed",        "out_of_memory", "flaky",   "bad_problem", "skipped"};
  return statuses;
}

std::optional<Error> check(const SweepOptions& options) {
  if (options.jobs < 1 || options.jobs > 1024) return usage(fmt::format("--jobs {}: must be 1 to 1024", options.jobs));
  if (options.shards < 1 || options.shard < 1 || options.shard > options.shards) {
    return usage(fmt::format("--shard {}/{}: must be K/N with 1 <= K <= N", options.shard, options.shards));
  }
  for (const std::string& status : options.retry) {
    if (std::find(all_statuses().begin(), all_statuses().end(), status) == all_statuses().end()) {
      return usage(fmt::format("--retry: unknown status '{}'; known: {}", status, fmt::join(all_statuses(), ", ")));
    }
  }
  return std::nullopt;
}

/// What is known before the first cell runs.
struct Plan {
  ProblemSet problems;
  std::vector<PlannedSetting> settings;
  std::vector<PlannedCell> cells;
  SuiteScope scope;
  bool interrupted = false;
};

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

/// All that the suite asks for, whatever the filter and the shard leave of it.
void complete_scope(const Suite& suite, Plan& plan) {
  SuiteScope& scope = plan.scope;
  for (const SurveyedProblem& problem : plan.problems.problems) {
    scope.problems[problem.record.source] = problem.record.hash;
    for (const std::string& copy : problem.record.copies) scope.problems[copy] = problem.record.hash;
  }
  for (const PlannedSetting& setting : plan.settings) scope.settings.insert(setting.record.hash);
  scope.tolerances.insert(suite.tolerances.begin(), suite.tolerances.end());
  for (const Start start : suite.starts) scope.starts.insert(to_string(start));
  scope.criterion = to_string(suite.criterion);
  scope.verdict = suite.verdict;
  scope.max_iterations = suite.limits.iterations;
  scope.limit_s = suite.limits.seconds;
  scope.limit_mb = suite.limits.memory_mb;
}

/// A folder that goes with a look at a suite, for the scenes that are written as FCLIB.
class PassingFolder {
 public:
  PassingFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "conebench-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~PassingFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// `known`: problems of the store, whose features are taken from there; null: for a look alone, without features and
/// without leaving anything behind: scenes that have to be simulated are counted by their steps.
Result<Plan> make_plan(const Suite& suite, const SweepOptions& options, const std::vector<ProblemRecord>* known,
                       Progress& progress) {
  if (const auto error = check(options)) return *error;
  auto filter = CellFilter::parse(options.filter);
  if (!filter) return filter.error();
  const auto note = [&](const std::string& line) { progress.note(line); };
  auto sources =
      all_sources(suite, options,
                  {known != nullptr, options.interrupted, note, isolated_samples(suite.limits, options.interrupted)});
  if (!sources) return sources.error();
  Plan plan;
  for (const ProblemSource& source : *sources) plan.scope.problems[source.source];
  std::erase_if(*sources, [&](const ProblemSource& source) { return !filter->holds(subject_of(source)); });

  plan.interrupted = options.interrupted != nullptr && *options.interrupted;
  if (plan.interrupted) return plan;
  std::optional<PassingFolder> passing;
  if (known == nullptr) passing.emplace();
  const auto processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const bool conditional = std::any_of(sources->begin(), sources->end(),
                                       [](const ProblemSource& source) { return !source.conditions.empty(); });
  SurveyPlan survey{suite,
                    passing ? passing->path() : options.cache,
                    known != nullptr || conditional || filter->needs_features(),
                    {}};
  std::map<std::string, const ProblemRecord*> record_of;
  if (known != nullptr) {
    for (const ProblemRecord& record : *known) {
      survey.known.insert(record.hash);
      record_of[record.hash] = &record;
    }
  }
  std::vector<SurveyedProblem> pending;
  std::vector<ProblemSource> pending_sources;
  for (const ProblemSource& source : *sources) {
    if (!source.pending) continue;
    pending.push_back(survey_pending(source));
    pending_sources.push_back(source);
  }
  std::erase_if(*sources, [](const ProblemSource& source) { return source.pending; });
  auto surveyed = survey_sources(survey, *sources, std::max(options.jobs, processors), options.interrupted, progress);
  std::move(pending.begin(), pending.end(), std::back_inserter(surveyed));
  std::move(pending_sources.begin(), pending_sources.end(), std::back_inserter(*sources));
  plan.interrupted = options.interrupted != nullptr && *options.interrupted;
  if (plan.interrupted) return plan;
  for (SurveyedProblem& problem : surveyed) {
    if (const auto found = record_of.find(problem.record.hash); found != record_of.end()) {
      copy_features(*found->second, problem.record);
    }
  }
  if (conditional) {
    for (const std::string& left_out : leave_out_unwanted(*sources, surveyed)) plan.scope.problems.erase(left_out);
  }
  plan.problems = resolve_duplicates(std::move(*sources), std::move(surveyed));
  plan.settings = plan_settings(suite);
  complete_scope(suite, plan);
  plan.cells =
      plan_cells(suite, plan.problems.problems, plan.settings, {options.shard, options.shards, std::move(*filter)});
  return plan;
}

/// The cells that are not stored yet, or to be done again.
struct Work {
  std::vector<std::size_t> to_run;
  long resumed = 0;
};

Work work_left(const Plan& plan, const std::vector<std::pair<std::string, std::string>>& stored,
               const std::vector<std::string>& retry) {
  const std::map<std::string, std::string> status_of(stored.begin(), stored.end());
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

/// What must agree for times to be comparable.
std::optional<Error> check_same_build(const std::vector<RunRecord>& runs, const BuildRecord& build,
                                      const MachineRecord& machine) {
  for (const RunRecord& run : runs) {
    std::string differs;
    const auto compare = [&](const char* what, const std::string& there, const std::string& here) {
      if (differs.empty() && there != here) differs = fmt::format("{} '{}', this is '{}'", what, there, here);
    };
    compare("version", run.build.version, build.version);
    compare("commit", run.build.commit, build.commit);
    compare("compiler", run.build.compiler, build.compiler);
    compare("flags", run.build.flags, build.flags);
    compare("build type", run.build.build_type, build.build_type);
    compare("native", run.build.native ? "yes" : "no", build.native ? "yes" : "no");
    for (const auto& [library, version] : build.libraries) {
      const auto there = run.build.libraries.find(library);
      compare(library.c_str(), there == run.build.libraries.end() ? "absent" : there->second, version);
    }
    compare("processor", run.machine.cpu, machine.cpu);
    if (differs.empty()) continue;
    return Error{ErrorCode::bad_input, "the store holds cells of another build or machine (" + differs +
                                           "); write to a new store, or add to this one with --allow-mixed"};
  }
  return std::nullopt;
}

/// A store of two suites would rank cells side by side that nobody wanted to compare.
std::optional<Error> check_same_suite(const std::vector<RunRecord>& runs, const std::string& suite) {
  for (const RunRecord& run : runs) {
    if (run.suite_name == suite) continue;
    return Error{ErrorCode::bad_input,
                 fmt::format("the store holds the suite '{}', this is '{}'; write to a store of its own (`conebench "
                             "report` takes several), or add to this one with --allow-mixed",
                             run.suite_name, suite)};
  }
  return std::nullopt;
}

std::optional<Error> put_all(Store& store, const Plan& plan) {
  std::set<std::size_t> problems, settings;
  std::map<std::string, std::size_t> index_of;
  for (std::size_t i = 0; i < plan.problems.problems.size(); ++i) index_of[plan.problems.problems[i].record.hash] = i;
  for (const PlannedCell& cell : plan.cells) {
    problems.insert(cell.problem);
    settings.insert(cell.setting);
    // The original that a twin names is described, too, though this shard or filter may hold no cell of it.
    const auto original = index_of.find(plan.problems.problems[cell.problem].record.duplicate_of);
    if (original != index_of.end()) problems.insert(original->second);
  }
  for (const std::size_t problem : problems) {
    if (const auto put = store.put_problem(plan.problems.problems[problem].record); !put) return put.error();
  }
  for (const std::size_t setting : settings) {
    if (const auto put = store.put_setting(plan.settings[setting].record); !put) return put.error();
  }
  return std::nullopt;
}

std::atomic<bool> interrupt_flag{false};
void on_interrupt(int signal) {
  if (interrupt_flag.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

bool not_loaded(const SurveyedProblem& problem) { return !problem.loaded && !problem.unsupported; }
bool taken_by_none(const SurveyedProblem& problem) { return !problem.loaded && problem.unsupported; }

}  // namespace

Result<CellCount> count_cells(const Suite& suite, const SweepOptions& options) {
  if (const auto error = check(options)) return *error;
  const auto filter = CellFilter::parse(options.filter);
  if (!filter) return filter.error();
  const auto sources = all_sources(suite, options, {.simulate = false, .interrupted = nullptr, .note = {}});
  if (!sources) return sources.error();
  CellCount count;
  for (const PlannedSetting& setting : plan_settings(suite)) {
    count.solvers.insert(setting.record.solver);
    for (const ProblemSource& source : *sources) {
      count.families.insert(source.family);
      FilterSubject subject = subject_of(source);
      subject.solver = setting.record.solver;
      subject.setting = setting.record.label;
      for (const double tolerance : suite.tolerances) {
        subject.tolerance = tolerance;
        const auto starts = static_cast<long>(suite.starts.size());
        count.cells += starts;
        if (filter->holds(subject)) count.left += starts;
      }
    }
  }
  return count;
}

Result<SweepOutcome> run_sweep(const Suite& suite, Store& store, const SweepOptions& options, Progress& progress) {
  const double began = monotonic_seconds();
  limit_library_threads();
  const MachineLoad load_before = capture_load();
  auto contents = store.read();
  if (!contents) return contents.error();
  RunRecord run;
  run.machine = capture_machine();
  run.build = capture_build();
  if (!options.allow_mixed) {
    if (const auto error = check_same_suite(contents->runs, suite.name)) return *error;
    if (const auto error = check_same_build(contents->runs, run.build, run.machine)) return *error;
  }
  auto plan = make_plan(suite, options, &contents->problems, progress);
  if (!plan) return plan.error();

  SweepOutcome outcome;
  outcome.survey_s = monotonic_seconds() - began;
  outcome.problems = static_cast<long>(plan->problems.problems.size());
  outcome.duplicates = plan->problems.duplicates;
  const auto& problems = plan->problems.problems;
  outcome.bad_problems = std::count_if(problems.begin(), problems.end(), not_loaded);
  outcome.untaken_problems = std::count_if(problems.begin(), problems.end(), taken_by_none);
  outcome.cells = static_cast<long>(plan->cells.size());
  const auto finish = [&] {
    outcome.wall_s = monotonic_seconds() - began;
    return outcome;
  };
  if (plan->interrupted) {
    outcome.interrupted = true;
    return finish();
  }

  std::vector<std::pair<std::string, std::string>> stored;
  std::set<std::string> solved_keys;
  for (const CellRecord& cell : contents->cells) {
    stored.emplace_back(cell.key, cell.status);
    if (cell.solved) solved_keys.insert(cell.key);
  }
  const Work work = work_left(*plan, stored, options.retry);
  outcome.resumed = work.resumed;
  std::set<std::size_t> running(work.to_run.begin(), work.to_run.end());
  for (std::size_t i = 0; i < plan->cells.size(); ++i) {
    if (!running.contains(i) && solved_keys.contains(plan->cells[i].key)) ++outcome.solved;
  }
  SweepState state;
  state.total = outcome.cells;
  state.resumed = outcome.resumed;
  const auto earlier = present_scopes(contents->runs);
  const auto before = earlier.find(suite.name);
  if (before != earlier.end()) fill_in(plan->scope, before->second);
  run.scope_json = to_json_text(plan->scope);
  // An edit that asks for nothing new is a run, too: the ranking follows the suite as it is now.
  const bool edited = before == earlier.end() || to_json_text(before->second) != run.scope_json;
  if (work.to_run.empty() && !edited) {
    progress.began(state);
    progress.ended(state);
    return finish();
  }

  run.suite_name = suite.name;
  run.suite_text = suite.text;
  const std::filesystem::path data = options.data.empty() ? data_folder_of_environment() : options.data;
  std::error_code ignored;
  if (!suite.folder.empty()) run.suite_folder = std::filesystem::absolute(suite.folder, ignored).string();
  if (!data.empty()) run.data_folder = std::filesystem::absolute(data, ignored).string();
  run.seed = suite.seed;
  run.started_utc = utc_now();
  run.mode = options.jobs == 1 ? "timed" : "throughput";
  run.jobs = options.jobs;
  run.load_before = load_before.load;
  const auto failed = [&](const Error& error) {
    outcome.stopped = error;
    return finish();
  };
  const auto id = store.begin_run(run);
  if (!id) return failed(id.error());
  run.id = *id;
  if (const auto error = put_all(store, *plan)) return failed(*error);

  if (std::count(suite.starts.begin(), suite.starts.end(), Start::previous) > 0 &&
      std::none_of(plan->cells.begin(), plan->cells.end(), [](const PlannedCell& cell) { return cell.previous; })) {
    progress.note("start \"previous\": no problem of this run follows another in a sequence, so all start cold");
  }
  progress.began(state);
  const int processor = options.pin && options.jobs == 1 ? last_allowed_processor() : -1;
  SweepLoop loop(
      {suite, plan->problems, plan->settings, plan->cells, options.cache, run.id, processor, options.interrupted},
      store, progress, state);
  loop.run(shuffled_groups(plan->cells, work.to_run, suite.seed), options.jobs);
  progress.ended(state);

  outcome.run = state.done;
  outcome.solved += state.solved;
  outcome.measured = loop.measured();
  outcome.statuses = loop.statuses();
  outcome.busy_s = loop.busy_seconds();
  outcome.interrupted = loop.interrupted();
  outcome.stopped = loop.stopped();

  const MachineLoad load_after = capture_load();
  run.load_after = load_after.load;
  run.steal_share = steal_share(load_before, load_after);
  if (!work.to_run.empty()) {  // nothing was timed, so nothing was disturbed
    run.noise = noise_reasons(run.machine, load_before, load_after, options.jobs, loop.scattered());
  }
  outcome.noise = run.noise;
  if (!outcome.interrupted && !outcome.stopped) run.finished_utc = utc_now();
  if (const auto finished = store.finish_run(run); !finished && !outcome.stopped) outcome.stopped = finished.error();
  return finish();
}

Result<DryRun> dry_run(const Suite& suite, const Store* store, const SweepOptions& options, Progress& progress) {
  auto plan = make_plan(suite, options, nullptr, progress);
  if (!plan) return plan.error();
  std::vector<std::pair<std::string, std::string>> stored;
  if (store != nullptr) {
    auto states = store->cell_states();
    if (!states) return states.error();
    stored = std::move(*states);
  }
  DryRun dry;
  const Work work = work_left(*plan, stored, options.retry);
  dry.problems = static_cast<long>(plan->problems.problems.size());
  dry.duplicates = plan->problems.duplicates;
  dry.settings = static_cast<long>(plan->settings.size());
  dry.cells = static_cast<long>(plan->cells.size());
  dry.resumed = work.resumed;
  for (const std::size_t cell : work.to_run) {
    if (!plan->problems.problems[plan->cells[cell].problem].loaded) continue;
    ++dry.solvable;
    if (find_solver(plan->settings[plan->cells[cell].setting].record.solver)->info.own_process) ++dry.of_peers;
  }
  dry.worst_cell_s = wall_limit(suite.limits.seconds);
  const long tries = dry.solvable + (most_tries - 1) * dry.of_peers;
  dry.worst_s = static_cast<double>(tries) * dry.worst_cell_s / options.jobs;
  for (const SurveyedProblem& problem : plan->problems.problems) {
    dry.pending += problem.pending ? 1 : 0;
    if (problem.loaded) continue;
    ++(problem.unsupported ? dry.untaken_problems : dry.bad_problems);
    dry.notes.push_back(problem.record.error);
  }
  return dry;
}

InterruptGuard::InterruptGuard() {
  interrupt_flag = false;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& InterruptGuard::flag() const { return interrupt_flag; }

}  // namespace conebench
