#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "runners/plan/cell_plan.hpp"
#include "runners/store/records.hpp"

namespace conebench {

/// A machine that others use as well is slow for a while, and whatever is timed in that while looks slow. Rounds time
/// the solved cells again in further passes of the sweep, each in an order of its own, so that the runs of a cell lie
/// minutes apart; its times are those of its quietest round.

/// The solved cells of `plan` that fewer than `round` rounds have timed, by their place in it.
std::map<std::size_t, CellRecord> cells_for_round(const std::vector<PlannedCell>& plan,
                                                  const std::vector<CellRecord>& stored, int round);

/// What a cell is after one more round.
struct RetimedCell {
  CellRecord record;
  bool another_answer = false;  ///< all of the record is new, not the times alone
};

/// `before`, of which `answer` is stored, and what the new round brought. The times with the smaller total median stay,
/// and the run that they are of.
/// A round that ended for want of time says nothing of the answer. Any other that did not bring the same status,
/// iterations and answer, bit for bit, makes the cell flaky, with the new answer, judged.
RetimedCell retimed(const CellRecord& before, const std::vector<double>& answer, CellRecord now);

}  // namespace conebench
