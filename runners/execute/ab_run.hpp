#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runners/execute/progress.hpp"
#include "runners/execute/sweep.hpp"
#include "runners/plan/suite.hpp"
#include "store/store.hpp"

namespace conebench {

/// An A/B run: two builds run each cell of one suite in turn (docs/side_by_side.md).
struct AbRunOptions {
  SweepOptions sweep;                            ///< of which data, cache, filter and interrupted are used
  std::filesystem::path other;                   ///< the baseline's executable
  std::filesystem::path own = "/proc/self/exe";  ///< the candidate's: that of this process
  int rounds = 6;                                ///< of a side for every cell, two in each block A B B A
  std::set<std::string> configurations = {};     ///< hashes; empty: all of the suite
};

struct AbRunOutcome {
  long cells = 0;            ///< planned
  long done = 0;             ///< of `cells`: completely run
  long blocks = 0;           ///< run now
  long missing = 0;          ///< cells whose configuration the baseline lacks
  long left = 0;             ///< of `cells`: deferred to the next run, because their process was terminated externally
  long killed_problems = 0;  ///< sources that were not surveyed, for the same reason
  bool interrupted = false;
  std::optional<Error> stopped;  ///< why it ended early: the store can't be written
  double wall_s = 0.0;
  std::vector<std::string> notes;

  bool all_done() const { return left + killed_problems == 0; }
};

/// Runs the suite into `store` as two runs, with sides "baseline" and "candidate". Each block runs every cell as A B B
/// A or B A A B. That order and the order of the cells are drawn anew for each block. Each round is a new process of
/// its build. A cell is stored after each block, so that an interrupted run resumes. The baseline's cells have the key
/// content_address(key + "/" + its executable) and the baseline's own configuration. This build judges all answers. A
/// cell that one side does not solve runs once a side. A configuration that the baseline lacks has no cells there.
/// Cells that start from another cell's answer are left out. Errors (nothing was run): those of run_sweep and
/// BaselineBuild::greet; the store holds another kind of run.
Result<AbRunOutcome> ab_run(const Suite& suite, Store& store, const AbRunOptions& options, Progress& progress);

}  // namespace conebench
