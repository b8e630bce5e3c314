#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/records.hpp"

namespace conebench {

/// The least share of cells that must be solved: "0.9", "CASCADE:0.99", "CASCADE:0.99@supported".
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
  long cells = 0;      ///< that it counts
  long supported = 0;  ///< of its solver, whatever it counts
  std::optional<long> base_supported = {};

  double share() const { return cells > 0 ? static_cast<double>(solved) / static_cast<double>(cells) : 0.0; }
  /// Why it failed, in a line; empty: it has passed.
  std::string failure() const;
};

/// A solver ran to its end or to the limit of time. Crashes and cells that nobody could begin are no measurement.
bool is_measured(const CellRecord& cell);

/// The cells of a suite as a run leaves them, earlier ones included, and what of that is a failure. That no solver
/// takes a problem, and that a solve does not converge, is data.
struct SweepVerdict {
  long cells = 0;
  long solved = 0;
  long supported = 0;                    ///< all but the status "unsupported"
  long answered = 0;                     ///< of them is_measured()
  std::map<std::string, long> statuses;  ///< of `cells`
  long unreadable = 0;                   ///< problems that could not be loaded
  long ended = 0;                        ///< cells that crashed or ran out of memory and did not in the base
  long ended_before = 0;                 ///< that did in the base, too
  long skipped = 0;                      ///< cells that no process could be started for
  long infeasible = 0;                   ///< problems certified to have no solution: such cells are in no gate
  /// Those of them that count at other tolerances: where they don't → how many.
  std::map<std::set<double>, long> infeasible_in_part;
  long noise_level = 0;  ///< others whose data is rounding: their cells are in no gate
  std::vector<GateOutcome> gates;

  bool broke() const { return unreadable + ended + skipped > 0; }
};

/// `keys`: which of the contents' cells count. `base`: an earlier store's contents, cut to what is compared, or null;
/// its cells are found by problem, setting, tolerance, criterion, verdict and start, whatever the solver's version.
SweepVerdict judge_sweep(const StoreContents& contents, const std::set<std::string>& keys,
                         const std::vector<SolvedGate>& gates, const StoreContents* base = nullptr);

/// The base's cells that a run of one shard can have: those with a partner among `keys`.
StoreContents with_partners(StoreContents base, const StoreContents& contents, const std::set<std::string>& keys);

}  // namespace conebench
