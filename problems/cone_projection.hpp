#pragma once

#include <Eigen/Core>
#include <cmath>

namespace conebench {

/// A contact's components: (t1, t2, n) for Dim = 3, (t, n) for Dim = 2; the normal is last.
template <int Dim>
using ContactVector = Eigen::Matrix<double, Dim, 1>;

/// Euclidean norm of the tangential part.
template <int Dim>
double tangential_norm(const ContactVector<Dim>& x) {
  if constexpr (Dim == 2) {
    return std::abs(x[0]);
  } else {
    const double square = x[0] * x[0] + x[1] * x[1];
    // In extreme units the squares leave the range, the norm need not.
    return square > 1e-290 && square < 1e300 ? std::sqrt(square) : std::hypot(x[0], x[1]);
  }
}

/// Euclidean projection onto Coulomb's cone K_mu = {‖x_T‖ ≤ mu x_N}; mu = 0 gives {0} × R_+.
template <int Dim>
ContactVector<Dim> project_friction_cone(const ContactVector<Dim>& x, double mu) {
  constexpr int normal = Dim - 1;
  const double tangential = tangential_norm<Dim>(x);
  // The polar cone first: with mu = 0 a point straight below the apex passes both tests.
  if (mu * tangential <= -x[normal]) return ContactVector<Dim>::Zero();
  if (tangential <= mu * x[normal]) return x;
  const double projected_normal = (mu * tangential + x[normal]) / (mu * mu + 1.0);
  ContactVector<Dim> projected = x * (mu * projected_normal / tangential);
  projected[normal] = projected_normal;
  return projected;
}

/// Euclidean projection onto the dual cone K_mu* = {mu ‖x_T‖ ≤ x_N} (K_{1/mu}), by Moreau's decomposition
/// P_{K*}(x) = x + P_K(−x); never forms 1/mu, and mu = 0 gives R² × R_+.
template <int Dim>
ContactVector<Dim> project_dual_friction_cone(const ContactVector<Dim>& x, double mu) {
  const ContactVector<Dim> reflected = -x;
  return x + project_friction_cone<Dim>(reflected, mu);
}

}  // namespace conebench
