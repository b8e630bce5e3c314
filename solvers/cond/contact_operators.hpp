#pragma once

#include <algorithm>
#include <cmath>

#include "problems/cones/coulomb.hpp"
#include "problems/cones/interval.hpp"

/// ProjectFC of paper Lee23's Algorithm 2, (26): from z = −(η + φ) / γ to the impulse of one contact. The normal is
/// last.
namespace conebench::cond {

/// The nearest impulse within the bounds; NaN stays.
inline double clip(double z, const Interval& bounds) {
  return z < bounds.lower ? bounds.lower : z > bounds.upper ? bounds.upper : z;
}

/// λ_n = max(z_n, 0), λ_t the nearest point to z_t of the disk of radius mu λ_n: Coulomb's law where Γ = γ I (Prop. 4).
template <int Dim>
ContactVector<Dim> strict_operator(const ContactVector<Dim>& z, double mu) {
  constexpr int n = Dim - 1;
  if (!(z[n] > 0.0)) return std::isnan(z[n]) ? z : ContactVector<Dim>::Zero();
  ContactVector<Dim> impulse = z;
  const double tangential = tangential_norm<Dim>(z);
  if (tangential > mu * z[n]) impulse.template head<n>() *= mu * z[n] / tangential;
  return impulse;
}

/// The same for the ellipse (λ_1 / mu_1)² + (λ_2 / mu_2)² ≤ λ_n² of Sec. III-E2, which the text calls (12). Outside,
/// λ_k = z_k mu_k² / (mu_k² + s), with s the root of a convex, decreasing function: Newton's steps from s = 0 rise to
/// it.
inline Eigen::Vector3d strict_operator(const Eigen::Vector3d& z, double mu1, double mu2) {
  if (!(z[2] > 0.0)) return std::isnan(z[2]) ? z : Eigen::Vector3d::Zero();
  if (!(mu1 > 0.0) || !(mu2 > 0.0))
    return {mu1 > 0.0 ? std::clamp(z[0], -mu1 * z[2], mu1 * z[2]) : 0.0,
            mu2 > 0.0 ? std::clamp(z[1], -mu2 * z[2], mu2 * z[2]) : 0.0, z[2]};
  const double x1 = z[0] / z[2], x2 = z[1] / z[2];
  const double a1 = mu1 * mu1, a2 = mu2 * mu2;
  if (x1 * x1 / a1 + x2 * x2 / a2 <= 1.0) return z;
  double s = 0.0;
  constexpr int max_steps = 60;
  for (int k = 0; k < max_steps; ++k) {
    const double f1 = a1 * x1 * x1 / ((a1 + s) * (a1 + s)), f2 = a2 * x2 * x2 / ((a2 + s) * (a2 + s));
    // In 1/√f, which is nearly linear in s, a step of Newton's is longer and still does not pass the root.
    const double f = f1 + f2, slope = -2.0 * (f1 / (a1 + s) + f2 / (a2 + s));
    const double step = 2.0 * f * (1.0 - std::sqrt(f)) / slope;
    s += step;
    if (!(step > 1e-15 * s)) break;
  }
  return {z[0] * a1 / (a1 + s), z[1] * a2 / (a2 + s), z[2]};
}

/// The nearest point of the cone in the norm Σ gamma_k x_k², which for equal gammas is (26): the cone problem (28).
template <int Dim>
ContactVector<Dim> proximal_operator(const ContactVector<Dim>& z, double mu, double gamma_t, double gamma_n) {
  if (gamma_t == gamma_n) return project_friction_cone<Dim>(z, mu);
  const double ratio = std::sqrt(gamma_t / gamma_n);
  ContactVector<Dim> scaled = z;
  scaled.template head<Dim - 1>() *= ratio;
  ContactVector<Dim> impulse = project_friction_cone<Dim>(scaled, mu * ratio);
  impulse.template head<Dim - 1>() /= ratio;
  return impulse;
}

}  // namespace conebench::cond
