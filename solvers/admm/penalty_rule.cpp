#include "solvers/admm/penalty_rule.hpp"

#include <algorithm>
#include <cmath>

namespace conebench {

Spectrum estimate_spectrum(const std::function<void(const Vector&, Vector&)>& apply, Vector start, double proximal,
                           double min_compliance, long max_products) {
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
  spectrum.smallest = proximal + min_compliance;
  return spectrum;
}

double PenaltyRule::updated(double rho, double primal, double dual) const {
  if (update == PenaltyUpdate::fixed) return rho;
  double next = rho;
  if (primal > 0.0 && primal >= ratio * dual) {
    next = rho * factor;
  } else if (dual > 0.0 && dual >= ratio * primal) {
    next = rho / factor;
  }
  // Without contacts or limits the primal residual is zero, and ρ would shrink until it underflows.
  constexpr double kLargest = 1e100;
  return next < kLargest && next * kLargest > 1.0 ? next : rho;
}

void StepBalance::start(const Vector& y, const Vector& z, double rho) {
  first_ = rho;
  y_ = y;
  z_ = z;
  length_ = static_cast<double>(window);
  passed_ = 0;
}

double StepBalance::updated(double rho, const Vector& y, const Vector& z) {
  if (static_cast<double>(++passed_) < length_) return rho;
  const double quotient = (z - z_).norm() / (rho * (y - y_).norm());
  y_ = y;
  z_ = z;
  length_ *= 1.1;
  passed_ = 0;
  if (!(quotient > 0.0 && std::isfinite(quotient))) return rho;  // one of them stands still
  if (quotient <= ratio && quotient * ratio >= 1.0) return rho;
  return std::clamp(rho * std::clamp(std::sqrt(quotient), 0.1, 10.0), first_ / reach, first_ * reach);
}

double spectral_penalty(const Spectrum& spectrum, double exponent) {
  return std::sqrt(spectrum.smallest * spectrum.largest) * std::pow(spectrum.condition(), exponent);
}

}  // namespace conebench
