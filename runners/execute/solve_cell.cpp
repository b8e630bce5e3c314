#include "runners/execute/solve_cell.hpp"

#include "runners/execute/cell_run.hpp"

namespace conebench {

Result<CellRecord> solve_cell(const ContactProblem& problem, const CellRequest& request, std::string* trace) {
  auto run = run_cell(problem, request);
  if (!run) return run.error();
  if (trace != nullptr) {
    auto csv = trace_cell(problem, request, *run);
    if (!csv) return csv.error();
    *trace = std::move(*csv);
  }
  judge_cell(problem, run->record);
  return std::move(run->record);
}

}  // namespace conebench
