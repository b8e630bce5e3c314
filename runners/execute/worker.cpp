#include "runners/execute/worker.hpp"

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <cstdio>
#include <exception>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <utility>

#include <fmt/core.h>

#include "fclib_loader/isolation.hpp"
#include "metrics/features.hpp"
#include "runners/execute/cell_process.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/certify.hpp"
#include "runners/execute/condensation_cost.hpp"
#include "runners/execute/descendants.hpp"
#include "runners/execute/process.hpp"
#include "runners/execute/wire.hpp"
#include "solvers/registry.hpp"

namespace conebench {

namespace {

/// What the runner asks for.
class Requests {
 public:
  /// Waits for it; nullopt where the runner has closed the channel.
  std::optional<Frame> next() {
    if (ahead_) return std::exchange(ahead_, std::nullopt);
    return wait_for_frame(received_, child_channel);
  }

  /// The cell that next() will return, where that has come already.
  std::optional<CellOrder> next_cell() {
    received_.fill_from(child_channel);
    if (!ahead_) ahead_ = received_.next();
    return ahead_ && ahead_->kind == FrameKind::cell_request ? decode_cell_order(ahead_->payload) : std::nullopt;
  }

 private:
  FrameBuffer received_;
  std::optional<Frame> ahead_;
};

bool answer(FrameKind kind, const std::string& payload) {
  return write_all(child_channel, encode_frame(kind, payload));
}

/// Gives back what a problem took: the next one's memory is limited, too.
void release_memory() { malloc_trim(0); }

bool survey(const SurveyPlan& plan, const ProblemSource& source) {
  const auto members = load_members(source, plan.cache);
  const auto look_at = [&](const ContactProblem& loaded) {
    make_diagonal(loaded, plan.cache);
    auto known = plan.known.find(loaded.data_hash());
    const auto aliases = loaded.aliases();
    if (known == plan.known.end() && aliases) known = plan.known.find(aliases->data_hash);
    if (known == plan.known.end()) return survey_problem(loaded, source, plan.features);
    SurveyedProblem surveyed = survey_problem(loaded, source, false);
    surveyed.record.hash = known->first;
    // Not as it is stored: the build that did may have known other categories.
    if (known->second) surveyed.record.category = to_string(sample_category(loaded, *known->second));
    return surveyed;
  };
  const SurveyedProblem surveyed = !members               ? survey_failure(source, members.error())
                                   : members->size() == 1 ? look_at(members->front())
                                                          : survey_batch(*members, source);
  return answer(FrameKind::surveyed, encode(surveyed));
}

/// Once a problem, before any cell's process is forked: they share it.
CondensationCost make_what_is_not_given(const ContactProblem& problem, const WorkerPlan& plan,
                                        const ProblemOrder& order) {
  if (!problem.given_as_primal()) return {};
  const bool matrix = std::any_of(plan.cells.begin(), plan.cells.end(), [&](const PlannedCell& cell) {
    if (cell.problem != order.problem) return false;
    const PlannedConfiguration& configuration = plan.configurations[cell.configuration];
    const SolverRow* const row = find_solver(configuration.record.solver);
    const auto solver = row != nullptr ? row->make(configuration.options) : Result<std::unique_ptr<Solver>>(Error{});
    return solver && works_on_matrix(**solver, problem);
  });
  const auto diagonal_s = make_diagonal(problem, plan.cache);
  if (!order.costs_known) return measure_condensation(problem, matrix, diagonal_s);
  if (matrix) problem.blocks();
  return {};
}

Result<std::vector<ContactProblem>> load(const WorkerPlan& plan, const ProblemOrder& order, LoadReport& report) {
  auto members = load_members(plan.problems.sources.at(order.problem), plan.cache, true);
  if (!members) {
    report.error = members.error().message;
    report.killed = members.error().code == ErrorCode::killed;
    return members;
  }
  const std::string& stored = plan.problems.problems.at(order.problem).record.hash;
  report.hash = are_called(*members, stored) ? stored : data_hash(*members);
  const bool keep_guess = std::ranges::any_of(
      plan.cells, [&](const PlannedCell& cell) { return cell.problem == order.problem && cell.start == Start::guess; });
  for (ContactProblem& member : *members) {
    const CondensationCost cost = make_what_is_not_given(member, plan, order);
    if (members->size() == 1) report.cost = cost;
    // What is not in this process can't be found in the memory of those that it forks.
    if (member.reference() || member.guess()) member = member.without_answers(keep_guess);
  }
  return members;
}

/// Runs cells of the problem until something else is asked for, which it returns.
std::optional<Frame> run_cells(const WorkerPlan& plan, std::span<const ContactProblem> members, Requests& requests) {
  IsolationLimits limits;
  limits.time = CellTime(plan.suite.limits.seconds);
  limits.memory_mb = plan.suite.limits.memory_mb;
  limits.pinned_processor = plan.pinned_processor;
  CellProcess process(members, limits);
  const auto request_for = [&](const CellOrder& order) {
    const PlannedCell& cell = plan.cells.at(order.cell);
    CellRequest request = request_of(plan.suite, plan.configurations[cell.configuration], cell);
    request.repeats.min_probe_s = order.min_probe_s;
    request.start_impulse = Eigen::Map<const Vector>(order.start.data(), static_cast<Index>(order.start.size()));
    return request;
  };
  const auto following = [&] {
    const auto order = requests.next_cell();
    return order ? std::optional(request_for(*order)) : std::nullopt;
  };
  for (;;) {
    auto frame = requests.next();
    const auto order =
        frame && frame->kind == FrameKind::cell_request ? decode_cell_order(frame->payload) : std::nullopt;
    if (!order) return frame;
    CellRun run = process.run(request_for(*order), following);
    if (!order->note.empty() && run.record.status != CellStatus::unsupported) {
      run.record.start_used = to_string(Start::cold);
      run.record.reason += (run.record.reason.empty() ? "" : "; ") + order->note;
    }
    if (!answer(FrameKind::cell_done, encode(CellReport{order->cell, std::move(run.record), run.busy_s, run.min_probe_s,
                                                        run.terminated_externally})))
      return std::nullopt;
  }
}

int work(const WorkerPlan& plan) {
  hdf5::limit_reading(plan.suite.limits.read_seconds);
  const SchedulingState at_first;
  Requests requests;
  auto frame = requests.next();
  while (frame && frame->kind == FrameKind::problem_request) {
    const auto order = decode_problem_order(frame->payload);
    if (!order) return 1;
    at_first.restore();
    prctl(PR_SET_DUMPABLE, 1);  // or its readers' own /proc would be closed to them
    {
      LoadReport report;
      const auto members = load(plan, *order, report);
      // Children of the same user may then not look into its memory.
      prctl(PR_SET_DUMPABLE, 0);
      // Woken by a child that may run there alone, it would keep that from ending.
      leave_processor(plan.pinned_processor);
      if (!answer(FrameKind::loaded, encode(report))) return 1;
      frame = members ? run_cells(plan, *members, requests) : requests.next();
    }
    release_memory();
  }
  return 0;
}

std::optional<Worker> start(const OutputCatcher& output, const std::function<int()>& body) {
  auto channel = make_channel();
  if (!channel) return std::nullopt;
  adopt_orphans();  // of workers that are killed
  Worker worker;
  worker.process = fork_process({channel->second.number(), output.descriptor()}, [&] {
    drop_shared_mappings();
    ProcessLimits limits;
    limits.oom_score = 500;  // after the child that solves
    limit_this_process(limits);
    try {
      return body();
    } catch (const std::exception& error) {
      fmt::print(stderr, "exception: {}\n", error.what());
      return 1;
    }
  });
  if (worker.process < 0) return std::nullopt;
  worker.channel = std::move(channel->first);
  return worker;
}

}  // namespace

CellRequest request_of(const Suite& suite, const PlannedConfiguration& configuration, const PlannedCell& cell) {
  CellRequest request;
  request.solver = configuration.record.solver;
  request.options = configuration.options;
  request.tolerance = cell.tolerance;
  request.max_iterations = suite.limits.iterations;
  request.seconds = suite.limits.seconds;
  request.stop_by = suite.stop_by;
  request.verdict = suite.verdict;
  request.start = cell.start;
  request.repeats = {.minimum = suite.repeats.minimum,
                     .minimum_ms = suite.repeats.minimum_ms,
                     .maximum = suite.repeats.maximum,
                     .precision = suite.repeats.precision,
                     .counts_only = suite.repeats.counts_only};
  request.follow = suite.traces > 0 && !suite.repeats.counts_only;
  return request;
}

std::optional<Worker> start_surveyor(const SurveyPlan& plan, const std::vector<ProblemSource>& sources,
                                     const OutputCatcher& output) {
  return start(output, [&] {
    hdf5::limit_reading(plan.suite.limits.read_seconds);
    Requests requests;
    while (const auto frame = requests.next()) {
      const auto order = decode_problem_order(frame->payload);
      if (!order || !survey(plan, sources.at(order->problem))) return 1;
      release_memory();
    }
    return 0;
  });
}

std::optional<Worker> start_simulator(const std::filesystem::path& folder, const SampledSimulation& plan, long steps,
                                      const OutputCatcher& output) {
  return start(output, [&] {
    const auto made = plan.make(folder, steps, nullptr);
    SimulationReport report;
    if (!made) report = {static_cast<int>(made.error().code), made.error().message};
    return answer(FrameKind::simulated, encode(report)) ? 0 : 1;
  });
}

std::optional<Worker> start_certifier(const std::filesystem::path& cache, const ProblemSource& source,
                                      const std::string& hash, const std::vector<double>& stored, double max_seconds,
                                      const OutputCatcher& output) {
  return start(output, [&] {
    CertificateReport report;
    if (const auto problem = load_source(source, cache, true)) {
      Feasibility found =
          judge_certificate(*problem, Eigen::Map<const Vector>(stored.data(), static_cast<Index>(stored.size())));
      if (found.state != FeasibilityState::infeasible) found = check_feasibility(*problem, max_seconds);
      report = {problem->is_called(hash) ? hash : problem->data_hash(), record_of(found)};
    }
    return answer(FrameKind::certified, encode(report)) ? 0 : 1;
  });
}

std::optional<Worker> start_worker(const WorkerPlan& plan, const OutputCatcher& output) {
  return start(output, [&] { return work(plan); });
}

}  // namespace conebench
