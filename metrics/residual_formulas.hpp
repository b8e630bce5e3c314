#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "metrics/residual_evaluation.hpp"
#include "metrics/residuals.hpp"

namespace conebench {

/// A formula over every Real: computes a residual of the answer that the evaluation holds, which is finite.
struct ResidualFormula {
  template <class Formula>
  constexpr ResidualFormula(Formula formula)  // NOLINT(google-explicit-constructor): the table holds generic lambdas
      : in_double(formula), in_doubled(formula), in_wide(formula) {}

  WorstBlock operator()(ResidualEvaluation<double>& evaluation) const { return in_double(evaluation); }
  WorstBlock operator()(ResidualEvaluation<Doubled>& evaluation) const { return in_doubled(evaluation); }
  WorstBlock operator()(ResidualEvaluation<Wide>& evaluation) const { return in_wide(evaluation); }

 private:
  WorstBlock (*in_double)(ResidualEvaluation<double>&);
  WorstBlock (*in_doubled)(ResidualEvaluation<Doubled>&);
  WorstBlock (*in_wide)(ResidualEvaluation<Wide>&);
};

struct ResidualDefinition {
  ResidualInfo info;
  ResidualFormula formula;
  /// Why the problem's data don't allow it; null where they always do.
  std::optional<std::string> (*missing)(const ContactProblem&) = nullptr;
};

std::span<const ResidualDefinition> residual_definitions();

/// Whether a contact has no normal impulse, to the velocity tau V.
template <class Real>
bool is_open(const ResidualEvaluation<Real>& evaluation, const BlockScale<Real>& block, const Real& normal_impulse,
             double tau) {
  return normal_impulse * block.inverse_step <= tau * evaluation.velocity_scale();
}

/// Whether a group of a closed contact slips: faster than tau V, and than what is left of its friction would stop.
template <class Real, class Set>
bool slips(const ResidualEvaluation<Real>& evaluation, const BlockScale<Real>& block, const Set& set,
           const FrictionGroup<Real>& group, const typename Set::Block& impulse, const typename Set::Block& velocity,
           double tau) {
  const Real left = group.friction * impulse[set.normal] - set.force(group, impulse);
  return !is_open<Real>(evaluation, block, impulse[set.normal], tau) &&
         set.speed(group, velocity) > larger<Real>(tau * evaluation.velocity_scale(), left * block.inverse_step);
}

/// See ContactModes.
template <class Real>
ContactModes classify_contacts(const ResidualEvaluation<Real>& evaluation, double tau);

/// Tolerance of the modes in a Judgement and of the dissipation error.
inline constexpr double mode_tolerance = 1e-6;

}  // namespace conebench
