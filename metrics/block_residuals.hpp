#pragma once

#include <Eigen/Core>
#include <cmath>

namespace conebench {

/// What the judge computes block by block, apart from the projections that solvers use: differences such as
/// x − P(x) are formed directly, so that a small violation of a large vector keeps its digits, and norms by hypot, so
/// that they neither overflow nor underflow. Components are (t, n), (t1, t2, n), or with rolling friction
/// (t1, t2, n, m1, m2).
template <int Dim>
using BlockVector = Eigen::Matrix<double, Dim, 1>;

/// Place of the normal among a block's rows.
template <int Rows>
constexpr int normal_of = Rows - 1;
template <>
inline constexpr int normal_of<5> = 2;

inline double block_norm(const BlockVector<1>& x) { return std::abs(x[0]); }
inline double block_norm(const BlockVector<2>& x) { return std::hypot(x[0], x[1]); }
inline double block_norm(const BlockVector<3>& x) { return std::hypot(x[0], x[1], x[2]); }

inline double block_norm(const BlockVector<5>& x) { return std::hypot(std::hypot(x[0], x[1], x[2]), x[3], x[4]); }

inline double slip_norm(const BlockVector<2>& x) { return std::abs(x[0]); }
inline double slip_norm(const BlockVector<3>& x) { return std::hypot(x[0], x[1]); }
inline double slip_norm(const BlockVector<5>& x) { return std::hypot(x[0], x[1]); }
inline double roll_norm(const BlockVector<5>& x) { return std::hypot(x[3], x[4]); }

/// A contact's coefficients; `rolling` in the scaled unit, 0 without rolling friction.
struct BlockFriction {
  double sliding = 0.0;
  double rolling = 0.0;
};

/// Γ's entry on the normal.
template <int Dim>
double de_saxce_of(const BlockVector<Dim>& velocity, BlockFriction mu) {
  if constexpr (Dim > 3) {
    return mu.sliding * slip_norm(velocity) + mu.rolling * roll_norm(velocity);
  } else {
    return mu.sliding * slip_norm(velocity);
  }
}

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

/// The root x ≥ start of x − c = Σ mu_k max(0, a_k − mu_k x) over the two bounds, a = (slide, roll). The difference of
/// both sides is concave, increasing and linear in pieces, so that Newton's steps from below end at the root after
/// three at most.
inline double rolling_root(double start, double c, BlockFriction mu, double slide, double roll) {
  double x = start;
  for (int step = 0; step < 4; ++step) {
    const double slides = slide - mu.sliding * x;
    const double rolls = roll - mu.rolling * x;
    double value = x - c;
    double slope = 1.0;
    if (slides > 0.0) {
      value -= mu.sliding * slides;
      slope += mu.sliding * mu.sliding;
    }
    if (rolls > 0.0) {
      value -= mu.rolling * rolls;
      slope += mu.rolling * mu.rolling;
    }
    if (!(value < 0.0)) return std::isnan(value) ? value : x;
    x -= value / slope;
  }
  return x;
}

}  // namespace detail

/// P_K(x) for K = {‖x_T‖ ≤ mu x_N, ‖x_M‖ ≤ mu_r x_N}, from the tip of the cone: what is small keeps its digits.
inline BlockVector<5> project_rolling_cone(const BlockVector<5>& x, BlockFriction mu) {
  const double slip = slip_norm(x);
  const double roll = roll_norm(x);
  if (mu.sliding * slip + mu.rolling * roll <= -x[2]) return BlockVector<5>::Zero();
  const double normal = detail::rolling_root(0.0, x[2], mu, slip, roll);
  BlockVector<5> point = x;
  point[2] = normal;
  if (slip > mu.sliding * normal) point.head<2>() *= mu.sliding * normal / slip;
  if (roll > mu.rolling * normal) point.tail<2>() *= mu.rolling * normal / roll;
  return point;
}

/// x − P_K(x) for the same cone, from x on: a small step out of the cone keeps its digits.
inline BlockVector<5> outside_of_rolling_cone(const BlockVector<5>& x, BlockFriction mu) {
  const double slip = slip_norm(x);
  const double roll = roll_norm(x);
  if (mu.sliding * slip + mu.rolling * roll <= -x[2]) return x;
  // In the normal's step P(x)_N − x_N ≥ max(0, −x_N).
  const double slip_beyond = slip - mu.sliding * x[2];
  const double roll_beyond = roll - mu.rolling * x[2];
  const double step = detail::rolling_root(std::fmax(0.0, -x[2]), 0.0, mu, slip_beyond, roll_beyond);
  BlockVector<5> difference = BlockVector<5>::Zero();
  difference[2] = -step;
  if (slip_beyond > mu.sliding * step) {
    difference.head<2>() = x.head<2>() * ((slip_beyond - mu.sliding * step) / slip);
  }
  if (roll_beyond > mu.rolling * step) {
    difference.tail<2>() = x.tail<2>() * ((roll_beyond - mu.rolling * step) / roll);
  }
  return difference;
}

/// x − P_K(x), K the contact's cone.
template <int Dim>
BlockVector<Dim> outside_of_friction_cone(const BlockVector<Dim>& x, BlockFriction mu) {
  if constexpr (Dim > 3) {
    return outside_of_rolling_cone(x, mu);
  } else {
    return detail::outside_of_cone<Dim>(x, 1.0, mu.sliding);
  }
}

/// x − P_{K*}(x), K* = {mu ‖x_T‖ ≤ x_N}; with rolling friction {mu ‖x_T‖ + mu_r ‖x_M‖ ≤ x_N}, where it is −P_K(−x).
template <int Dim>
BlockVector<Dim> outside_of_dual_cone(const BlockVector<Dim>& x, BlockFriction mu) {
  if constexpr (Dim > 3) {
    return -project_rolling_cone(-x, mu);
  } else {
    return detail::outside_of_cone<Dim>(x, mu.sliding, 1.0);
  }
}

/// λ − P_K(λ − r v).
template <int Dim>
BlockVector<Dim> natural_map_of_contact(const BlockVector<Dim>& impulse, const BlockVector<Dim>& velocity, double r,
                                        BlockFriction mu) {
  const BlockVector<Dim> point = impulse - r * velocity;
  // In the polar cone, projected to 0.
  if (de_saxce_of<Dim>(point, mu) <= -point[normal_of<Dim>]) return impulse;
  return r * velocity + outside_of_friction_cone<Dim>(point, mu);
}

/// λ − max(0, λ − r v) of a limit.
inline double natural_map_of_limit(double impulse, double velocity, double r) {
  return std::fmin(impulse, r * velocity);
}

/// σ + x d/d_n, d the normal row of the contact's own block of G + R, x ≥ 0 the smallest root of x = mu ‖σ_T + x
/// d_T/d_n‖: the velocity whose complementarity with λ is RaiSim's model, least energy among the impulses in the cone
/// that leave no normal velocity (002 (23), whose Karush–Kuhn–Tucker conditions give (24)). For d_T = 0 that is De
/// Saxcé's correction, which also stands in where there is no root or d_n ≤ 0.
template <int Dim>
BlockVector<Dim> raisim_velocity(const BlockVector<Dim>& velocity, const BlockVector<Dim>& normal_row, double mu) {
  constexpr int n = Dim - 1;
  const double speed = slip_norm(velocity);
  BlockVector<Dim> corrected = velocity;
  corrected[n] += mu * speed;
  if (mu == 0.0 || speed == 0.0 || !(normal_row[n] > 0.0)) return corrected;
  // In units of the speed: (1 − ‖a‖²) x² − 2 p x − mu² = 0 with a = mu d_T/d_n, p = mu a · σ_T/‖σ_T‖.
  const auto a = (mu / normal_row[n] * normal_row.template head<n>()).eval();
  const auto direction = (velocity.template head<n>() / speed).eval();
  const double flatness = 1.0 - a.squaredNorm();
  const double p = mu * a.dot(direction);
  const double root = std::sqrt(p * p + flatness * mu * mu);
  double x = p > 0.0 ? (p + root) / flatness : mu * mu / (root - p);
  if (!(x >= 0.0) || !std::isfinite(x)) return corrected;
  x *= speed;
  corrected = velocity;
  corrected.template head<n>() += (x / mu) * a;
  corrected[n] += x;
  return corrected;
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

/// x − P_F(x) in the tangent plane for F the regular polygon with `facets` corners at radius · (cos, sin)(2π m /
/// facets), in 2D the interval ±radius.
inline double outside_of_polygon(double x, double radius, int /*facets*/) {
  return x > radius ? x - radius : std::fmin(x + radius, 0.0);
}
inline Eigen::Vector2d outside_of_polygon(const Eigen::Vector2d& x, double radius, int facets) {
  constexpr double pi = 3.14159265358979323846;
  const double step = 2.0 * pi / facets;
  // The nearest point lies on the side between the two corners that enclose the direction of x.
  const double middle = (std::floor(std::atan2(x[1], x[0]) / step) + 0.5) * step;
  const Eigen::Vector2d normal(std::cos(middle), std::sin(middle));
  const Eigen::Vector2d along(-normal[1], normal[0]);
  const double beyond = normal.dot(x) - radius * std::cos(0.5 * step);
  if (!(beyond > 0.0)) return Eigen::Vector2d::Zero();
  return beyond * normal + outside_of_polygon(along.dot(x), radius * std::sin(0.5 * step), 2) * along;
}

/// The natural map of the facet model (001 (21)–(23)): λ_N − max(0, λ_N − r v_N), and λ_T − P_F(λ_T − r v_T) with F the
/// polygon of radius mu max(0, λ_N).
template <int Dim>
BlockVector<Dim> natural_map_of_facets(const BlockVector<Dim>& impulse, const BlockVector<Dim>& velocity, double r,
                                       double mu, int facets) {
  constexpr int n = Dim - 1;
  const double radius = mu * std::fmax(impulse[n], 0.0);
  BlockVector<Dim> map;
  if constexpr (Dim == 2) {
    map[0] = r * velocity[0] + outside_of_polygon(impulse[0] - r * velocity[0], radius, facets);
  } else {
    const Eigen::Vector2d step = r * velocity.template head<2>();
    map.template head<2>() = step + outside_of_polygon(impulse.template head<2>() - step, radius, facets);
  }
  map[n] = natural_map_of_limit(impulse[n], velocity[n], r);
  return map;
}

}  // namespace conebench
