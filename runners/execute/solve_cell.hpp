#pragma once

#include <optional>
#include <string>

#include "base/options.hpp"
#include "base/result.hpp"
#include "problems/contact_problem.hpp"
#include "problems/types.hpp"
#include "runners/plan/start.hpp"
#include "solvers/solver.hpp"
#include "store/records.hpp"

namespace conebench {

/// The StopBy of that name; for an empty name fair_stop_by() of that solver alone. nullopt: an unknown name.
std::optional<StopBy> stop_by_for(const std::string& name, const std::string& solver);

/// What a second, untimed run to the same iterate notes.
enum class TraceKind {
  none,
  residuals,  ///< CSV, all residuals of every iterate: TraceMonitor
  course,     ///< read_seen_iterates()
};

/// What to do in one cell: one solver configuration on one problem at one tolerance.
struct CellRequest {
  std::string solver;
  OptionValues options;
  double tolerance = 1e-6;
  long max_iterations = 20000;
  double seconds = 10.0;
  long memory_mb = 0;  ///< limit of the solving process; a program gets it in its request; 0: none
  StopBy stop_by = StopBy::judge;
  std::string verdict = "natural_map_scaled";
  Start start = Start::cold;
  Vector start_impulse = {};  ///< λ of rows entries, where `start` is `previous`; empty: 0
  struct Repeats {
    int minimum = 5;
    double minimum_ms = 50.0;
    int maximum = 2000;
    double min_probe_s = 0.0;         ///< of probe_processor() in this build; 0: not known
    double precision = 0.0;           ///< see SuiteRepeats
    bool counts_only = false;         ///< see SuiteRepeats
  } repeats;                          ///< maximum = 1: run once
  TraceKind trace = TraceKind::none;  ///< CellRun::trace
  bool follow = false;                ///< CellRecord::trace
};

struct CellRun;  // runners/execute/cell_run.hpp

/// How many threads the solver may share its work among: the option `threads`, 1 where there is none.
int threads_of(const CellRequest& request);

/// Solves, times and judges in this process, as `conebench solve` does. Only solvers that ask for it
/// (SolverInfo::own_process) get a process of their own. The record's key, run_id and configuration are left to the
/// caller. Errors (wrong_usage): unknown solver, option or verdict; an unsupported problem is a record with status
/// `unsupported`, not an error. killed: the process that watches such a process was terminated externally. `trace`: one
/// CSV line an iteration (iteration, residuals, seconds) from a separate run where not null; that run ends at the
/// bit-identical iterate.
Result<CellRecord> solve_cell(const ContactProblem& problem, const CellRequest& request, std::string* trace = nullptr);

/// The same in a process of its own, as a sweep runs it: whatever the solver does, this process goes on.
/// `request.trace` says what CellRun::trace is to hold. Errors as solve_cell.
Result<CellRun> solve_cell_apart(const ContactProblem& problem, const CellRequest& request);

}  // namespace conebench
