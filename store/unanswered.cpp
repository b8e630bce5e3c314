#include "store/unanswered.hpp"

#include <optional>
#include <set>
#include <string>

namespace conebench {

void clear_judgement(CellRecord& cell) {
  cell.solved = false;
  cell.verdict_value = cell.verdict_symmetrised = cell.verdict_compliant = cell.ccp_compliant = std::nullopt;
  cell.verdict_p95 = std::nullopt;
  cell.members_solved = std::nullopt;
  cell.residuals = {};
  cell.open = cell.stick = cell.slip = 0;
  cell.moment_stick = cell.moment_slip = cell.inside = cell.at_lower = cell.at_upper = 0;
  cell.verdict_version = 0;
}

void clear_unanswered(StoreContents& contents) {
  std::set<std::string> empty;
  for (const ProblemRecord& problem : contents.problems) {
    if (problem.rows == 0) empty.insert(problem.hash);
  }
  for (CellRecord& cell : contents.cells) {
    if (cell.answer_crc || empty.contains(cell.problem)) continue;
    clear_judgement(cell);
    const bool ended = class_of(cell.status) == StatusClass::answer && cell.status != CellStatus::flaky;
    if (!ended) continue;
    cell.status = CellStatus::crashed;
    cell.claimed = false;
    if (cell.reason.empty()) cell.reason = "no answer of the problem's size is stored";
  }
}

}  // namespace conebench
