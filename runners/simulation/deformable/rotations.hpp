#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cmath>

namespace conebench::simulation {

inline Eigen::Matrix3d cross_matrix(const Eigen::Vector3d& a) {
  Eigen::Matrix3d m;
  m << 0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0;
  return m;
}

/// exp [a]× as a unit quaternion.
inline Eigen::Quaterniond exponential(const Eigen::Vector3d& a) {
  const double half = 0.5 * a.norm();
  const double share = half < 1e-8 ? 0.5 : 0.5 * std::sin(half) / half;
  return {std::cos(half), share * a[0], share * a[1], share * a[2]};
}

/// φ with exp [φ]× = R, of length π at most.
inline Eigen::Vector3d logarithm(const Eigen::Matrix3d& r) {
  Eigen::Quaterniond q(r);
  if (q.w() < 0.0) q.coeffs() = -q.coeffs();
  const double sine = q.vec().norm();
  const double angle = 2.0 * std::atan2(sine, q.w());
  return sine < 1e-12 ? Eigen::Vector3d(2.0 * q.vec()) : Eigen::Vector3d(angle / sine * q.vec());
}

/// d φ / d δ of log(exp [δ]× exp [φ]×) at δ = 0.
inline Eigen::Matrix3d logarithm_derivative(const Eigen::Vector3d& phi) {
  const double t = phi.norm();
  const double c = t < 1e-4 ? 1.0 / 12.0 : 1.0 / (t * t) - (1.0 + std::cos(t)) / (2.0 * t * std::sin(t));
  const Eigen::Matrix3d x = cross_matrix(phi);
  return Eigen::Matrix3d::Identity() - 0.5 * x + c * x * x;
}

}  // namespace conebench::simulation
