#pragma once

#include <optional>
#include <string>

#include "problems/contact_problem.hpp"
#include "solvers/solver.hpp"

namespace conebench {

/// Why a solver that needs round cones does not take the problem: one of its contacts has a pyramid. `reason`: what of
/// the solver is in the way.
inline std::optional<std::string> pyramids_refused(const SolverInfo& info, const ContactProblem& problem,
                                                   const std::string& reason) {
  const ConeProduct& cones = problem.cones();
  for (Index i = 0; i < cones.contacts(); ++i) {
    if (cones.shape(i) == ConeShape::pyramid) return info.id + " takes no pyramids: " + reason;
  }
  return std::nullopt;
}

}  // namespace conebench
