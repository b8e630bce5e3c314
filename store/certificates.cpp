#include "store/certificates.hpp"

#include <string>
#include <unordered_map>

namespace conebench {

namespace {

bool is_mark(const FeasibilityRecord& found) { return found.state == "infeasible" || found.state == "refuted"; }

}  // namespace

bool knows_more(const FeasibilityRecord& one, const FeasibilityRecord& other) {
  if (one.verdict_bound != other.verdict_bound) return one.verdict_bound > other.verdict_bound;
  if (one.certificate.empty() != other.certificate.empty()) return !one.certificate.empty();
  if (is_mark(one) != is_mark(other)) return is_mark(one);
  return !one.state.empty() && other.state.empty();
}

void resolve_certificates(StoreContents& contents) {
  std::unordered_map<std::string, FeasibilityRecord*> marks;
  for (ProblemRecord& problem : contents.problems) {
    if (!is_mark(problem.feasibility)) continue;
    problem.feasibility.state = "infeasible";
    problem.feasibility.solved_by.clear();
    marks.emplace(problem.hash, &problem.feasibility);
  }
  if (marks.empty()) return;
  for (const CellRecord& cell : contents.cells) {
    const auto mark = marks.find(cell.problem);
    if (mark == marks.end() || !solved_exactly(cell)) continue;
    if (cell.verdict != bounded_verdict) mark->second->solved_by.insert(cell.verdict);
    if (refutes(cell, cell.verdict, cell.tolerance, *mark->second)) mark->second->state = "refuted";
  }
}

void take_findings(const ProblemRecord& other, ProblemRecord& record) {
  if (!record.noise_ratio) record.noise_ratio = other.noise_ratio;
  if (knows_more(other.feasibility, record.feasibility)) record.feasibility = other.feasibility;
}

}  // namespace conebench
