#pragma once

#include "store/records.hpp"

namespace conebench {

/// Version of the residuals since which they are judged to their last digits. Before it a λ whose σ cancels in double
/// passed.
inline constexpr int first_exact_verdict = 2;

/// Whether the cell is solved better than the mark's certificate allows. One of the two is wrong: the mark, where the
/// answer was judged to its last digits, else the cell.
template <class Cell>
bool contradicts(const Cell& cell, const std::string& verdict, double tolerance, const FeasibilityRecord& mark) {
  return cell.solved && excludes(mark.verdict_bound, verdict, cell.verdict_value.value_or(tolerance));
}
template <class Cell>
bool refutes(const Cell& cell, const std::string& verdict, double tolerance, const FeasibilityRecord& mark) {
  return cell.verdict_version >= first_exact_verdict && contradicts(cell, verdict, tolerance, mark);
}

/// Makes each mark "refuted" that a cell refutes, and "infeasible" again where none does any more.
void settle_certificates(StoreContents& contents);

/// Puts into `record` of what a run or rejudge found out about the same problem what it lacks: noise_ratio, and
/// feasibility where `other` knows more.
void take_findings(const ProblemRecord& other, ProblemRecord& record);

}  // namespace conebench
