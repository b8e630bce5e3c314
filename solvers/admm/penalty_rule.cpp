#include "solvers/admm/penalty_rule.hpp"

#include <algorithm>
#include <cmath>

namespace conebench {

Spectrum estimate_spectrum(const std::function<void(const Vector&, Vector&)>& apply, Vector start, double proximal,
                           double least_compliance, long max_products) {
  Spectrum spectrum;
  Vector image(start.size());
  double estimate = 0.0;
  double norm = start.norm();
  while (norm > 0.0 && std::isfinite(norm) && spectrum.products < max_products) {
    start /= norm;
    apply(start, image);
    ++spectrum.products;
    norm = image.norm();
    start.swap(image);
    const double previous = estimate;
    estimate = std::max(estimate, norm);
    if (std::abs(norm - previous) <= 0.01 * norm) break;
  }
  spectrum.largest = estimate + proximal;
  spectrum.smallest = proximal + least_compliance;
  return spectrum;
}

double PenaltyRule::updated(double rho, double primal, double dual) const {
  if (update == PenaltyUpdate::fixed) return rho;
  if (primal > 0.0 && primal >= ratio * dual) return rho * factor;
  if (dual > 0.0 && dual >= ratio * primal) return rho / factor;
  return rho;
}

double spectral_penalty(const Spectrum& spectrum, double exponent) {
  return std::sqrt(spectrum.smallest * spectrum.largest) * std::pow(spectrum.condition(), exponent);
}

}  // namespace conebench
