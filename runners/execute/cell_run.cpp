#include "runners/execute/cell_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "metrics/residuals.hpp"
#include "problems/conversions.hpp"
#include "runners/execute/batch_run.hpp"
#include "runners/execute/cell_clock.hpp"
#include "runners/execute/processor_probe.hpp"
#include "runners/execute/stand_in.hpp"
#include "runners/execute/sweep_monitor.hpp"
#include "runners/execute/timing.hpp"
#include "solvers/outside_time.hpp"
#include "solvers/registry.hpp"
#include "store/unanswered.hpp"

namespace conebench {

namespace {

constexpr double max_bytes_to_condense = 4e9;

/// Whether judge_cell will accept an answer within the time limit.
bool passes(const ContactProblem& problem, const CellRequest& request, ConstVectorRef impulse) {
  return is_solved(judge(problem, impulse)[request.verdict], request.tolerance);
}

/// One set-up and one solve.
struct Run {
  double setup_s = 0.0;
  double solve_s = 0.0;
  double processor_s = 0.0;  ///< used in the solve, including checks of the verdict
  double passed_s = 0.0;     ///< in the solve
  std::optional<OutsideTime> outside = std::nullopt;
  SolveSummary summary;
  Vector impulse;
  double total() const { return setup_s + solve_s; }
};

CellStatus cell_status(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged: return CellStatus::converged;
    case SolveStatus::max_iterations: return CellStatus::max_iterations;
    case SolveStatus::time_limit: return CellStatus::time_limit;
    case SolveStatus::stalled: return CellStatus::stalled;
    case SolveStatus::diverged: return CellStatus::diverged;
    case SolveStatus::breakdown: return CellStatus::breakdown;
    case SolveStatus::unsupported: return CellStatus::unsupported;
  }
  return CellStatus::unknown;
}

std::string describe(Stall stall) {
  switch (stall) {
    case Stall::unstated: return "";
    case Stall::rounding: return "no step beyond rounding for many iterations";
    case Stall::option: return "its step fell below the option stall";
    case Stall::stages: return "nothing is left that it could try";
    case Stall::joints: return "the joints contradict each other";
  }
  return "";
}

std::string reason_of(const SolveSummary& summary, const Vector& impulse) {
  std::string reason = to_string(summary.breakdown);
  const auto add = [&reason](const char* between, const std::string& text) {
    if (!text.empty()) reason += (reason.empty() ? "" : between) + text;
  };
  if (summary.status == SolveStatus::stalled) add(": ", describe(summary.stall));
  add(summary.status == SolveStatus::stalled ? "; " : ": ", summary.message);
  if (reason.empty() && summary.status == SolveStatus::stalled) reason = "the solver says so";
  if (reason.empty() && !impulse.allFinite()) reason = "the answer is not finite";
  return reason;
}

/// Empty: the two are equal bit for bit.
std::string difference(const Vector& first, const Vector& other) {
  for (Index row = 0; row < first.size(); ++row) {
    if (std::memcmp(&first[row], &other[row], sizeof(double)) != 0) {
      return fmt::format("differs from the first in row {}: {} instead of {}", row, other[row], first[row]);
    }
  }
  return {};
}

std::string difference(const Run& first, const Run& other) {
  if (first.summary.status != other.summary.status) {
    return fmt::format("ended as {} instead of {}", to_string(other.summary.status), to_string(first.summary.status));
  }
  if (first.summary.iterations != other.summary.iterations) {
    return fmt::format("took {} iterations instead of {}", other.summary.iterations, first.summary.iterations);
  }
  return difference(first.impulse, other.impulse);
}

std::vector<double> to_std(const Vector& vector) { return {vector.data(), vector.data() + vector.size()}; }
Eigen::Map<const Vector> as_eigen(const std::vector<double>& values) {
  return {values.data(), static_cast<Index>(values.size())};
}

/// Builds solvers of one configuration and runs them on one problem.
class Runner {
 public:
  Runner(const ContactProblem& problem, const CellRequest& request, const SolverRow& row)
      : problem_(problem), request_(request), row_(row), time_(request.seconds), guess_(Vector::Zero(problem.rows())) {
    if (request.start == Start::guess && problem.guess()) guess_ = *problem.guess();
    if (request.start == Start::previous && request.start_impulse.size() > 0) guess_ = request.start_impulse;
  }

  /// Makes and prepares a solver, or returns why not. Foreign code could work as soon as it sees the problem, so calls
  /// before set-up count as set-up. `phase` may be null.
  struct Prepared {
    std::unique_ptr<Solver> solver;
    std::optional<std::string> refusal = std::nullopt;
  };
  Result<Prepared> prepare(Run& run, bool is_first, const PhaseCallback& phase = nullptr) const {
    const bool foreign = row_.foreign != ForeignCode::none;
    auto solver = row_.make(request_.options);
    if (!solver) return solver.error();
    Prepared prepared{std::move(*solver)};
    if (foreign && phase) phase(CellPhase::set_up);
    double used = processor_seconds(), begin = monotonic_seconds();
    if (is_first || foreign) {
      prepared.refusal = prepared.solver->unsupported_reason(problem_);
      if (!prepared.refusal) prepared.refusal = too_large(*prepared.solver);
    }
    if (!prepared.refusal) {
      if (!foreign) {
        if (phase) phase(CellPhase::set_up);
        used = processor_seconds();
        begin = monotonic_seconds();
      }
      if (const auto ready = prepared.solver->prepare(problem_); !ready) prepared.refusal = ready.error().message;
    }
    run.setup_s = monotonic_seconds() - begin;
    run.processor_s = processor_seconds() - used;
    run.passed_s = run.setup_s;
    return prepared;
  }

  /// Starts `monitor` if it has start(). The monitor's time is included; the caller subtracts what does not count.
  template <class Watcher>
  void solve(Solver& solver, Watcher& monitor, Run& run) const {
    run.impulse = Vector::Zero(problem_.rows());
    const StopRule stop{request_.tolerance, request_.max_iterations, request_.stop_by};
    // The monitor's untimed seconds are part of the timed ones.
    const double used = processor_seconds();
    const double begin = monotonic_seconds();
    if constexpr (requires { monitor.allow({}); }) monitor.allow({time_.given_s(run.setup_s), request_.memory_mb});
    if constexpr (requires { monitor.start(); }) monitor.start();
    run.summary = solver.solve(guess_, stop, monitor, run.impulse);
    run.solve_s = monotonic_seconds() - begin;
    run.processor_s += processor_seconds() - used;
    run.passed_s += run.solve_s;
    if constexpr (requires { monitor.outside(); }) run.outside = monitor.outside();
    if (!run.outside) return;
    run.solve_s = run.outside->wall_s;
    if constexpr (requires { monitor.paid_seconds(); }) run.solve_s += monitor.paid_seconds();
    run.processor_s = run.outside->processor_s;
    run.passed_s = run.outside->wall_s;
  }

  /// Solves again, up to the iterate where the first run, `done`, ended. `verdict` null: only that ends it.
  void repeat(Solver& solver, const CellRun& done, Verdict* verdict, Run& run) const {
    if (request_.stop_by != StopBy::judge_timed || verdict == nullptr) {
      ReplayMonitor monitor(done.stops);
      return solve(solver, monitor, run);
    }
    SweepMonitor monitor(verdict, request_.tolerance, time_.left_s(run.setup_s), true, request_.max_iterations);
    watch_proposals(monitor);
    // A solver with one check in its last attempt begins with that attempt. Others pay for all their checks again.
    if (row_.info.own_process && done.checks <= 1) monitor.begin_at(done.stops.at);
    solve(solver, monitor, run);
    if (!run.outside) run.solve_s -= monitor.resolving_seconds();
  }

  void watch_proposals(SweepMonitor& monitor) const {
    if (row_.measures == request_.verdict) monitor.judge_proposals_only();
    // An answer that is refused for rounding alone would be solved again to a tighter tolerance.
    if (row_.info.own_process) {
      monitor.resolve_by([this](ConstVectorRef impulse) { return passes(problem_, request_, impulse); });
    }
  }

 private:
  std::optional<std::string> too_large(const Solver& solver) const {
    if (!solver.needs_matrix(problem_) || works_on_matrix(solver, problem_)) return std::nullopt;
    return fmt::format("{} works on the assembled G, which takes {:.1f} GB here, more than the {:.0f} GB allowed",
                       row_.info.id, 1e-9 * problem_.bytes_to_condense(), 1e-9 * max_bytes_to_condense);
  }

  const ContactProblem& problem_;
  const CellRequest& request_;
  const SolverRow& row_;
  CellTime time_;
  Vector guess_;
};

void write_answer(CellRecord& record, const Run& run) {
  const SolveSummary& summary = run.summary;
  record.status = cell_status(summary.status);
  record.reason = reason_of(summary, run.impulse);
  record.claimed = summary.status == SolveStatus::converged;
  record.stage = summary.stage;
  record.own_residual_known = !std::isnan(summary.own_residual);
  record.own_residual = record.own_residual_known ? summary.own_residual : 0.0;
  record.solved_symmetrised = summary.solved_symmetrised;
  record.compliance_share = summary.compliance_share;
  record.iterations = summary.iterations;
  record.factorizations = summary.factorizations;
  record.operator_products = summary.operator_products;
  record.reaction = to_std(run.impulse);
}

RunTime time_of(const Run& run, double probe_s) {
  RunTime time{run.setup_s, run.solve_s, had_its_processor(run.processor_s, run.passed_s), probe_s, run.outside};
  if (run.outside && run.outside->own_ranks) {
    time.setup_s = run.outside->own_setup_s.value_or(0.0);
    time.solve_s = run.outside->own_solve_s.value_or(0.0);
  }
  return time;
}

void write_times(CellRecord& record, const RunTimes& times) {
  record.setup = times.setup();
  record.solve = times.solve();
  record.total = times.total();
  record.wall_s = times.outside([](const OutsideTime& time) { return std::optional(time.wall_s); });
  record.own_setup_s = times.outside([](const OutsideTime& time) { return time.own_setup_s; });
  record.own_solve_s = times.outside([](const OutsideTime& time) { return time.own_solve_s; });
  record.repeats = static_cast<int>(times.size());
  record.timed_rounds = {{.minimum = record.total.minimum, .median = record.total.median}};
}

/// An answer after the deadline is judged, but not solved, whether the solver checks the deadline or can't.
CellRun too_late(CellRun run, const Run& late) {
  const bool noticed = run.record.status == CellStatus::time_limit;
  run.record.status = CellStatus::time_limit;
  if (!noticed)
    run.record.reason = fmt::format("came back after {:.3g} s, {} s allowed", late.total(), run.record.limit_s);
  run.record.claimed = false;
  RunTimes times;
  times.add({late.setup_s, late.solve_s, had_its_processor(late.processor_s, late.passed_s), 0.0, late.outside});
  write_times(run.record, times);
  return run;
}

/// One cell: a first run under SweepMonitor, then repeats if it solved the problem.
class Trial {
 public:
  Trial(const ContactProblem& problem, const CellRequest& request, const SolverRow& row, Verdict& verdict,
        const PhaseCallback& phase)
      : problem_(problem),
        request_(request),
        row_(row),
        verdict_(verdict),
        phase_(phase),
        time_(request.seconds),
        watched_(request.stop_by == StopBy::solver ? nullptr : &verdict),
        watched_problem_(problem.watched(seen_)),
        first_runner_(watched_problem_, request, row),
        runner_(problem, request, row),
        result_{blank_record(request)},
        times_(request.repeats.min_probe_s) {}

  Result<CellRun> run() {
    const ProcessorUse use;
    CONEBENCH_TRY(const std::optional<std::string> refusal, run_first());
    CellRecord& record = result_.record;
    if (refusal) {
      record.status = CellStatus::unsupported;
      record.reason = *refusal;
      return std::move(result_);
    }
    write_answer(record, first_);
    record.used = used_parts(*seen_);
    if (time_.is_late(first_.total())) return too_late(std::move(result_), first_);
    CONEBENCH_CHECK(run_again());
    write_times(record, times_);
    result_.min_probe_s = times_.min_probe();
    record.timed_rounds[0].cpu_share = use.share();
    record.timed_rounds[0].switches = use.switches();
    return std::move(result_);
  }

 private:
  void enter(CellPhase now) const {
    if (phase_) phase_(now);
  }

  /// Releases the solver within the time limit, like everything that foreign code does.
  void release(Runner::Prepared& prepared) const {
    if (row_.foreign != ForeignCode::none) enter(CellPhase::releasing);
    prepared.solver.reset();
  }

  /// Why the solver does not take the problem; nullopt: it does.
  Result<std::optional<std::string>> run_first() {
    if (row_.load) row_.load();
    const double began = monotonic_seconds();
    const bool paid = request_.stop_by == StopBy::judge_timed;
    CONEBENCH_TRY(auto prepared, first_runner_.prepare(first_, true, [this](CellPhase now) { enter(now); }));
    if (prepared.refusal) return prepared.refusal;
    enter(CellPhase::solving);
    SweepMonitor monitor(watched_, request_.tolerance, time_.left_s(first_.setup_s), paid, request_.max_iterations);
    monitor.at_each_new_attempt([this] { enter(CellPhase::solving); });
    runner_.watch_proposals(monitor);
    if (request_.follow) monitor.follow();
    first_runner_.solve(*prepared.solver, monitor, first_);
    if (first_.summary.status == SolveStatus::unsupported) return std::optional(first_.summary.message);
    release(prepared);
    result_.busy_s = monotonic_seconds() - began;
    if (!first_.outside) first_.solve_s -= monitor.untimed_seconds();
    result_.record.judge_s = paid ? 0.0 : monitor.judge_seconds();
    result_.stops = monitor.stops();
    result_.checks = monitor.checks();
    // A line needs two points.
    if (monitor.trace().size() > 1) result_.record.trace = monitor.trace();
    for (TracePoint& point : result_.record.trace) point.seconds += first_.setup_s;
    if (monitor.attempts() > 1) {
      first_.summary.message += fmt::format(
          "{}the answer of run {}, each with a tighter tolerance of its own; the runs before it took {:.3g} "
          "s, which is in no time",
          first_.summary.message.empty() ? "" : "; ", monitor.attempts(), monitor.thrown_away_seconds());
    }
    return std::optional<std::string>();
  }

  /// Repeats until enough runs count (RunTimes::another), or one differs from the first.
  Result<void> run_again() {
    probed_ = request_.repeats.maximum > 1;
    // The first call is slow anyway.
    if (probed_) probe_processor();
    probe_s_ = probed_ ? probe_processor() : 0.0;
    times_.add(time_of(first_, probe_s_));
    enter(CellPhase::judging);
    const double judging = monotonic_seconds();
    worst_ = verdict_(first_.impulse);
    const bool solved = is_solved_first();
    enter(CellPhase::repeating);
    const double repeating = monotonic_seconds();
    for (bool same = true; same && solved && another(monotonic_seconds() - repeating);) {
      CONEBENCH_TRY(same, repeat_group());
    }
    result_.busy_s += monotonic_seconds() - judging;
    return {};
  }

  /// In double; in more digits if rounding may decide.
  bool is_solved_first() const {
    if (worst_ <= request_.tolerance) return true;
    const bool open = worst_ <= open_verdict * request_.tolerance || result_.record.claimed;
    return open && passes(problem_, request_, first_.impulse);
  }

  bool another(double passed_s) {
    if (!times_.another(request_.repeats, request_.seconds, passed_s)) return false;
    // Its own times do not show how long it occupies the machine.
    return !first_.outside || !time_.is_late(passed_s + first_.outside->wall_s);
  }

  /// Repeats between two probes of the processor: one, or if times need only settle, as many short ones as take ten
  /// times as long as a probe. False: one ended otherwise than the first run.
  Result<bool> repeat_group() {
    const double before_s = probe_s_;
    const bool grouped = request_.repeats.precision > 0.0 && row_.foreign == ForeignCode::none;
    const double min_s = grouped ? 10.0 * before_s : 0.0;
    double passed_s = 0.0;
    bool same = true;
    do {
      CONEBENCH_TRY(same, repeat_once());
      if (!unprobed_.empty()) passed_s += unprobed_.back().total();
    } while (same && passed_s < min_s && left_to_count() > 0);
    probe_s_ = probed_ ? probe_processor() : 0.0;
    for (RunTime& run : unprobed_) {
      run.probe_s = std::max(before_s, probe_s_);
      times_.add(run);
    }
    unprobed_.clear();
    return same;
  }

  std::size_t runs() const { return times_.size() + unprobed_.size(); }
  long left_to_count() const {
    return request_.repeats.maximum - times_.counted() - static_cast<long>(unprobed_.size());
  }

  /// Whether it ended like the first run, bit for bit.
  Result<bool> repeat_once() {
    Run repeat;
    CONEBENCH_TRY(auto prepared, runner_.prepare(repeat, false));
    if (prepared.refusal) {
      result_.record.status = CellStatus::flaky;
      result_.record.reason = fmt::format("run {}: set-up failed: {}", runs() + 1, *prepared.refusal);
      return false;
    }
    runner_.repeat(*prepared.solver, result_, watched_, repeat);
    if (row_.foreign != ForeignCode::none) {
      release(prepared);
      enter(CellPhase::repeating);
    }
    unprobed_.push_back(time_of(repeat, 0.0));
    const std::string differs = difference(first_, repeat);
    if (differs.empty()) return true;
    // The worst answer is kept, so that the cell is solved only if every answer passes.
    if (!(verdict_(repeat.impulse) <= worst_)) write_answer(result_.record, repeat);
    result_.record.status = CellStatus::flaky;
    result_.record.reason = fmt::format("run {} {}", runs(), differs);
    return false;
  }

  const ContactProblem& problem_;
  const CellRequest& request_;
  const SolverRow& row_;
  Verdict& verdict_;
  const PhaseCallback& phase_;
  CellTime time_;
  Verdict* watched_;
  std::shared_ptr<ProblemUse> seen_ = std::make_shared<ProblemUse>();
  ContactProblem watched_problem_;
  Runner first_runner_, runner_;
  CellRun result_;
  Run first_;
  RunTimes times_;
  std::vector<RunTime> unprobed_;  ///< runs since the last probe
  double worst_ = 0.0;
  bool probed_ = false;
  double probe_s_ = 0.0;
};

/// Runs `work` and turns exceptions of a solver into a record's status.
template <class Work>
Result<CellRun> guarded(const CellRequest& request, Work work) {
  CellRun failed{blank_record(request)};
  try {
    return work();
  } catch (const std::bad_alloc&) {
    failed.record.status = CellStatus::out_of_memory;
    failed.record.reason = "an allocation was refused";
  } catch (const std::exception& exception) {
    failed.record.status = CellStatus::crashed;
    failed.record.reason = std::string("exception: ") + exception.what();
  } catch (...) {
    failed.record.status = CellStatus::crashed;
    failed.record.reason = "exception of an unknown type";
  }
  return failed;
}

}  // namespace

const char* to_string(CellPhase phase) {
  switch (phase) {
    case CellPhase::starting: return "starting";
    case CellPhase::set_up: return "set-up";
    case CellPhase::solving: return "solve";
    case CellPhase::judging: return "judging";
    case CellPhase::repeating: return "a repeat";
    case CellPhase::releasing: return "release";
  }
  return "unknown";
}

bool works_on_matrix(const Solver& solver, const ContactProblem& problem) {
  return solver.needs_matrix(problem) && problem.bytes_to_condense() <= max_bytes_to_condense;
}

CellRecord blank_record(const CellRequest& request) {
  CellRecord record;
  record.tolerance = request.tolerance;
  record.stop_by = to_string(request.stop_by);
  record.verdict = request.verdict;
  record.start = record.start_used = to_string(request.start);
  record.max_iterations = request.max_iterations;
  record.limit_s = request.seconds;
  return record;
}

Result<void> check_request(const ContactProblem& problem, const CellRequest& request) {
  CONEBENCH_TRY(const auto row, require_solver(request.solver));
  CONEBENCH_CHECK(row->effective_options(request.options));
  CONEBENCH_CHECK(Verdict::create(request.verdict, problem));
  return {};
}

Result<CellRun> run_cell(const ContactProblem& problem, const CellRequest& request, const PhaseCallback& phase) {
  CONEBENCH_CHECK(check_request(problem, request));
  const auto row = require_solver(request.solver);
  auto verdict = Verdict::create(request.verdict, problem);

  CellRun result{blank_record(request)};
  if (problem.rows() == 0) {
    result.record.status = CellStatus::converged;
    result.record.reason = "no constraints: nothing to solve";
    result.record.claimed = true;
    result.record.repeats = 1;
    return result;
  }
  if (request.start == Start::guess && !problem.guess()) {
    result.record.status = CellStatus::unsupported;
    result.record.reason = "the problem has no guess to start from";
    return result;
  }
  return guarded(request, [&] { return Trial(problem, request, **row, *verdict, phase).run(); });
}

Result<CellRun> run_cell(std::span<const ContactProblem> members, const CellRequest& request,
                         const PhaseCallback& phase) {
  return members.size() == 1 ? run_cell(members.front(), request, phase) : run_batch(members, request, phase);
}

namespace {

/// Runs the cell of `done` once more under `monitor`, which ends it at the same iterate.
template <class Watcher>
Result<void> follow(const ContactProblem& problem, const CellRequest& request, const SolverRow& row, Watcher& monitor,
                    CellRun& done) {
  const Runner runner(problem, request, row);
  Run run;
  auto traced = guarded(request, [&]() -> Result<CellRun> {
    auto prepared = runner.prepare(run, false);
    if (!prepared) return prepared.error();
    if (prepared->refusal) return Error{ErrorCode::unsupported, *prepared->refusal};
    runner.solve(*prepared->solver, monitor, run);
    CellRun result{done.record};
    const std::string differs = difference(as_eigen(done.record.reaction), run.impulse);
    if (!differs.empty() && result.record.status != CellStatus::flaky) {
      result.record.status = CellStatus::flaky;
      result.record.reason = "the traced run " + differs;
    }
    return result;
  });
  if (!traced) return traced.error();
  done.record = std::move(traced->record);
  return {};
}

}  // namespace

Result<std::string> trace_cell(const ContactProblem& problem, const CellRequest& request, CellRun& done) {
  CONEBENCH_TRY(const SolverRow* const row, require_solver(request.solver));
  if (request.trace == TraceKind::course) {
    CONEBENCH_TRY(auto watch, IterateWatch::create(request.verdict, problem, done.record.iterations));
    CourseMonitor monitor(std::move(watch), done.stops);
    if (!done.record.reaction.empty()) CONEBENCH_CHECK(follow(problem, request, *row, monitor, done));
    return to_text(monitor.finish());
  }
  TraceMonitor monitor(problem, done.stops);
  if (!done.record.reaction.empty()) CONEBENCH_CHECK(follow(problem, request, *row, monitor, done));
  return monitor.csv();
}

Result<CellRun> confirm_cell(const ContactProblem& problem, const CellRequest& request, const CellRun& done,
                             bool warm_up, const std::function<bool()>& ready,
                             const std::function<void(const CellRun&)>& answer) {
  const auto row = require_solver(request.solver);
  if (!row) return row.error();
  auto verdict = Verdict::create(request.verdict, problem);
  if (!verdict) return verdict.error();
  Verdict* const watched = request.stop_by == StopBy::solver ? nullptr : &*verdict;
  // Made before the clock starts, as for the first run.
  const auto make_what_is_used = [&](const ContactProblem& one) {
    const UsedParts used = done.record.used;
    if (used == UsedParts::delassus) one.blocks();
    if (used == UsedParts::diagonal || used == UsedParts::products_and_diagonal) one.diagonal();
  };
  const auto run_once = [&](const ContactProblem& one, const CellRequest& asked) -> Result<CellRun> {
    CellRun result{blank_record(request)};
    const Runner runner(one, asked, **row);
    Run run;
    auto prepared = runner.prepare(run, true);
    if (!prepared) return prepared.error();
    if (prepared->refusal) {
      result.record.status = CellStatus::unsupported;
      result.record.reason = *prepared->refusal;
      return result;
    }
    runner.repeat(*prepared->solver, done, &one == &problem ? watched : nullptr, run);
    write_answer(result.record, run);
    RunTimes times;
    times.add(time_of(run, 0.0));
    write_times(result.record, times);
    if (&one == &problem) answer(result);  // before the solver is released: that is no part of a run
    return result;
  };
  return guarded(request, [&]() -> Result<CellRun> {
    if ((*row)->load) (*row)->load();
    make_what_is_used(problem);
    if (warm_up) {
      const ContactProblem other = stand_in(problem, std::random_device()());
      make_what_is_used(other);
      CellRequest asked = request;
      asked.start = Start::cold;
      asked.max_iterations = std::max<long>(1, done.record.iterations);
      const auto warmed = run_once(other, asked);
      if (!warmed) return warmed.error();
      if (warmed->record.status == CellStatus::unsupported) return warmed;
    }
    if (!ready()) return Error{ErrorCode::killed, "nobody waits for it"};
    return run_once(problem, request);
  });
}

std::string difference(const std::vector<double>& first, const std::vector<double>& other) {
  return difference(as_eigen(first), as_eigen(other));
}

Index rows_of(std::span<const ContactProblem> members) {
  return std::accumulate(members.begin(), members.end(), Index{0},
                         [](Index sum, const ContactProblem& member) { return sum + member.rows(); });
}

void judge_cell(std::span<const ContactProblem> members, CellRecord& record) {
  members.size() == 1 ? judge_cell(members.front(), record) : judge_batch(members, record);
}

void judge_cell(const ContactProblem& problem, CellRecord& record) {
  clear_judgement(record);
  const bool answered = static_cast<Index>(record.reaction.size()) == problem.rows() &&
                        record.status != CellStatus::unknown && (problem.rows() > 0 || record.claimed);
  if (!answered) return;
  const double begin = monotonic_seconds();
  const Vector impulse = as_eigen(record.reaction);
  const Judgement judgement = judge(problem, impulse);
  for (const Residual& residual : judgement.residuals) {
    ResidualRecord stored;
    if (!residual.known()) {
      stored.missing = *residual.missing;
    } else if (std::isfinite(residual.value)) {
      stored.value = residual.value;
    }
    stored.worst_block = residual.worst_block;
    record.residuals.set(residual.name, stored);
  }
  const Residual& verdict = judgement[record.verdict];
  record.verdict_value = record.residuals.at(record.verdict).value;
  for (const ResidualInfo& row : residual_table()) {
    if (row.name == record.verdict) record.verdict_version = row.version;
  }
  const bool late = record.limit_s > 0.0 && CellTime(record.limit_s).is_late(record.total.cold);
  record.solved = is_solved(verdict, record.tolerance) && !late;
  record.open = judgement.modes.open;
  record.stick = judgement.modes.stick;
  record.slip = judgement.modes.slip;
  record.moment_stick = judgement.modes.moment_stick;
  record.moment_slip = judgement.modes.moment_slip;
  record.inside = judgement.modes.inside;
  record.at_lower = judgement.modes.at_lower;
  record.at_upper = judgement.modes.at_upper;
  if (record.solved_symmetrised) {
    const Judgement other = judge(symmetrised(problem), impulse);
    if (std::isfinite(other[record.verdict].value)) record.verdict_symmetrised = other[record.verdict].value;
  }
  if (record.compliance_share > 0.0) {
    const ContactProblem solved = record.solved_symmetrised ? symmetrised(problem) : problem;
    const Judgement other = judge(with_compliance(solved, record.compliance_share), impulse);
    const auto finite = [](double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; };
    record.verdict_compliant = finite(other[record.verdict].value);
    record.ccp_compliant = finite(other["natural_map_ccp_scaled"].value);
  }
  record.judge_s += monotonic_seconds() - begin;
}

}  // namespace conebench
