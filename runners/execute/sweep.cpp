#include "runners/execute/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/plural.hpp"
#include "runners/execute/cell_clock.hpp"
#include "runners/execute/certify.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/process.hpp"
#include "runners/execute/rounds.hpp"
#include "runners/execute/sweep_loop.hpp"
#include "runners/execute/sweep_plan.hpp"
#include "runners/execute/trace_keeper.hpp"
#include "runners/plan/problem_source.hpp"
#include "solvers/registry.hpp"
#include "store/build_difference.hpp"
#include "store/run_mode.hpp"
#include "store/store_load.hpp"

namespace conebench {

namespace {

/// What must agree for answers and times to stand side by side. The other side of a side-by-side run is meant to
/// differ.
Result<void> check_same_build(const StoreContents& stored, const BuildRecord& build, const MachineRecord& machine) {
  for (const RunRecord& run : stored.runs) {
    if (run.side == "base") continue;
    std::string differs = build_difference(run.build, build);
    if (differs.empty() && run.machine.cpu != machine.cpu) {
      differs = fmt::format("processor '{}' there, '{}' here", run.machine.cpu, machine.cpu);
    }
    if (differs.empty()) continue;
    return Error{ErrorCode::bad_input,
                 fmt::format("the store holds cells of another build or machine ({}); write to a new store to measure "
                             "all anew, or keep its {} and add what is missing with --allow-mixed",
                             differs, plural(static_cast<long>(stored.cells.size()), "cell"))};
  }
  return {};
}

/// A store of two suites would rank cells side by side that nobody wanted to compare.
Result<void> check_same_suite(const std::vector<RunRecord>& runs, const std::string& suite) {
  for (const RunRecord& run : runs) {
    if (run.suite_name == suite) continue;
    return Error{ErrorCode::bad_input,
                 fmt::format("the store holds the suite '{}', this is '{}'; write to a store of its own (`conebench "
                             "report` takes several), or add to this one with --allow-mixed",
                             run.suite_name, suite)};
  }
  return {};
}

/// What ran once is never timed later, since its cell is done; timed cells would be lost among those.
Result<void> check_same_look(const std::vector<RunRecord>& runs, bool quick) {
  for (const RunRecord& run : runs) {
    if ((run.mode == quick_mode) == quick) continue;
    return Error{ErrorCode::bad_input,
                 fmt::format("the store holds a run {} --quick, this one is {}; write to a store of its own, or add to "
                             "this one with --allow-mixed",
                             quick ? "without" : "with", quick ? "with it" : "without")};
  }
  return {};
}

/// Joins one more round's `record` of a cell to what is stored of it, which it becomes.
Result<void> put_round(Store& store, const CellRecord& before, CellRecord& record) {
  if (before.trace.empty()) record.trace.clear();  // TraceKeeper counts one for one
  CONEBENCH_TRY(const auto answer, store.reaction(record.key));
  RetimedCell again = retimed(before, answer.value_or(std::vector<double>{}), std::move(record));
  record = std::move(again.record);
  if (again.change == RetimedCell::Change::none) return {};
  return again.change == RetimedCell::Change::all ? store.put_cell(record) : store.update_times(record);
}

bool not_loaded(const SurveyedProblem& problem) { return !problem.loaded && !problem.unsupported; }
bool taken_by_none(const SurveyedProblem& problem) { return !problem.loaded && problem.unsupported; }

/// A transaction a cell takes longer than a short cell.
class Batches {
 public:
  explicit Batches(Store& store) : store_(store) { store_.batch({.max_s = 0.25, .max_writes = 32}); }  // docs/store.md
  ~Batches() {
    static_cast<void>(store_.commit());  // where that fails, an earlier call has said so
    store_.batch({});
  }
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

 private:
  Store& store_;
};

/// The steps of run_sweep, and what each leaves to the next.
class Sweep {
 public:
  Sweep(const Suite& suite, Store& store, const SweepOptions& options, Progress& progress)
      : suite_(suite), store_(store), options_(options), progress_(progress) {}

  /// What the store holds; another build's or suite's is refused.
  Result<void> load() {
    CONEBENCH_TRY(stored_, store_.read());
    run_.machine = capture_machine();
    run_.build = capture_build();
    if (options_.allow_mixed) return {};
    CONEBENCH_CHECK(check_same_suite(stored_.runs, suite_.name));
    CONEBENCH_CHECK(check_same_look(stored_.runs, suite_.repeats.counts_only));
    return check_same_build(stored_, run_.build, run_.machine);
  }

  /// Problems, configurations and cells.
  Result<void> plan() {
    CONEBENCH_TRY(plan_, make_sweep_plan(suite_, options_, stored_.problems, progress_));
    outcome_.survey_s = monotonic_seconds() - began_;
    const std::set<std::size_t> asked_for = plan_.asked_for();
    outcome_.problems = static_cast<long>(asked_for.size());
    outcome_.duplicates = plan_.problems.duplicates;
    for (const std::size_t p : asked_for) {
      outcome_.bad_problems += not_loaded(plan_.problems.problems[p]) ? 1 : 0;
      outcome_.untaken_problems += taken_by_none(plan_.problems.problems[p]) ? 1 : 0;
    }
    outcome_.killed_problems = static_cast<long>(plan_.killed.size());
    outcome_.cells = static_cast<long>(plan_.cells.size());
    for (const PlannedCell& cell : plan_.cells) outcome_.keys.insert(cell.key);
    return {};
  }

  /// The cells to run; what they start from is stored or among them.
  void order() {
    work_ = work_left(plan_, stored_.cells, options_.retry);
    outcome_.resumed = work_.resumed;
    std::set<std::string> solved;
    for (const CellRecord& cell : stored_.cells) {
      if (cell.solved) solved.insert(cell.key);
    }
    const std::set<std::size_t> running(work_.to_run.begin(), work_.to_run.end());
    for (std::size_t i = 0; i < plan_.cells.size(); ++i) {
      if (!running.contains(i) && solved.contains(plan_.cells[i].key)) ++outcome_.solved;
    }
    state_.total = outcome_.cells;
    state_.resumed = outcome_.resumed;
  }

  /// The run's record. False where there is nothing to run, or the store can't be written to.
  bool begin() {
    if (plan_.interrupted) {
      outcome_.interrupted = true;
      return false;
    }
    if (!asks_for_something()) {
      // This build may describe the problems otherwise than the store does.
      if (const auto put = put_plan(store_, plan_); !put) outcome_.stopped = put.error();
      progress_.began(state_);
      progress_.ended(state_);
      return false;
    }
    describe_run(suite_, options_, plan_, run_);
    run_.load_before = load_before_.load;
    const auto id = store_.begin_run(run_);
    if (!id) {
      outcome_.stopped = id.error();
      return false;
    }
    run_.id = *id;
    if (const auto put = put_plan(store_, plan_); !put) outcome_.stopped = put.error();
    return !outcome_.stopped;
  }

  /// Each cell is judged by the worker that ran it, and stored when it comes.
  void run() {
    if (std::count(suite_.starts.begin(), suite_.starts.end(), Start::previous) > 0 &&
        std::none_of(plan_.cells.begin(), plan_.cells.end(), [](const PlannedCell& cell) { return cell.previous; })) {
      progress_.note("start \"previous\": no problem of this run follows another in a sequence, so all start cold");
    }
    TraceKeeper traces(suite_.traces, stored_.cells);
    const auto put = [&](std::size_t, CellRecord& record) -> Result<void> {
      traces.choose(record);
      CONEBENCH_CHECK(store_.put_cell(record));
      return traces.make_room(store_);
    };
    SweepLoop loop(input(put), store_, progress_, state_);
    pass(loop, work_.to_run, 0, state_);
    outcome_.run = state_.done;
    outcome_.solved += state_.solved;
    outcome_.measured = loop.measured();
    outcome_.statuses = loop.statuses();
    for (int round = 2; round <= suite_.repeats.rounds && goes_on(); ++round) run_round(round);
    cells_done_ = goes_on() && outcome_.left() == 0;
  }

  /// Whether a problem that no solver solved has a solution at all; also where an earlier run did not come to that.
  void judge_unsolved() {
    if (goes_on()) {
      const auto certified =
          certify_unsolved(store_, plan_.problems, plan_.asked_for(), options_.cache, options_.interrupted, progress_);
      if (!certified) outcome_.stopped = certified.error();
    }
    outcome_.interrupted = outcome_.interrupted || interrupted();
  }

  /// How the run went.
  void record() {
    const MachineLoad load_after = capture_load();
    run_.load_after = load_after.load;
    run_.steal_share = steal_share(load_before_, load_after);
    const bool timed = !suite_.repeats.counts_only && (!work_.to_run.empty() || outcome_.retimed > 0);
    if (timed) {  // else nothing was timed, so nothing was disturbed
      run_.noise = noise_between(run_.machine, load_before_, load_after, options_.jobs);
    }
    outcome_.noise = run_.noise;
    if (const auto now = store_.read_outcomes()) {
      if (const auto load = noise_of_load(run_, now->cells)) outcome_.noise.push_back(*load);
    }
    if (cells_done_) run_.finished_utc = utc_now();
    if (const auto finished = store_.finish_run(run_); !finished && !outcome_.stopped) {
      outcome_.stopped = finished.error();
    }
  }

  SweepOutcome outcome() {
    outcome_.wall_s = monotonic_seconds() - began_;
    return std::move(outcome_);
  }

 private:
  bool interrupted() const { return options_.interrupted != nullptr && *options_.interrupted; }
  bool goes_on() const { return !outcome_.stopped && !interrupted(); }

  /// An edit that asks for nothing new is a run, too: the ranking follows the suite as it is now.
  bool asks_for_something() {
    const auto earlier = present_scopes(stored_.runs);
    const auto before = earlier.find(suite_.name);
    if (before != earlier.end()) fill_in(plan_.scope, before->second);
    run_.scope_json = to_json_text(plan_.scope);
    const bool edited = before == earlier.end() || to_json_text(before->second) != run_.scope_json;
    return edited || !work_.to_run.empty() ||
           !cells_for_round(plan_.cells, stored_.cells, suite_.repeats.rounds).empty();
  }

  SweepLoop::Input input(const SweepLoop::Put& put) const {
    const int processor = options_.pin && options_.jobs == 1 ? last_allowed_processor() : -1;
    return {suite_,  plan_.problems, plan_.configurations, plan_.cells, options_.cache,
            run_.id, processor,      options_.interrupted, put};
  }

  void pass(SweepLoop& loop, const std::vector<std::size_t>& cells, std::uint64_t number, const SweepState& state) {
    progress_.began(state);
    loop.run(shuffled_groups(plan_.cells, cells, suite_.seed + number), options_.jobs);
    progress_.ended(state);
    outcome_.busy_s += loop.busy_seconds();
    if (loop.stopped()) outcome_.stopped = loop.stopped();
  }

  /// Once more what time may decide again.
  void run_round(int round) {
    const auto contents = store_.read();
    if (!contents) {
      outcome_.stopped = contents.error();
      return;
    }
    const auto earlier = cells_for_round(plan_.cells, contents->cells, round);
    if (earlier.empty()) return;
    progress_.note(fmt::format("round {} of {}: the solved cells are timed again, those out of time run again", round,
                               suite_.repeats.rounds));
    std::vector<std::size_t> cells;
    long solved_before = 0;
    for (const auto& [cell, record] : earlier) {
      cells.push_back(cell);
      solved_before += record.solved ? 1 : 0;
    }
    SweepState state;
    state.total = static_cast<long>(cells.size());
    const auto put = [&](std::size_t cell, CellRecord& record) { return put_round(store_, earlier.at(cell), record); };
    SweepLoop loop(input(put), store_, progress_, state);
    pass(loop, cells, static_cast<std::uint64_t>(round), state);
    outcome_.retimed += state.done;
    if (goes_on()) outcome_.not_retimed += state.total - state.done;
    if (state.done == state.total) outcome_.solved += state.solved - solved_before;
    const auto flaky = loop.statuses().find(to_string(CellStatus::flaky));
    outcome_.flaky += flaky != loop.statuses().end() ? flaky->second : 0;
  }

  const Suite& suite_;
  Store& store_;
  const SweepOptions& options_;
  Progress& progress_;
  const double began_ = monotonic_seconds();
  const MachineLoad load_before_ = capture_load();
  RunRecord run_;            ///< by load, begin and record
  StoreContents stored_;     ///< by load
  SweepPlan plan_;           ///< by plan
  Work work_;                ///< by order
  SweepState state_;         ///< of the first pass, by order and run
  bool cells_done_ = false;  ///< by run
  SweepOutcome outcome_;     ///< by all
};

}  // namespace

Result<SweepOutcome> run_sweep(const Suite& suite, Store& store, const SweepOptions& options, Progress& progress) {
  limit_library_threads();
  const Batches batches(store);
  Sweep sweep(suite, store, options, progress);
  CONEBENCH_CHECK(sweep.load());
  CONEBENCH_CHECK(sweep.plan());
  sweep.order();
  const bool runs = sweep.begin();
  if (runs) sweep.run();
  sweep.judge_unsolved();
  if (runs) sweep.record();
  return sweep.outcome();
}

Result<DryRun> dry_run(const Suite& suite, const StoreContents& stored, const SweepOptions& options,
                       Progress& progress) {
  CONEBENCH_TRY(const SweepPlan plan, preview_sweep(suite, options, progress));
  DryRun dry;
  for (int round = 2; round <= suite.repeats.rounds; ++round)
    dry.to_retime += static_cast<long>(cells_for_round(plan.cells, stored.cells, round).size());
  const Work work = work_left(plan, stored.cells, options.retry);
  const std::set<std::size_t> asked_for = plan.asked_for();
  std::set<std::size_t> configurations;
  for (const PlannedCell& cell : plan.cells) configurations.insert(cell.configuration);
  dry.problems = static_cast<long>(asked_for.size());
  dry.configurations = static_cast<long>(configurations.size());
  dry.cells = static_cast<long>(plan.cells.size());
  dry.resumed = work.resumed;
  for (const std::size_t cell : work.to_run) {
    if (!plan.problems.problems[plan.cells[cell].problem].loaded) continue;
    ++dry.solvable;
    if (find_solver(plan.configurations[plan.cells[cell].configuration].record.solver)->info.own_process)
      ++dry.of_peers;
  }
  dry.worst_cell_s = CellTime(suite.limits.seconds).attempt_s();
  // At worst all are solved, and each round again, next to the limit.
  const long attempts = suite.repeats.rounds * (dry.solvable + (max_attempts - 1) * dry.of_peers);
  dry.worst_s = static_cast<double>(attempts + dry.to_retime) * dry.worst_cell_s / options.jobs;
  for (const std::size_t p : asked_for) {
    const SurveyedProblem& problem = plan.problems.problems[p];
    dry.duplicates += static_cast<long>(problem.record.copies.size());
    dry.pending += problem.pending ? 1 : 0;
    dry.bad_problems += not_loaded(problem) ? 1 : 0;
    dry.untaken_problems += taken_by_none(problem) ? 1 : 0;
  }
  // Also those that no filter can fit, since nothing is known of them.
  for (std::size_t p = 0; p < plan.problems.problems.size(); ++p) {
    const SurveyedProblem& problem = plan.problems.problems[p];
    if (!problem.loaded && !plan.problems.sources[p].reported) dry.notes.push_back(problem.record.error);
  }
  return dry;
}

}  // namespace conebench
