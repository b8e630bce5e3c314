#include "runners/execute/solve_cell.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/child_process.hpp"
#include "runners/execute/cell_process.hpp"
#include "runners/execute/cell_run.hpp"
#include "runners/execute/wire.hpp"
#include "solvers/registry.hpp"

namespace conebench {

namespace {

/// All the memory there is: who solves one problem by hand has set no limit.
long memory_of_machine_mb() { return sysconf(_SC_PHYS_PAGES) / 1024 * sysconf(_SC_PAGESIZE) / 1024; }

Result<CellRun> run_here(const ContactProblem& problem, const CellRequest& request) {
  auto run = run_cell(problem, request);
  if (!run) return run;
  if (request.trace != TraceKind::none) {
    auto csv = trace_cell(problem, request, *run);
    if (!csv) return csv.error();
    run->trace = std::move(*csv);
  }
  judge_cell(problem, run->record);
  return run;
}

/// From a process between: CellProcess ends all children of its process, and this one may have others.
Result<CellRun> run_apart(const ContactProblem& problem, const CellRequest& request) {
  IsolationLimits limits;
  const CellTime time(request.seconds);
  limits.time = request.trace != TraceKind::none ? time.twice() : time;
  limits.memory_mb = memory_of_machine_mb();
  auto channel = make_channel();
  if (!channel) return Error{ErrorCode::killed, "the system gave no channel to a new process"};
  const ForkSetup setup{.channel = channel->second.number(), .keeps_streams = true};
  const pid_t between = fork_process(setup, [&]() noexcept {
    CellRun run = CellProcess(problem, limits).run(request);
    CellReport report;
    report.record = std::move(run.record);
    report.trace = std::move(run.trace);
    return write_all(child_channel, encode_frame(FrameKind::cell_done, encode(report))) ? 0 : 1;
  });
  if (between < 0) return Error{ErrorCode::killed, "the system refused a new process"};
  channel->second.close();
  FrameBuffer received;
  const auto frame = wait_for_frame(received, channel->first.number());
  auto report = frame ? decode_cell_report(frame->payload) : std::nullopt;
  const int status = wait_for_end(between);
  if (!report) return Error{ErrorCode::killed, "the process that watches the solver: " + ending_text(status)};
  CellRun run;
  run.record = std::move(report->record);
  run.trace = std::move(report->trace);
  return run;
}

}  // namespace

std::optional<StopBy> stop_by_for(const std::string& name, const std::string& solver) {
  if (name.empty()) {
    const SolverRow* const row = find_solver(solver);
    return fair_stop_by(row == nullptr || checks_are_free(row->info));
  }
  return stop_by_named(name);
}

int threads_of(const CellRequest& request) {
  const auto found = request.options.find("threads");
  const long* const count = found == request.options.end() ? nullptr : std::get_if<long>(&found->second);
  return count == nullptr ? 1 : static_cast<int>(std::clamp(*count, 1L, 256L));
}

Result<CellRecord> solve_cell(const ContactProblem& problem, const CellRequest& request, std::string* trace) {
  CONEBENCH_CHECK(check_request(problem, request));
  CellRequest wanted = request;
  wanted.trace = trace != nullptr ? TraceKind::residuals : TraceKind::none;
  auto run = find_solver(request.solver)->info.own_process ? run_apart(problem, wanted) : run_here(problem, wanted);
  if (!run) return run.error();
  if (trace != nullptr) *trace = std::move(run->trace);
  return std::move(run->record);
}

Result<CellRun> solve_cell_apart(const ContactProblem& problem, const CellRequest& request) {
  CONEBENCH_CHECK(check_request(problem, request));
  return run_apart(problem, request);
}

}  // namespace conebench
