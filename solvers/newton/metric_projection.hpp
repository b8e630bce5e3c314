#pragma once

#include <cmath>

#include "problems/cones/coulomb.hpp"
#include "solvers/newton/block_functions.hpp"

namespace conebench::newton {

/// Compliance of one contact [m/s per N s], both > 0. The two tangential components share theirs: only then has the
/// projection a closed form.
struct ContactCompliance {
  double tangential = 1.0;
  double normal = 1.0;
};

/// Projection onto K_mu in the norm ‖x‖_R² = xᵀ R x, and W = ∂P/∂y R⁻¹, which is symmetric and positive semidefinite.
template <int Dim>
struct MetricProjection {
  ContactVector<Dim> point;
  Square<Dim> weight;  ///< W
};

/// LeLidec24 after (22): P^R_K(y) = argmin over γ in K_mu of ‖γ − y‖_R². With S = √R the cone becomes S K_mu = K_mu'
/// with mu' = mu √(R_T / R_N), and the norm Euclidean, so that P^R_K = S⁻¹ P_K' S.
template <int Dim>
MetricProjection<Dim> project_in_metric(const ContactVector<Dim>& y, double mu, const ContactCompliance& r) {
  constexpr int normal = Dim - 1;
  ContactVector<Dim> s = ContactVector<Dim>::Constant(std::sqrt(r.tangential));
  s[normal] = std::sqrt(r.normal);
  const double scaled_mu = mu * s[0] / s[normal];
  const ContactVector<Dim> scaled = s.cwiseProduct(y);
  const ContactVector<Dim> inverse = s.cwiseInverse();
  MetricProjection<Dim> result;
  result.point = inverse.cwiseProduct(project_friction_cone<Dim>(scaled, scaled_mu));
  result.weight = inverse.asDiagonal() * friction_cone_derivative<Dim>(scaled, scaled_mu) * inverse.asDiagonal();
  return result;
}

}  // namespace conebench::newton
