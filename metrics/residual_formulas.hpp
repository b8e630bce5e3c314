#pragma once

#include <algorithm>
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

/// Whether a contact has no normal impulse, to the velocity tau V.
template <int Dim>
bool is_open(const ResidualEvaluation& evaluation, const BlockScale& block, const BlockVector<Dim>& impulse,
             double tau) {
  return impulse[normal_of<Dim>] <= tau * evaluation.velocity_scale() * block.r;
}

/// Whether a closed contact slides: faster than tau V, and than what is left of its friction would stop.
template <int Dim>
bool slides(const ResidualEvaluation& evaluation, const BlockScale& block, const BlockVector<Dim>& impulse,
            const BlockVector<Dim>& velocity, double tau) {
  const double left = block.friction.sliding * impulse[normal_of<Dim>] - slip_norm(impulse);
  return !is_open<Dim>(evaluation, block, impulse, tau) &&
         slip_norm(velocity) > std::max(tau * evaluation.velocity_scale(), left / block.r);
}

/// The same of rolling.
inline bool rolls(const ResidualEvaluation& evaluation, const BlockScale& block, const BlockVector<5>& impulse,
                  const BlockVector<5>& velocity, double tau) {
  const double left = block.friction.rolling * impulse[2] - roll_norm(impulse);
  return !is_open<5>(evaluation, block, impulse, tau) &&
         roll_norm(velocity) > std::max(tau * evaluation.velocity_scale(), left / block.r);
}

/// Counts and, where `out` is given, lists the modes of all contacts (see contact_modes()).
ContactModes classify_contacts(const ResidualEvaluation& evaluation, double tau, std::vector<ContactMode>* out);

/// Tolerance of the modes in a Judgement and of the dissipation error.
inline constexpr double mode_tolerance = 1e-6;

}  // namespace conebench
