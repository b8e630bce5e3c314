#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "runners/execute/solve_cell.hpp"
#include "solvers/monitor.hpp"
#include "solvers/solver.hpp"
#include "store/records.hpp"

namespace conebench {

/// What a cell is busy with, so that a killed one can say where it was.
enum class CellPhase : int { starting, set_up, solving, judging, repeating, releasing };
const char* to_string(CellPhase phase);
/// `solving` is told once for each try of a solver that starts over.
using PhaseCallback = std::function<void(CellPhase)>;

/// What the solver did, before the judge fills in the rest.
struct CellRun {
  CellRecord record;    ///< with status, counters, times and the answer; no residuals, not yet solved
  double busy_s = 0.0;  ///< set-up, solve, repeats and looks at the verdict, all runs together
  /// How the monitor ended the first run; keep_going where the solver ended by itself.
  Decision decision = Decision::keep_going;
  long stopped_at = -1;
  /// Something outside killed its process each time, or there was none to be had: the record says nothing of the
  /// solver.
  bool terminated_externally = false;
  std::string trace = {};    ///< TraceMonitor's CSV where it was asked for
  double min_probe_s = 0.0;  ///< that was seen beside the repeats, or 0
  long checks = 0;           ///< at the verdict in the first run, in the last of its tries
};

/// The solver's part of a cell: builds, prepares, solves and repeats it. Errors as solve_cell.
Result<CellRun> run_cell(const ContactProblem& problem, const CellRequest& request,
                         const PhaseCallback& phase = nullptr);

/// What is wrong with a request whatever its solver does, if anything. Errors as solve_cell.
std::optional<Error> check_request(const ContactProblem& problem, const CellRequest& request);

/// Whether the solver is to work on the assembled G of the problem: it asks for it, and where it is not given it is not
/// too large to be made.
bool works_on_matrix(const Solver& solver, const ContactProblem& problem);

/// Runs the cell once more to the iterate where `done` ended, and writes TraceMonitor's CSV. A run that does not end at
/// the bit-identical answer makes the record `flaky`. Errors as solve_cell.
Result<std::string> trace_cell(const ContactProblem& problem, const CellRequest& request, CellRun& done);

/// The cell once more, in a process that has not run its solver before, for whoever times it from outside. `done`: the
/// run to be confirmed, for where it ended and what it looked at. With `warm_up` the solver first solves stand_in(), so
/// that its code is loaded. Then `ready` is called, which waits for the start, and `answer` as soon as λ is there.
/// Errors as solve_cell; killed: `ready` says no. What it returns has status `unsupported` where a set-up failed.
Result<CellRun> confirm_cell(const ContactProblem& problem, const CellRequest& request, const CellRun& done,
                             bool warm_up, const std::function<bool()>& ready,
                             const std::function<void(const CellRun&)>& answer);

/// How two answers of as many rows differ; empty where they are equal bit for bit.
std::string difference(const std::vector<double>& first, const std::vector<double>& other);

/// The judge's part: residuals, modes, verdict (of the symmetrised problem too, where that was solved) and `solved`
/// from the record's answer alone, in place of what the record says. Adds its time to judge_s. A record without an
/// answer to a problem with rows is not solved.
void judge_cell(const ContactProblem& problem, CellRecord& record);

/// The record of a cell in which nothing was run.
CellRecord blank_record(const CellRequest& request);

}  // namespace conebench
