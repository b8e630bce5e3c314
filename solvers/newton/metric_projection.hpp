#pragma once

#include <array>

#include "problems/cones/contact_cones.hpp"

namespace conebench::newton {

/// Projection onto K in the norm ‖x‖_R² = xᵀ R x, and W = ∂P/∂y R⁻¹, which is symmetric and positive semidefinite.
template <class Cone>
struct MetricProjection {
  typename Cone::Block point;
  typename Cone::Square weight;  ///< W
};

/// S K for S = diag(s), equal in the rows of a group: a cone of the same kind with mu_g s_g / s_N.
template <class Cone>
Cone stretched(const Cone& cone, const typename Cone::Block& s) {
  return Cone{{cone.friction * s[0] / s[cone.normal]}};
}
inline FrictionCone stretched(const FrictionCone& cone, const FrictionCone::Block& s) {
  std::array<int, max_contact_rows> sizes{};
  std::array<double, max_contact_rows> coefficients{};
  std::size_t row = 0;
  std::size_t count = 0;
  for (const auto& [first, size, mu] : cone.groups()) {
    sizes[count++] = size;
    for (int k = first; k < first + size; ++k) coefficients[row++] = mu * s[k] / s[cone.normal];
  }
  return {cone.shape(), std::span(sizes).first(count), std::span(coefficients).first(row)};
}

/// LeLidec24 after (22): P^R_K(y) = argmin over γ in K of ‖γ − y‖_R². With S = √R the norm becomes Euclidean, so that
/// P^R_K = S⁻¹ P_SK S. `compliance`: R's diagonal [m/s per N s], > 0 and equal in the rows of a group: only then has
/// the projection a closed form.
template <class Cone>
MetricProjection<Cone> project_in_metric(const Cone& cone, const typename Cone::Block& y,
                                         const typename Cone::Block& compliance) {
  using Block = typename Cone::Block;
  const Block s = compliance.cwiseSqrt();
  const Cone scaled_cone = stretched(cone, s);
  const Block scaled = s.cwiseProduct(y);
  const Block inverse = s.cwiseInverse();
  MetricProjection<Cone> result;
  result.point = inverse.cwiseProduct(scaled_cone.project(scaled));
  result.weight = inverse.asDiagonal() * scaled_cone.derivative(scaled) * inverse.asDiagonal();
  return result;
}

}  // namespace conebench::newton
