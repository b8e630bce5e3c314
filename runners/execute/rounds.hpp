#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "runners/plan/cell_plan.hpp"
#include "store/records.hpp"

namespace conebench {

/// A machine that others use as well is slow for a while, and whatever is timed meanwhile appears slow. Rounds run
/// the cells that time may decide again in further passes of the sweep, each in an order of its own, so that the runs
/// of a cell lie minutes apart; its times are those of its quietest round.

/// The cells of `plan` that another round may change, by their index in it: solved ones that fewer than `round` rounds
/// have timed, and in the second round those that ran out of time.
std::map<std::size_t, CellRecord> cells_for_round(const std::vector<PlannedCell>& plan,
                                                  const std::vector<CellRecord>& stored, int round);

bool same_bits(const std::vector<double>& a, const std::vector<double>& b);

/// What becomes of a cell in one more round.
struct RetimedCell {
  enum class Change { none, times, all };
  CellRecord record;
  Change change = Change::none;  ///< what of `record` is not stored yet
};

/// `before`, of which `answer` is stored, and what the new round brought. Of two that are solved the times with the
/// smaller total median stay, and the run that they are of. The first round that solves a cell which ran out of time
/// before counts. One that runs out of time changes nothing where `before` took a fifth of the limit or more. Any other
/// that did not bring the same status, iterations and answer, bit for bit, makes the cell flaky; it keeps its answer,
/// from which others may start, and is solved if both were.
RetimedCell retimed(const CellRecord& before, const std::vector<double>& answer, CellRecord now);

}  // namespace conebench
