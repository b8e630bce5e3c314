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

/// Of that name; without a name fair_criterion() of that solver alone. Nothing where there is none of that name.
std::optional<Criterion> criterion_for(const std::string& name, const std::string& solver);

/// What to do in one cell: one solver setting on one problem at one tolerance.
struct CellRequest {
  std::string solver;
  OptionValues options;
  double tolerance = 1e-6;
  long max_iterations = 20000;
  double seconds = 10.0;
  long memory_mb = 0;  ///< of the process that solves, which a solver in another one is told; 0: not limited
  Criterion criterion = Criterion::verdict;
  std::string verdict = "natural_map_scaled";
  Start start = Start::cold;
  Vector start_impulse = {};  ///< λ of rows entries, where `start` is `previous`; empty: 0
  struct Repeats {
    int minimum = 5;
    double minimum_ms = 50.0;
    int maximum = 2000;
    bool probe = true;         ///< whether repeats beside others on the core do not count
    double min_probe_s = 0.0;  ///< of probe_processor() in this build, as far as it is known; 0: not
  } repeats;                   ///< maximum = 1: run once
  bool trace = false;          ///< also keep CellRun::trace
};

/// Solves, times and judges in this process, without isolation but for solvers that ask for a process of their own
/// (SolverInfo::own_process): what `conebench solve` runs. The record's key, run_id and setting are left to the caller.
/// Errors (wrong_usage): unknown solver, option or verdict; an unsupported problem is a record with status
/// `unsupported`, not an error. killed: something outside ended what watches such a process. `trace`: one CSV line an
/// iteration (iteration, residuals, seconds) from a separate run where not null; that run ends at the bit-identical
/// iterate.
Result<CellRecord> solve_cell(const ContactProblem& problem, const CellRequest& request, std::string* trace = nullptr);

}  // namespace conebench
