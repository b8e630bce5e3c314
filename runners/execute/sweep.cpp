#include "runners/execute/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/plural.hpp"
#include "runners/execute/cell_process.hpp"
#include "runners/execute/certify.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/process.hpp"
#include "runners/execute/rounds.hpp"
#include "runners/execute/sweep_loop.hpp"
#include "runners/execute/sweep_monitor.hpp"
#include "runners/execute/sweep_plan.hpp"
#include "runners/plan/problem_source.hpp"
#include "solvers/registry.hpp"
#include "store/build_difference.hpp"
#include "store/store_load.hpp"

namespace conebench {

namespace {

/// What must agree for answers and times to stand side by side. The other side of a side-by-side run is meant to
/// differ.
std::optional<Error> check_same_build(const StoreContents& stored, const BuildRecord& build,
                                      const MachineRecord& machine) {
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

/// The rounds after the first; why they ended early.
std::optional<Error> run_rounds(SweepLoop::Input input, Store& store, int jobs, Progress& progress,
                                SweepOutcome& outcome) {
  const int rounds = input.suite.repeats.rounds;
  for (int round = 2; round <= rounds; ++round) {
    if (input.interrupted != nullptr && *input.interrupted) return std::nullopt;
    const auto contents = store.read();
    if (!contents) return contents.error();
    const auto earlier = cells_for_round(input.cells, contents->cells, round);
    if (earlier.empty()) continue;
    progress.note(
        fmt::format("round {} of {}: the solved cells are timed again, those out of time run again", round, rounds));
    std::vector<std::size_t> cells;
    long solved_before = 0;
    for (const auto& [cell, record] : earlier) {
      cells.push_back(cell);
      solved_before += record.solved ? 1 : 0;
    }
    SweepState state;
    state.total = static_cast<long>(cells.size());
    input.earlier = &earlier;
    progress.began(state);
    SweepLoop loop(input, store, progress, state);
    loop.run(shuffled_groups(input.cells, cells, input.suite.seed + static_cast<std::uint64_t>(round)), jobs);
    progress.ended(state);
    outcome.retimed += state.done;
    if (!loop.interrupted() && !loop.stopped()) outcome.not_retimed += state.total - state.done;
    if (state.done == state.total) outcome.solved += state.solved - solved_before;
    const auto flaky = loop.statuses().find(to_string(CellStatus::flaky));
    outcome.flaky += flaky != loop.statuses().end() ? flaky->second : 0;
    outcome.busy_s += loop.busy_seconds();
    if (loop.stopped()) return loop.stopped();
  }
  return std::nullopt;
}

bool not_loaded(const SurveyedProblem& problem) { return !problem.loaded && !problem.unsupported; }
bool taken_by_none(const SurveyedProblem& problem) { return !problem.loaded && problem.unsupported; }

}  // namespace

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
    if (const auto error = check_same_build(*contents, run.build, run.machine)) return *error;
  }
  auto plan = make_sweep_plan(suite, options, &contents->problems, progress);
  if (!plan) return plan.error();

  SweepOutcome outcome;
  outcome.survey_s = monotonic_seconds() - began;
  const auto& problems = plan->problems.problems;
  const std::set<std::size_t> asked_for = plan->asked_for();
  outcome.problems = static_cast<long>(asked_for.size());
  outcome.duplicates = plan->problems.duplicates;
  for (const std::size_t p : asked_for) {
    outcome.bad_problems += not_loaded(problems[p]) ? 1 : 0;
    outcome.untaken_problems += taken_by_none(problems[p]) ? 1 : 0;
  }
  outcome.killed_problems = static_cast<long>(plan->killed.size());
  outcome.cells = static_cast<long>(plan->cells.size());
  for (const PlannedCell& cell : plan->cells) outcome.keys.insert(cell.key);
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
    stored.emplace_back(cell.key, to_string(cell.status));
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
  if (work.to_run.empty() && !edited && cells_for_round(plan->cells, contents->cells, suite.repeats.rounds).empty()) {
    // What is told of the problems may be told otherwise by this build.
    if (const auto error = put_plan(store, *plan)) outcome.stopped = *error;
    progress.began(state);
    progress.ended(state);
    return finish();
  }

  describe_run(suite, options, *plan, run);
  run.load_before = load_before.load;
  const auto failed = [&](const Error& error) {
    outcome.stopped = error;
    return finish();
  };
  const auto id = store.begin_run(run);
  if (!id) return failed(id.error());
  run.id = *id;
  if (const auto error = put_plan(store, *plan)) return failed(*error);

  if (std::count(suite.starts.begin(), suite.starts.end(), Start::previous) > 0 &&
      std::none_of(plan->cells.begin(), plan->cells.end(), [](const PlannedCell& cell) { return cell.previous; })) {
    progress.note("start \"previous\": no problem of this run follows another in a sequence, so all start cold");
  }
  progress.began(state);
  const int processor = options.pin && options.jobs == 1 ? last_allowed_processor() : -1;
  const SweepLoop::Input input{suite,         plan->problems, plan->settings, plan->cells,
                               options.cache, run.id,         processor,      options.interrupted};
  SweepLoop loop(input, store, progress, state);
  loop.run(shuffled_groups(plan->cells, work.to_run, suite.seed), options.jobs);
  progress.ended(state);
  if (!loop.stopped()) outcome.stopped = run_rounds(input, store, options.jobs, progress, outcome);
  if (!loop.stopped() && !outcome.stopped && !loop.interrupted()) {
    const auto certified =
        certify_unsolved(store, plan->problems, asked_for, options.cache, options.interrupted, progress);
    if (!certified) outcome.stopped = certified.error();
  }

  outcome.run = state.done;
  outcome.solved += state.solved;
  outcome.measured = loop.measured();
  outcome.statuses = loop.statuses();
  outcome.busy_s += loop.busy_seconds();
  outcome.interrupted = loop.interrupted();
  if (loop.stopped()) outcome.stopped = loop.stopped();

  const MachineLoad load_after = capture_load();
  run.load_after = load_after.load;
  run.steal_share = steal_share(load_before, load_after);
  if (!work.to_run.empty() || outcome.retimed > 0) {  // else nothing was timed, so nothing was disturbed
    run.noise = noise_reasons(run.machine, load_before, load_after, options.jobs);
  }
  outcome.noise = run.noise;
  if (const auto now = store.read_outcomes()) {
    if (const std::string loaded = loaded_text(run, now->cells); !loaded.empty()) outcome.noise.push_back(loaded);
  }
  if (!outcome.interrupted && !outcome.stopped && outcome.left() == 0) run.finished_utc = utc_now();
  if (const auto finished = store.finish_run(run); !finished && !outcome.stopped) outcome.stopped = finished.error();
  return finish();
}

Result<DryRun> dry_run(const Suite& suite, const Store* store, const SweepOptions& options, Progress& progress) {
  auto plan = make_sweep_plan(suite, options, nullptr, progress);
  if (!plan) return plan.error();
  std::vector<std::pair<std::string, std::string>> stored;
  DryRun dry;
  if (store != nullptr) {
    auto states = store->cell_states();
    if (!states) return states.error();
    stored = std::move(*states);
  }
  if (store != nullptr && suite.repeats.rounds > 1) {
    const auto contents = store->read();
    if (!contents) return contents.error();
    for (int round = 2; round <= suite.repeats.rounds; ++round)
      dry.to_retime += static_cast<long>(cells_for_round(plan->cells, contents->cells, round).size());
  }
  const Work work = work_left(*plan, stored, options.retry);
  const std::set<std::size_t> asked_for = plan->asked_for();
  std::set<std::size_t> settings;
  for (const PlannedCell& cell : plan->cells) settings.insert(cell.setting);
  dry.problems = static_cast<long>(asked_for.size());
  dry.settings = static_cast<long>(settings.size());
  dry.cells = static_cast<long>(plan->cells.size());
  dry.resumed = work.resumed;
  for (const std::size_t cell : work.to_run) {
    if (!plan->problems.problems[plan->cells[cell].problem].loaded) continue;
    ++dry.solvable;
    if (find_solver(plan->settings[plan->cells[cell].setting].record.solver)->info.own_process) ++dry.of_peers;
  }
  dry.worst_cell_s = wall_limit(suite.limits.seconds);
  // At worst all are solved, and each round again, next to the limit.
  const long tries = suite.repeats.rounds * (dry.solvable + (most_tries - 1) * dry.of_peers);
  dry.worst_s = static_cast<double>(tries + dry.to_retime) * dry.worst_cell_s / options.jobs;
  for (const std::size_t p : asked_for) {
    const SurveyedProblem& problem = plan->problems.problems[p];
    dry.duplicates += static_cast<long>(problem.record.copies.size());
    dry.pending += problem.pending ? 1 : 0;
    if (!problem.loaded) ++(problem.unsupported ? dry.untaken_problems : dry.bad_problems);
  }
  // Also those that no filter can fit, since nothing is known of them.
  for (std::size_t p = 0; p < plan->problems.problems.size(); ++p) {
    const SurveyedProblem& problem = plan->problems.problems[p];
    if (!problem.loaded && !plan->problems.sources[p].told) dry.notes.push_back(problem.record.error);
  }
  return dry;
}

}  // namespace conebench
