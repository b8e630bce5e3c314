#pragma once

#include <optional>
#include <span>
#include <string>

#include "metrics/residual_evaluation.hpp"
#include "metrics/residuals.hpp"

namespace conebench {

/// Computes a residual of the answer that the evaluation holds, which is finite.
using ResidualFormula = WorstBlock (*)(ResidualEvaluation&);

struct ResidualDefinition {
  ResidualInfo info;
  ResidualFormula formula;
  /// Why the problem's data don't allow it; null where they always do.
  std::optional<std::string> (*missing)(const ContactProblem&) = nullptr;
};

std::span<const ResidualDefinition> residual_definitions();

/// Counts and, where `out` is given, lists the modes of all contacts (see contact_modes()).
ContactModes classify_contacts(const ResidualEvaluation& evaluation, double tau, std::vector<ContactMode>* out);

/// Tolerance of the modes in a Judgement and of the dissipation error.
inline constexpr double mode_tolerance = 1e-6;

}  // namespace conebench
