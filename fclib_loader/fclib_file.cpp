#include "fclib_loader/fclib_file.hpp"

#include "fclib_loader/block_group.hpp"
#include "fclib_loader/component_order.hpp"

namespace conebench {

std::string to_string(FclibKind kind) {
  switch (kind) {
    case FclibKind::local: return "local";
    case FclibKind::global: return "global";
    case FclibKind::mixed_local: return "mixed_local";
    case FclibKind::mixed_global: return "mixed_global";
    case FclibKind::local_rolling: return "local_rolling";
    case FclibKind::global_rolling: return "global_rolling";
    case FclibKind::blocks: return "blocks";
  }
  return "unknown";
}

bool fits_fclib(const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  const bool shifted = problem.given_rows() && (problem.given_rows()->shift.array() != 0.0).any();
  return cones.intervals().empty() && (cones.coulomb() || cones.rolls()) && !shifted;
}

GivenRows answer_rows(const ContactProblem& problem, AnswerOf of) {
  if (of == AnswerOf::problem) return GivenRows::same(problem.rows());
  if (of == AnswerOf::source && problem.given_rows()) return *problem.given_rows();
  return fits_fclib(problem) ? RowOrder::of(problem.cones()).answer_rows() : block_rows_of(problem);
}

}  // namespace conebench
