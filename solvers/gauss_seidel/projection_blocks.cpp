#include "solvers/gauss_seidel/projection_blocks.hpp"

#include <Eigen/Eigenvalues>

namespace conebench::gauss_seidel {

namespace {

/// Onto {Σ|x_k| ≤ bound}: |x_k| → (|x_k| − τ)₊, τ from below (C. Michelot, 1986).
template <class Part>
void shorten_to_sum(Part x, double bound) {
  double tau = 0.0;
  for (double before = -1.0; tau > before;) {
    before = tau;
    double sum = -bound;
    int count = 0;
    for (const double entry : x) {
      if (!(std::abs(entry) > tau)) continue;
      sum += std::abs(entry);
      ++count;
    }
    if (count > 0) tau = std::max(tau, sum / count);
  }
  for (double& entry : x) entry = std::copysign(std::max(0.0, std::abs(entry) - tau), entry);
}

}  // namespace

double largest_eigenvalue(const FrictionCone::Square& block) {
  const FrictionCone::Square symmetric = 0.5 * (block + block.transpose());
  return Eigen::SelfAdjointEigenSolver<FrictionCone::Square>(symmetric, Eigen::EigenvaluesOnly)
      .eigenvalues()
      .maxCoeff();
}

template <>
void shorten(FrictionCone::Block& impulse, const FrictionCone& cone) {
  if (cone.shape() == ConeShape::discs) return shorten_to_discs(impulse, cone);
  for (const auto& [first, size, coefficient] : cone.groups()) {
    shorten_to_sum(impulse.segment(first, size), coefficient * impulse[cone.normal]);
  }
}

}  // namespace conebench::gauss_seidel
