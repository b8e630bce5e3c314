#pragma once

#include <Eigen/Core>
#include <cmath>

namespace conebench {

/// What the judge computes block by block, apart from the projections that solvers use: differences such as
/// x − P(x) are formed directly, so that a small violation of a large vector keeps its digits, and norms by hypot, so
/// that they neither overflow nor underflow. Components are (t1, t2, n) or (t, n), the normal last.
template <int Dim>
using BlockVector = Eigen::Matrix<double, Dim, 1>;

inline double block_norm(const BlockVector<1>& x) { return std::abs(x[0]); }
inline double block_norm(const BlockVector<2>& x) { return std::hypot(x[0], x[1]); }
inline double block_norm(const BlockVector<3>& x) { return std::hypot(x[0], x[1], x[2]); }

inline double slip_norm(const BlockVector<2>& x) { return std::abs(x[0]); }
inline double slip_norm(const BlockVector<3>& x) { return std::hypot(x[0], x[1]); }

namespace detail {

/// x − P_C(x) for C = {a ‖x_T‖ ≤ b x_N, x_N ≥ 0} with a, b ≥ 0 not both 0; the polar of C is
/// {b ‖x_T‖ ≤ −a x_N, x_N ≤ 0}.
template <int Dim>
BlockVector<Dim> outside_of_cone(const BlockVector<Dim>& x, double a, double b) {
  constexpr int n = Dim - 1;
  const double tangential = slip_norm(x);
  if (a * tangential <= b * x[n] && x[n] >= 0.0) return BlockVector<Dim>::Zero();
  if (b * tangential <= -a * x[n] && x[n] <= 0.0) return x;
  const double length = std::hypot(a, b);
  const double excess = (a / length) * tangential - (b / length) * x[n];
  BlockVector<Dim> difference = x * ((a / length) * (excess / tangential));
  difference[n] = -(b / length) * excess;
  return difference;
}

}  // namespace detail

/// x − P_{K_mu}(x).
template <int Dim>
BlockVector<Dim> outside_of_friction_cone(const BlockVector<Dim>& x, double mu) {
  return detail::outside_of_cone<Dim>(x, 1.0, mu);
}

/// x − P_{K_mu*}(x), K_mu* = {mu ‖x_T‖ ≤ x_N}.
template <int Dim>
BlockVector<Dim> outside_of_dual_cone(const BlockVector<Dim>& x, double mu) {
  return detail::outside_of_cone<Dim>(x, mu, 1.0);
}

/// λ − P_{K_mu}(λ − r v).
template <int Dim>
BlockVector<Dim> natural_map_of_contact(const BlockVector<Dim>& impulse, const BlockVector<Dim>& velocity, double r,
                                        double mu) {
  constexpr int n = Dim - 1;
  const BlockVector<Dim> point = impulse - r * velocity;
  if (mu * slip_norm(point) <= -point[n]) return impulse;  // in the polar cone, projected to 0
  return r * velocity + outside_of_friction_cone<Dim>(point, mu);
}

/// λ − max(0, λ − r v) of a limit.
inline double natural_map_of_limit(double impulse, double velocity, double r) {
  return std::fmin(impulse, r * velocity);
}

/// The natural map of the box model: λ_N − max(0, λ_N − r v_N), and every tangential component clamped by itself,
/// λ_t − clamp(λ_t − r v_t, ±mu max(0, λ_N)).
template <int Dim>
BlockVector<Dim> natural_map_of_box(const BlockVector<Dim>& impulse, const BlockVector<Dim>& velocity, double r,
                                    double mu) {
  constexpr int n = Dim - 1;
  const double bound = mu * std::fmax(impulse[n], 0.0);
  BlockVector<Dim> map;
  for (int k = 0; k < n; ++k) {
    const double step = r * velocity[k];
    map[k] = std::fmin(std::fmax(step, impulse[k] - bound), impulse[k] + bound);
  }
  map[n] = natural_map_of_limit(impulse[n], velocity[n], r);
  return map;
}

}  // namespace conebench
