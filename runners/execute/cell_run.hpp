#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "runners/execute/solve_cell.hpp"
#include "runners/execute/sweep_monitor.hpp"
#include "solvers/solver.hpp"
#include "store/records.hpp"

namespace conebench {

/// Phase of a cell. The record of a killed cell names it.
enum class CellPhase : int { starting, set_up, solving, judging, repeating, releasing };
const char* to_string(CellPhase phase);
/// `solving` comes once for each attempt of a solver that starts over.
using PhaseCallback = std::function<void(CellPhase)>;

/// What the solver did, before the judge fills in the rest.
struct CellRun {
  CellRecord record;    ///< with status, counters, times and the answer; no residuals, not yet solved
  double busy_s = 0.0;  ///< set-up, solve, repeats and checks of the verdict, all runs together
  Stops stops = {};     ///< of the first run
  /// Its process was terminated externally each time, or could not be forked: the record says nothing of the solver.
  bool terminated_externally = false;
  std::string trace = {};    ///< as CellRequest::trace wants it
  double min_probe_s = 0.0;  ///< minimum of probe_processor() between the repeats, or 0
  long checks = 0;           ///< of the verdict, in the last attempt of the first run
};

/// The solver's part of a cell: builds, prepares, solves and repeats it. Errors as solve_cell.
Result<CellRun> run_cell(const ContactProblem& problem, const CellRequest& request,
                         const PhaseCallback& phase = nullptr);

/// The same of a problem, or of all members of a batch (batch_run.hpp).
Result<CellRun> run_cell(std::span<const ContactProblem> members, const CellRequest& request,
                         const PhaseCallback& phase = nullptr);

/// Checks what does not depend on the solver. Errors as solve_cell.
Result<void> check_request(const ContactProblem& problem, const CellRequest& request);

/// Whether the solver gets the assembled G: it asks for it, and G is given or not too large to be assembled.
bool works_on_matrix(const Solver& solver, const ContactProblem& problem);

/// Runs the cell once more to the iterate where `done` ended, and returns what CellRequest::trace wants of it. A run
/// that does not end at the bit-identical answer makes the record `flaky`. Errors as solve_cell.
Result<std::string> trace_cell(const ContactProblem& problem, const CellRequest& request, CellRun& done);

/// Solves the cell once more, in a process that has not run its solver before; the process outside times it. `done`:
/// the run to confirm, which gives the iterate to stop at and what the solver read. With `warm_up` the solver first
/// solves stand_in(), so that its code is loaded. Then `ready` is called, which waits for the start, and `answer` as
/// soon as λ is known. Errors as solve_cell; killed: `ready` returned false. Status `unsupported`: a set-up failed.
Result<CellRun> confirm_cell(const ContactProblem& problem, const CellRequest& request, const CellRun& done,
                             bool warm_up, const std::function<bool()>& ready,
                             const std::function<void(const CellRun&)>& answer);

/// How two answers of the same length differ; empty: they are equal bit for bit.
std::string difference(const std::vector<double>& first, const std::vector<double>& other);

/// Judges the record's answer and overwrites residuals, modes, verdict and `solved`. If the symmetrised problem was
/// solved, its verdict is computed, too. Adds the time to judge_s. A record without an answer to a problem with rows is
/// not solved.
void judge_cell(const ContactProblem& problem, CellRecord& record);
/// The same of a problem, or of each member of a batch: judge_batch().
void judge_cell(std::span<const ContactProblem> members, CellRecord& record);
/// Rows of all of them.
Index rows_of(std::span<const ContactProblem> members);

/// The record of a cell in which nothing was run.
CellRecord blank_record(const CellRequest& request);

}  // namespace conebench
