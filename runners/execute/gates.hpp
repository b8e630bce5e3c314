#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/records.hpp"

namespace conebench {

/// The minimum share of cells that must be solved: "0.9", "CASCADE:0.99", "CASCADE:0.99@supported".
struct SolvedGate {
  std::string text;         ///< as it was given
  std::string solver = {};  ///< its id; empty: all of them
  double share = 0.0;
  bool supported_only = false;  ///< over the cells that the solver supports, not over all
};

/// Errors (wrong_usage): not of that form, a share outside [0, 1].
Result<SolvedGate> parse_gate(const std::string& text);

/// What a gate found.
struct GateOutcome {
  SolvedGate gate;
  long solved = 0;
  long cells = 0;      ///< counted
  long supported = 0;  ///< of its solver, also those that are not counted
  std::optional<long> baseline_supported = {};

  double share() const { return cells > 0 ? static_cast<double>(solved) / static_cast<double>(cells) : 0.0; }
  /// Why it failed, in a line; empty: it has passed.
  std::string failure() const;
};

/// Whether a solver ran to its end or to the time limit. A crash, or a cell that could not be started, is no
/// measurement.
bool is_measured(const CellRecord& cell);

/// The cells of a suite after a run, including earlier ones, and which of them are failures. A solve that does not
/// converge, or a problem that no solver takes, is data and not a failure.
struct SweepVerdict {
  long cells = 0;
  long solved = 0;
  long supported = 0;                    ///< all except status "unsupported"
  long answered = 0;                     ///< of them is_measured()
  std::map<std::string, long> statuses;  ///< of `cells`
  long unreadable = 0;                   ///< problems that could not be loaded
  long ended = 0;                        ///< cells that crashed or ran out of memory, but not in the baseline
  long ended_before = 0;                 ///< cells that did in the baseline, too
  long skipped = 0;                      ///< cells for which no process could be started
  long infeasible = 0;                   ///< problems certified to have no solution; their cells are in no gate
  /// Of these, the problems that count at some tolerances: the tolerances at which they do not → their number.
  std::map<std::set<double>, long> infeasible_in_part;
  long noise_level = 0;  ///< further problems at noise level; their cells are in no gate
  std::vector<GateOutcome> gates;

  bool broke() const { return unreadable + ended + skipped > 0; }
};

/// `keys`: the cells of `contents` that count. `baseline`: an earlier store's contents, reduced to what is compared, or
/// null. Cells are paired by problem, configuration, tolerance, stop_by, verdict and start, not by the solver's
/// version.
SweepVerdict judge_sweep(const StoreContents& contents, const std::set<std::string>& keys,
                         const std::vector<SolvedGate>& gates, const StoreContents* baseline = nullptr);

/// The baseline's cells that a run of one shard can have: those with a partner among `keys`.
StoreContents with_partners(StoreContents baseline, const StoreContents& contents, const std::set<std::string>& keys);

}  // namespace conebench
