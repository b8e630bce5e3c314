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

/// J(x) = I + p [x]× + q [x]×², with p and q of t = |x|, and their derivatives over t.
struct TurnJacobian {
  double p, q, p_over, q_over;

  Eigen::Matrix3d at(const Eigen::Vector3d& x) const {
    const Eigen::Matrix3d cross = cross_matrix(x);
    return Eigen::Matrix3d::Identity() + p * cross + q * cross * cross;
  }
  /// d (Jᵀ g) / dx.
  Eigen::Matrix3d curvature(const Eigen::Vector3d& x, const Eigen::Vector3d& g) const {
    const Eigen::Vector3d once = x.cross(g), twice = x.cross(once);
    return p * cross_matrix(g) - q * (cross_matrix(once) + cross_matrix(x) * cross_matrix(g)) +
           (q_over * twice - p_over * once) * x.transpose();
  }
};

/// d δ / d ε of exp [δ]× exp [x]× = exp [x + ε]× at ε = 0.
inline TurnJacobian of_exponential(const Eigen::Vector3d& x) {
  const double s = x.squaredNorm(), t = std::sqrt(s);
  if (t < 0.3) {
    const auto series = [s](double a, double b, double c, double d, double e) {
      return a + s * (b + s * (c + s * (d + s * e)));
    };
    return {series(1.0 / 2, -1.0 / 24, 1.0 / 720, -1.0 / 40320, 1.0 / 3628800),
            series(1.0 / 6, -1.0 / 120, 1.0 / 5040, -1.0 / 362880, 1.0 / 39916800),
            series(-1.0 / 12, 1.0 / 180, -1.0 / 6720, 1.0 / 453600, -1.0 / 47900160),
            series(-1.0 / 60, 1.0 / 1260, -1.0 / 60480, 1.0 / 4989600, -1.0 / 622702080)};
  }
  const double sine = std::sin(t), lost = 1.0 - std::cos(t);
  return {lost / s, (t - sine) / (s * t), (t * sine - 2.0 * lost) / (s * s),
          (3.0 * sine - 3.0 * t + t * lost) / (s * s * t)};
}

/// d x / d δ of exp [δ]× exp [x]× at δ = 0, for |x| < 2 π.
inline TurnJacobian of_logarithm(const Eigen::Vector3d& x) {
  const double s = x.squaredNorm(), t = std::sqrt(s);
  if (t < 0.4) {
    const double q = 1.0 / 12 + s * (1.0 / 720 + s * (1.0 / 30240 + s * (1.0 / 1209600 + s / 47900160)));
    const double q_over =
        1.0 / 360 + s * (1.0 / 7560 + s * (1.0 / 201600 + s * (1.0 / 5987520 + s * 5.284190138687493e-9)));
    return {-0.5, q, 0.0, q_over};
  }
  const double half = 0.5 * t, sine = std::sin(half), turned = half * std::cos(half) / sine;
  return {-0.5, (1.0 - turned) / s, 0.0, (turned + half * half / (sine * sine) - 2.0) / (s * s)};
}

}  // namespace conebench::simulation
