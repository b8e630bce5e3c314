#include "store/late_answer.hpp"

namespace conebench {

bool passes_too_late(const CellRecord& cell) {
  const bool late = class_of(cell.status) == StatusClass::clock || cell.total.cold > cell.limit_s;
  return !cell.solved && late && cell.limit_s > 0.0 && cell.verdict_value && *cell.verdict_value <= cell.tolerance;
}

std::string whole_reason(const CellRecord& cell) {
  if (!passes_too_late(cell)) return cell.reason;
  return "passes, but came too late" + (cell.reason.empty() ? "" : "; " + cell.reason);
}

}  // namespace conebench
