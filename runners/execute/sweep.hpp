#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runners/execute/progress.hpp"
#include "runners/plan/suite.hpp"
#include "store/store.hpp"

namespace conebench {

struct SweepOptions {
  std::filesystem::path data;   ///< --data: folder that relative globs are searched in first; empty: not given
  std::filesystem::path cache;  ///< folder for the scenes that are written as FCLIB; made where it is missing
  int jobs = 1;                 ///< workers; more than one marks the run `throughput`
  int shard = 1;                ///< --shard K/N: the cells whose key falls into part K of N
  int shards = 1;
  std::string filter;                         ///< --filter, see docs/suites.md; empty: everything
  std::optional<std::set<std::string>> keys;  ///< --keys: only these cells; nullopt: all
  std::set<std::string> sources;              ///< only problems from these (ProblemSource::source); empty: from all
  std::vector<std::string> retry;             ///< statuses whose stored cells are run again
  bool allow_mixed = false;                   ///< add to a store that another build or processor filled
  bool pin = true;                            ///< pin the solving process to one processor (timed runs only)
  /// Set from a signal handler to stop: the cells in flight are dropped, the rest is resumed by the next run.
  const std::atomic<bool>* interrupted = nullptr;
};

/// What a sweep did.
struct SweepOutcome {
  long problems = 0;           ///< distinct ones that have a cell, including those that can't be loaded
  long duplicates = 0;         ///< sources whose content equals another's bit for bit; they have no record of their own
  long bad_problems = 0;       ///< of `problems`: can't be loaded
  long untaken_problems = 0;   ///< of `problems`: valid files that no solver here can take
  long killed_problems = 0;    ///< sources not surveyed: their reader was terminated externally
  long cells = 0;              ///< planned for this shard and filter
  std::set<std::string> keys;  ///< of `cells`
  long resumed = 0;            ///< of `cells`: found in the store
  long run = 0;                ///< of `cells`: run and stored now (unsupported and bad_problem included)
  long measured = 0;           ///< of `run`: a solver ran and answered
  long retimed = 0;            ///< cells run again, each once a further round
  long not_retimed = 0;        ///< deferred to the next run: their process was terminated externally
  long flaky = 0;              ///< of `retimed`: gave another answer
  long solved = 0;             ///< of `cells`, stored ones included
  std::map<std::string, long> statuses;  ///< of `run`
  bool interrupted = false;
  std::optional<Error> stopped;    ///< why the sweep ended early: the store can't be written (disk full, …)
  double wall_s = 0.0;             ///< the whole call
  double survey_s = 0.0;           ///< of `wall_s`: opening, checking and analysing the problems, before the first cell
  double busy_s = 0.0;             ///< set-up, solve, repeats and judging, over all workers
  std::vector<NoiseRecord> noise;  ///< why times of this run are doubtful

  long not_run() const { return cells - resumed - run; }
  /// Work for the next run, because a process was terminated externally or this run ended early.
  long left() const { return not_run() + not_retimed + killed_problems; }
};

/// Plans a suite and runs the cells that `store` does not hold yet. It forks, so call it from a process with one
/// thread. It sets OMP_NUM_THREADS and the like to 1. Errors (nothing was run): wrong_usage: an invalid option, filter
/// or status; bad_input: a glob matches no file, or the store holds another build's cells.
Result<SweepOutcome> run_sweep(const Suite& suite, Store& store, const SweepOptions& options, Progress& progress);

/// The cells that the filter may select, as far as is known without opening a problem.
struct CellCount {
  long left = 0;  ///< cells that it may select; duplicate problems are counted, too
  std::set<std::string> solvers, families;
};

/// For a preview before a store is made. Errors as run_sweep.
Result<CellCount> count_cells(const Suite& suite, const SweepOptions& options);

/// What run_sweep would do.
struct DryRun {
  long problems = 0;
  long duplicates = 0;
  long bad_problems = 0;
  long untaken_problems = 0;
  long pending = 0;  ///< of `problems`: samples that are not simulated yet, at most
  long configurations = 0;
  long cells = 0;
  long resumed = 0;
  long solvable = 0;               ///< of the cells to run: the problem could be loaded
  long to_retime = 0;              ///< runs of stored cells in further rounds
  double worst_cell_s = 0.0;       ///< after which a cell is killed; a peer's, after each of max_attempts
  long of_peers = 0;               ///< solvable cells of solvers in a process of their own
  double worst_s = 0.0;            ///< if every solvable cell were killed, in its last attempt
  std::vector<std::string> notes;  ///< each problem that can't be loaded, and why; not passed to Progress
};

/// Loads every problem, runs and simulates nothing and leaves nothing behind. `stored`: Store::read_outcomes(). Errors
/// as run_sweep.
Result<DryRun> dry_run(const Suite& suite, const StoreContents& stored, const SweepOptions& options,
                       Progress& progress);

}  // namespace conebench
