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

/// Two builds on one suite, cell by cell in turn: docs/side_by_side.md.
struct BesideOptions {
  SweepOptions sweep;                            ///< data, cache, filter and interrupted are looked at
  std::filesystem::path other;                   ///< the base's executable
  std::filesystem::path own = "/proc/self/exe";  ///< the new one's: that of this process
  int passes = 3;                                ///< blocks of two replicates a side for every cell
  std::set<std::string> settings = {};           ///< hashes; empty: all of the suite
};

struct BesideOutcome {
  long cells = 0;                ///< planned
  long done = 0;                 ///< of `cells`: nothing is left to run
  long blocks = 0;               ///< run now
  long missing = 0;              ///< cells whose setting the base lacks
  long left = 0;                 ///< of `cells`: for the next run, since something outside killed their process
  long killed_problems = 0;      ///< sources that could not be looked at, for the same reason
  bool base_by_command = false;  ///< the base is older than the protocol: both are driven by `solve`
  bool unprobed = false;         ///< one of them counts all repeats, and so both do
  bool interrupted = false;
  std::optional<Error> stopped;  ///< why it ended early: the store can't be written
  double wall_s = 0.0;
  std::vector<std::string> notes;

  bool all_done() const { return left + killed_problems == 0; }
};

/// Runs the suite into `store` as two runs, side "base" and "new"; the base's cells have the key content_address(key +
/// "/" + its executable). In every pass each cell, in an order drawn anew, runs A B B A or B A A B (drawn), each
/// replicate in a fresh process of its build, and is stored after the block, so that a run that ended early resumes.
/// The base's cells are of its own setting, where it tells that. This build judges all answers. A cell that not both
/// solve runs once a side. A setting that the base lacks has no cells there; cells that start from another's answer are
/// left out. Errors (nothing was run): as run_sweep; `other` is no Conebench; the store holds something else.
Result<BesideOutcome> run_beside(const Suite& suite, Store& store, const BesideOptions& options, Progress& progress);

}  // namespace conebench
