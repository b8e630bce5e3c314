#include "runners/execute/solve_cell.hpp"

#include <unistd.h>

#include "runners/execute/cell_process.hpp"
#include "runners/execute/cell_run.hpp"
#include "solvers/registry.hpp"

namespace conebench {

namespace {

/// All the memory there is: who solves one problem by hand has set no limit.
long memory_of_machine_mb() { return sysconf(_SC_PHYS_PAGES) / 1024 * sysconf(_SC_PAGESIZE) / 1024; }

Result<CellRun> run_here(const ContactProblem& problem, const CellRequest& request) {
  auto run = run_cell(problem, request);
  if (!run) return run;
  if (request.trace) {
    auto csv = trace_cell(problem, request, *run);
    if (!csv) return csv.error();
    run->trace = std::move(*csv);
  }
  judge_cell(problem, run->record);
  return run;
}

CellRun run_apart(const ContactProblem& problem, const CellRequest& request) {
  IsolationLimits limits;
  const CellTime time(request.seconds);
  limits.time = request.trace ? time.twice() : time;
  limits.memory_mb = memory_of_machine_mb();
  return CellProcess(problem, limits).run(request);
}

}  // namespace

std::optional<Criterion> criterion_for(const std::string& name, const std::string& solver) {
  if (name.empty()) {
    const SolverRow* const row = find_solver(solver);
    return fair_criterion(row == nullptr || checks_are_free(row->info));
  }
  for (const Criterion known : {Criterion::own, Criterion::verdict, Criterion::verdict_paid}) {
    if (to_string(known) == name) return known;
  }
  return std::nullopt;
}

Result<CellRecord> solve_cell(const ContactProblem& problem, const CellRequest& request, std::string* trace) {
  if (const auto error = check_request(problem, request)) return *error;
  CellRequest wanted = request;
  wanted.trace = trace != nullptr;
  auto run = find_solver(request.solver)->info.own_process ? Result<CellRun>(run_apart(problem, wanted))
                                                           : run_here(problem, wanted);
  if (!run) return run.error();
  if (trace != nullptr) *trace = std::move(run->trace);
  return std::move(run->record);
}

}  // namespace conebench
