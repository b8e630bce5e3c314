#include "runners/execute/ab_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/content_address.hpp"
#include "runners/execute/baseline_build.hpp"
#include "runners/execute/cell_clock.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/process.hpp"
#include "runners/execute/processor_probe.hpp"
#include "runners/execute/rounds.hpp"
#include "runners/execute/sweep_plan.hpp"
#include "runners/execute/worker.hpp"
#include "store/build_difference.hpp"

namespace conebench {

namespace {

enum Side : std::size_t { baseline = 0, candidate = 1 };
constexpr std::array<const char*, 2> side_names = {"baseline", "candidate"};
constexpr int rounds_per_block = 2;  ///< of a side: A B B A

/// Whether the store holds these two builds on this suite, or nothing.
Result<void> check_store(const StoreContents& stored, const Suite& suite, const std::array<BuildRecord, 2>& builds) {
  for (const RunRecord& run : stored.runs) {
    std::string what;
    if (run.side.empty()) what = "an ordinary run";
    if (run.suite_name != suite.name) what = fmt::format("the suite '{}'", run.suite_name);
    for (const Side side : {baseline, candidate}) {
      if (run.side == side_names[side] && run.build.executable != builds[side].executable) {
        what = fmt::format("another build as its side '{}'", run.side);
      }
    }
    if (what.empty()) continue;
    return Error{ErrorCode::bad_input, "the store holds " + what + "; write to a store of its own with --db"};
  }
  return {};
}

/// Drops the rounds of a block that ended between the two sides.
void cut_rounds(CellRecord& cell, int rounds) {
  std::erase_if(cell.timed_rounds, [&](const RoundRecord& round) { return round.round > rounds; });
  cell.rounds = std::min(cell.rounds, rounds);
}

class AbRunLoop {
 public:
  AbRunLoop(const Suite& suite, Store& store, const AbRunOptions& options, Progress& progress, const SweepPlan& plan,
            std::array<BaselineBuild, 2> builds, std::array<RunRecord, 2>& runs)
      : suite_(suite),
        store_(store),
        options_(options),
        progress_(progress),
        plan_(plan),
        builds_(std::move(builds)),
        runs_(runs),
        processor_(last_allowed_processor()) {}

  AbRunOutcome run(const StoreContents& stored, const std::vector<std::size_t>& cells) {
    began_ = monotonic_seconds();
    for (const CellRecord& cell : stored.cells) stored_.emplace(cell.key, cell);
    for (const std::size_t cell : cells) {
      const CellRecord* const known = is_loaded(cell) ? find(cell, baseline) : nullptr;
      const auto is_its = [&](const ConfigurationRecord& configuration) {
        return known != nullptr && configuration.hash == known->configuration;
      };
      const auto reported = std::find_if(stored.configurations.begin(), stored.configurations.end(), is_its);
      if (reported != stored.configurations.end() && !learn(plan_.cells[cell].configuration, *reported)) break;
    }
    outcome_.cells = static_cast<long>(cells.size());
    const int blocks = (options_.rounds + rounds_per_block - 1) / rounds_per_block;
    state_.total = outcome_.cells * blocks;
    progress_.began(state_);
    for (int block = 1; block <= blocks; ++block) {
      std::vector<std::size_t> order = cells;
      seeded_shuffle(order, suite_.seed + static_cast<std::uint64_t>(block));
      // Last, when the baseline has reported its configurations.
      std::stable_partition(order.begin(), order.end(), [&](std::size_t cell) { return is_loaded(cell); });
      SeededSequence draws(suite_.seed + 1000003ULL * static_cast<std::uint64_t>(block));
      for (const std::size_t cell : order) {
        // Drawn for cells that are done, too: a resumed run draws alike.
        const bool baseline_first = draws.below(2) == 0;
        if (outcome_.stopped || interrupted()) break;
        if (is_done(cell, block)) {
          ++state_.resumed;
          continue;
        }
        run_block(cell, block, baseline_first);
      }
    }
    progress_.ended(state_);
    outcome_.interrupted = interrupted();
    for (const std::size_t cell : cells) {
      const bool done = is_done(cell, blocks);
      outcome_.done += done ? 1 : 0;
      outcome_.left += done || refused_.contains(cell) ? 0 : 1;
    }
    outcome_.notes.assign(notes_.begin(), notes_.end());
    return std::move(outcome_);
  }

 private:
  bool interrupted() const { return options_.sweep.interrupted != nullptr && *options_.sweep.interrupted; }

  std::string key_of(std::size_t cell, Side side) const {
    const std::string& key = plan_.cells[cell].key;
    return side == candidate ? key : content_address({key + "/" + builds_[baseline].build().executable});
  }
  const CellRecord* find(std::size_t cell, Side side) const {
    const auto found = stored_.find(key_of(cell, side));
    return found == stored_.end() ? nullptr : &found->second;
  }

  bool is_loaded(std::size_t cell) const { return plan_.problems.problems[plan_.cells[cell].problem].loaded; }
  const std::string& configuration_of(std::size_t cell, Side side) const {
    const std::size_t configuration = plan_.cells[cell].configuration;
    const auto of_baseline = baseline_configurations_.find(configuration);
    return side == baseline && of_baseline != baseline_configurations_.end()
               ? of_baseline->second
               : plan_.configurations[configuration].record.hash;
  }

  /// One that not both solve alike says no more when it is run again.
  static bool worth_timing(const CellRecord& cell) { return cell.solved && cell.status != CellStatus::flaky; }
  bool is_done(std::size_t cell, int blocks) const {
    const CellRecord* const a = find(cell, baseline);
    const CellRecord* const b = find(cell, candidate);
    if (b != nullptr && missing_.contains(plan_.cells[cell].configuration)) return true;
    if (a == nullptr || b == nullptr) return false;
    if (!worth_timing(*a) || !worth_timing(*b)) return true;
    return std::min(a->rounds, b->rounds) >= rounds_per_block * blocks;
  }

  void run_block(std::size_t cell, int block, bool baseline_first) {
    const PlannedCell& planned = plan_.cells[cell];
    const SurveyedProblem& problem = plan_.problems.problems[planned.problem];
    std::array<std::optional<CellRecord>, 2> found;
    for (const Side side : {baseline, candidate}) {
      const int before = rounds_per_block * (block - 1);
      if (const CellRecord* const stored = find(cell, side); stored != nullptr && before > 0) {
        found[side] = *stored;
        cut_rounds(*found[side], before);
        auto answer = store_.reaction(stored->key);
        if (!answer) return stop(answer.error());
        found[side]->reaction = answer->value_or(std::vector<double>{});
      }
    }
    const Side outer = baseline_first ? baseline : candidate;
    const Side inner = baseline_first ? candidate : baseline;
    const std::array<Side, 4> turns = {outer, inner, inner, outer};
    for (std::size_t turn = 0; turn < turns.size(); ++turn) {
      const Side side = turns[turn];
      if (side == baseline && missing_.contains(planned.configuration)) continue;
      const bool both = found[baseline] && found[candidate];
      if (turn >= 2 && (!both || !worth_timing(*found[baseline]) || !worth_timing(*found[candidate]))) break;
      BuildReply reply = problem.loaded ? run_round(cell, side) : not_loaded(planned, problem);
      if (interrupted()) return;
      if (reply.error && reply.error->code == ErrorCode::killed) {
        return note_once(fmt::format("{} on {} is left for the next run: {}",
                                     plan_.configurations[planned.configuration].record.label, problem.record.name,
                                     reply.error->message));
      }
      if (reply.error) {
        if (!is_missing(cell, side, *reply.error)) return;
        continue;
      }
      if (side == baseline && !learn(planned.configuration, reply.configuration)) return;
      if (!take(cell, side, std::move(reply.record), found[side])) return;
    }
    for (const Side side : {baseline, candidate}) {
      if (!found[side]) continue;
      if (const auto put = store_.put_cell(*found[side]); !put) return stop(put.error());
      stored_[found[side]->key] = *found[side];
      stored_[found[side]->key].reaction.clear();
    }
    ++outcome_.blocks;
    ++state_.done;
    state_.elapsed_s = monotonic_seconds() - began_;
    state_.cells_per_s = state_.elapsed_s > 0.0 ? static_cast<double>(state_.done) / state_.elapsed_s : 0.0;
    const auto left = static_cast<double>(state_.total - state_.resumed - state_.done);
    state_.left_s = state_.cells_per_s > 0.0 ? left / state_.cells_per_s : 0.0;
    if (found[candidate]) {
      state_.solved += found[candidate]->solved ? 1 : 0;
      progress_.cell_done(*found[candidate], problem.record, plan_.configurations[planned.configuration].record,
                          state_);
    }
  }

  /// A build without the solver or its options; the rest of an error is the cell's. False where nothing goes on.
  bool is_missing(std::size_t cell, Side side, const Error& error) {
    const PlannedCell& planned = plan_.cells[cell];
    const std::string& label = plan_.configurations[planned.configuration].record.label;
    if (side == candidate) {
      stop({error.code, fmt::format("{}: this build's own worker refuses it: {}", label, error.message)});
      return false;
    }
    if (error.code == ErrorCode::wrong_usage) {
      missing_.insert(planned.configuration);
      note_once(fmt::format("the baseline lacks {}: {}", label, error.message));
    } else {
      refused_.insert(cell);
      note_once(fmt::format("the baseline cannot take {}: {}", plan_.problems.problems[planned.problem].record.name,
                            error.message));
    }
    ++outcome_.missing;
    return true;
  }

  /// The baseline's cells are of the baseline's configuration: it may have another version or other defaults.
  bool learn(std::size_t configuration, const std::optional<ConfigurationRecord>& reported) {
    const ConfigurationRecord& own = plan_.configurations[configuration].record;
    if (!reported || !baseline_configurations_.emplace(configuration, reported->hash).second ||
        reported->hash == own.hash)
      return true;
    note_once(fmt::format("the baseline's {} is another configuration: {}", reported->solver,
                          configuration_difference(*reported, own)));
    // Or it would be taken for one that the suite no longer asks for.
    scope_.configurations[reported->hash] = {reported->solver, reported->label};
    if (scope_.part) {
      std::set<WantedCell> theirs;
      for (WantedCell cell : *scope_.part) {
        if (cell.configuration != own.hash) continue;
        cell.configuration = reported->hash;
        theirs.insert(std::move(cell));
      }
      scope_.part->merge(theirs);
    }
    runs_[candidate].scope_json = to_json_text(scope_);
    auto put = store_.put_configuration(*reported);
    if (put) put = store_.finish_run(runs_[candidate]);
    if (!put) stop(put.error());
    return put.ok();
  }

  BuildReply not_loaded(const PlannedCell& planned, const SurveyedProblem& problem) const {
    BuildReply reply{std::nullopt,
                     blank_record(request_of(suite_, plan_.configurations[planned.configuration], planned))};
    reply.record.status = problem.unsupported ? CellStatus::unsupported : CellStatus::bad_problem;
    reply.record.reason = problem.record.error;
    return reply;
  }

  BuildOrder order_for(std::size_t cell) const {
    const PlannedCell& planned = plan_.cells[cell];
    BuildOrder order;
    order.source = plan_.problems.sources[planned.problem];
    if (!order.source.file.empty()) order.source.file = std::filesystem::absolute(order.source.file);
    for (ProblemSource& member : order.source.members) {
      if (!member.file.empty()) member.file = std::filesystem::absolute(member.file);
    }
    order.cache = std::filesystem::absolute(options_.sweep.cache);
    order.problem_hash = plan_.problems.problems[planned.problem].record.hash;
    order.request = request_of(suite_, plan_.configurations[planned.configuration], planned);
    order.memory_mb = suite_.limits.memory_mb;
    order.pinned_processor = processor_;
    return order;
  }

  BuildReply run_round(std::size_t cell, Side side) {
    BuildOrder order = order_for(cell);
    order.request.repeats.min_probe_s = probes_[side].min_s();
    BuildReply reply = builds_[side].carry_out(order, options_.sweep.interrupted);
    probes_[side].see(reply.min_probe_s, monotonic_seconds());
    return reply;
  }

  BuildReply judged(BuildOrder order, CellRecord record) const {
    order.answered = std::move(record);
    return builds_[candidate].carry_out(order, nullptr);
  }

  /// Joins a round to those before; an answer of the baseline that is new is judged by this build.
  bool take(std::size_t cell, Side side, CellRecord now, std::optional<CellRecord>& found) {
    const PlannedCell& planned = plan_.cells[cell];
    now.run_id = runs_[side].id;
    for (RoundRecord& round : now.timed_rounds) round.run_id = runs_[side].id;
    now.key = key_of(cell, side);
    now.problem = plan_.problems.problems[planned.problem].record.hash;
    now.configuration = configuration_of(cell, side);
    now.limit_mb = suite_.limits.memory_mb;
    if (side == baseline && !now.reaction.empty() && !(found && same_bits(found->reaction, now.reaction))) {
      BuildReply reply = judged(order_for(cell), std::move(now));
      if (reply.error) {
        stop(*reply.error);
        return false;
      }
      now = std::move(reply.record);
    }
    if (!found) {
      found = std::move(now);
      return true;
    }
    const std::vector<double> answer = found->reaction;
    found = retimed(*found, answer, std::move(now)).record;
    found->reaction = answer;
    return true;
  }

  void note_once(const std::string& line) {
    if (notes_.insert(line).second) progress_.note(line);
  }
  void stop(const Error& error) {
    outcome_.stopped = Error{error.code, error.message + "; run the same command again to resume"};
  }

  const Suite& suite_;
  Store& store_;
  const AbRunOptions& options_;
  Progress& progress_;
  const SweepPlan& plan_;
  std::array<BaselineBuild, 2> builds_;
  std::array<RunRecord, 2>& runs_;
  SuiteScope scope_ = plan_.scope;  ///< with the baseline's configurations
  int processor_;
  std::array<MinimumProbe, 2> probes_;  ///< each build's own: it may be compiled otherwise
  double began_ = 0.0;
  std::map<std::string, CellRecord> stored_;                    ///< without answers
  std::set<std::size_t> missing_;                               ///< configurations that the baseline lacks
  std::set<std::size_t> refused_;                               ///< cells whose problem the baseline cannot take
  std::map<std::size_t, std::string> baseline_configurations_;  ///< hashes of the baseline's own, where it reported
  std::set<std::string> notes_;
  SweepState state_;
  AbRunOutcome outcome_;
};

}  // namespace

Result<AbRunOutcome> ab_run(const Suite& suite, Store& store, const AbRunOptions& options, Progress& progress) {
  const double began = monotonic_seconds();
  limit_library_threads();
  auto other = BaselineBuild::greet(options.other, options.sweep.interrupted);
  if (!other) return other.error();
  const auto own = BaselineBuild::greet(options.own, options.sweep.interrupted);
  if (!own) return own.error();
  const std::array<BuildRecord, 2> builds = {other->build(), own->build()};
  const auto contents = store.read_outcomes();
  if (!contents) return contents.error();
  CONEBENCH_CHECK(check_store(*contents, suite, builds));
  const auto plan = make_sweep_plan(suite, options.sweep, contents->problems, progress);
  if (!plan) return plan.error();

  std::vector<std::size_t> cells;
  std::set<std::string> foreign;  // solvers
  long warm = 0;
  for (std::size_t i = 0; i < plan->cells.size(); ++i) {
    const std::string& configuration = plan->configurations[plan->cells[i].configuration].record.hash;
    if (!options.configurations.empty() && !options.configurations.contains(configuration)) continue;
    if (const std::string& solver = plan->configurations[plan->cells[i].configuration].record.solver;
        plan->scope.code_hashes.contains(solver)) {
      foreign.insert(solver);
      continue;
    }
    if (plan->cells[i].start == Start::previous) {
      ++warm;
      continue;
    }
    cells.push_back(i);
  }
  AbRunOutcome outcome;
  outcome.interrupted = plan->interrupted;
  if (plan->interrupted) return outcome;
  if (!foreign.empty()) {
    const std::string why = fmt::format("{}: a plug-in or program can't be run side by side with an earlier build",
                                        fmt::join(foreign, ", "));
    if (cells.empty()) return Error{ErrorCode::bad_input, why};
    progress.note(why);
  }
  if (warm > 0) progress.note(fmt::format("{} cells that start from another's answer are not run side by side", warm));

  std::array<RunRecord, 2> runs;
  SweepOptions single = options.sweep;
  single.jobs = 1;
  const MachineLoad load = capture_load();
  for (const Side side : {baseline, candidate}) {
    describe_run(suite, single, *plan, runs[side]);
    runs[side].scope_json = to_json_text(plan->scope);
    runs[side].machine = capture_machine();
    runs[side].load_before = load.load;
    runs[side].side = side_names[side];
    runs[side].build = builds[side];
    const auto id = store.begin_run(runs[side]);
    if (!id) return id.error();
    runs[side].id = *id;
  }
  CONEBENCH_CHECK(put_plan(store, *plan));
  AbRunLoop loop(suite, store, options, progress, *plan, {*other, *own}, runs);
  outcome = loop.run(*contents, cells);
  outcome.killed_problems = static_cast<long>(plan->killed.size());
  const MachineLoad after = capture_load();
  for (RunRecord& run : runs) {
    run.load_after = after.load;
    run.steal_share = steal_share(load, after);
    if (!outcome.interrupted && !outcome.stopped && outcome.all_done()) run.finished_utc = utc_now();
    if (const auto put = store.finish_run(run); !put && !outcome.stopped) outcome.stopped = put.error();
  }
  outcome.wall_s = monotonic_seconds() - began;
  return outcome;
}

}  // namespace conebench
