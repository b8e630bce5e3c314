#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "store/records.hpp"

namespace conebench {

/// Since this version residuals are computed to their last digits. Before, a λ passed if its σ cancels in double.
inline constexpr int first_exact_verdict = 2;

template <class Cell>
bool solved_exactly(const Cell& cell) {
  return cell.solved && cell.verdict_version >= first_exact_verdict;
}

/// Whether the cell is solved better than the mark's certificate allows. One of the two is wrong: the mark, where it is
/// refuted, else the cell.
template <class Cell>
bool contradicts(const Cell& cell, const std::string& verdict, double tolerance, const FeasibilityRecord& mark) {
  return cell.solved && mark.excludes(verdict, cell.verdict_value.value_or(tolerance));
}
/// By an answer that was judged to its last digits, and by the verdict that the bound is of.
template <class Cell>
bool refutes(const Cell& cell, const std::string& verdict, double tolerance, const FeasibilityRecord& mark) {
  return solved_exactly(cell) && verdict == bounded_verdict && contradicts(cell, verdict, tolerance, mark);
}

/// The certificates of one problem in several stores. A cell of one store refutes them in all.
class JoinedMarks {
 public:
  void add(const FeasibilityRecord& mark) { marks_.push_back(&mark); }
  template <class Cell>
  void take(const Cell& cell, const std::string& verdict, double tolerance) {
    std::erase_if(marks_, [&](const FeasibilityRecord* mark) { return refutes(cell, verdict, tolerance, *mark); });
    if (solved_exactly(cell) && verdict != bounded_verdict) solved_by_.insert(verdict);
  }
  bool exclude(const std::string& verdict, double tolerance) const {
    return !solved_by_.contains(verdict) && std::ranges::any_of(marks_, [&](const FeasibilityRecord* mark) {
      return mark->excludes(verdict, tolerance);
    });
  }

 private:
  std::vector<const FeasibilityRecord*> marks_;
  std::set<std::string> solved_by_;
};

/// Marks are "refuted" if a cell refutes them, else "infeasible" again. Fills solved_by.
void resolve_certificates(StoreContents& contents);

/// By the largest bound, then any certificate, then a search.
bool knows_more(const FeasibilityRecord& one, const FeasibilityRecord& other);

/// Puts into `record` of what a run or rejudge found out about the same problem what it lacks: noise_ratio, and
/// feasibility where `other` knows more.
void take_findings(const ProblemRecord& other, ProblemRecord& record);

}  // namespace conebench
