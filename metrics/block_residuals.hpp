#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>

#include "metrics/precision.hpp"

namespace conebench {

/// The judge's formulas for one block. They are independent of the projections that solvers use. Differences such as
/// x − P(x) are formed directly, so that a small violation of a large vector keeps its digits. Norms use hypot, so that
/// they neither overflow nor underflow. Components are (t, n), (t1, t2, n), or with rolling friction
/// (t1, t2, n, m1, m2).
template <class Real, int Dim>
using BlockVector = Eigen::Matrix<Real, Dim, 1>;

/// Index of the normal among a block's rows.
template <int Rows>
constexpr int normal_of = Rows - 1;
template <>
inline constexpr int normal_of<5> = 2;

template <class Real, int Dim>
Real block_norm(const BlockVector<Real, Dim>& x) {
  std::array<Real, Dim> entries;
  for (int k = 0; k < Dim; ++k) entries[static_cast<std::size_t>(k)] = x[k];
  return hypotenuse(entries);
}

template <class Real, int Dim>
Real slip_norm(const BlockVector<Real, Dim>& x) {
  if constexpr (Dim == 2) {
    return hypotenuse(std::array{x[0]});
  } else {
    return hypotenuse(std::array{x[0], x[1]});
  }
}
template <class Real>
Real roll_norm(const BlockVector<Real, 5>& x) {
  return hypotenuse(std::array{x[3], x[4]});
}

/// A contact's coefficients, and (1, mu) at unit length, the cone's direction; `rolling` in the scaled unit, 0 without
/// rolling friction.
template <class Real>
struct BlockFriction {
  Real sliding = 0.0;
  Real rolling = 0.0;
  Real cosine = 1.0;
  Real sine = 0.0;
};

/// Γ's entry on the normal.
template <class Real, int Dim>
Real de_saxce_of(const BlockVector<Real, Dim>& velocity, const BlockFriction<Real>& mu) {
  if constexpr (Dim > 3) {
    return mu.sliding * slip_norm(velocity) + mu.rolling * roll_norm(velocity);
  } else {
    return mu.sliding * slip_norm(velocity);
  }
}

namespace detail {

/// x − P_C(x) for C = {a ‖x_T‖ ≤ b x_N, x_N ≥ 0} with a, b ≥ 0 not both 0; the polar of C is
/// {b ‖x_T‖ ≤ −a x_N, x_N ≤ 0}. (sine, cosine) is (b, a) / ‖(a, b)‖.
template <class Real, int Dim>
BlockVector<Real, Dim> outside_of_cone(const BlockVector<Real, Dim>& x, const Real& a, const Real& b,
                                       const Real& cosine, const Real& sine) {
  constexpr int n = Dim - 1;
  const Real tangential = slip_norm(x);
  if (a * tangential <= b * x[n] && x[n] >= 0.0) return BlockVector<Real, Dim>::Zero();
  if (b * tangential <= -a * x[n] && x[n] <= 0.0) return x;
  const Real excess = cosine * tangential - sine * x[n];
  BlockVector<Real, Dim> difference = x * Real(cosine * (excess / tangential));
  difference[n] = -sine * excess;
  return difference;
}

/// The root x ≥ start of x − c = Σ mu_k max(0, a_k − mu_k x) over the two bounds, a = (slide, roll). The difference of
/// both sides is concave, increasing and linear in pieces, so that Newton's steps from below end at the root after
/// three at most.
template <class Real>
Real rolling_root(const Real& start, const Real& c, const BlockFriction<Real>& mu, const Real& slide,
                  const Real& roll) {
  Real x = start;
  for (int step = 0; step < 4; ++step) {
    const Real slides = slide - mu.sliding * x;
    const Real rolls = roll - mu.rolling * x;
    Real value = x - c;
    Real slope = 1.0;
    if (slides > 0.0) {
      value -= mu.sliding * slides;
      slope += mu.sliding * mu.sliding;
    }
    if (rolls > 0.0) {
      value -= mu.rolling * rolls;
      slope += mu.rolling * mu.rolling;
    }
    if (value != value) return value;
    if (!(value < 0.0)) return x;
    x -= value / slope;
  }
  return x;
}

}  // namespace detail

/// P_K(x) for K = {‖x_T‖ ≤ mu x_N, ‖x_M‖ ≤ mu_r x_N}, computed from the cone's apex, so that a small projection keeps
/// its digits.
template <class Real>
BlockVector<Real, 5> project_rolling_cone(const BlockVector<Real, 5>& x, const BlockFriction<Real>& mu) {
  const Real slip = slip_norm(x);
  const Real roll = roll_norm(x);
  if (mu.sliding * slip + mu.rolling * roll <= -x[2]) return BlockVector<Real, 5>::Zero();
  const Real normal = detail::rolling_root<Real>(0.0, x[2], mu, slip, roll);
  BlockVector<Real, 5> point = x;
  point[2] = normal;
  if (slip > mu.sliding * normal) point.template head<2>() *= Real(mu.sliding * normal / slip);
  if (roll > mu.rolling * normal) point.template tail<2>() *= Real(mu.rolling * normal / roll);
  return point;
}

/// x − P_K(x) for the same cone, computed from x, so that a small distance to the cone keeps its digits.
template <class Real>
BlockVector<Real, 5> outside_of_rolling_cone(const BlockVector<Real, 5>& x, const BlockFriction<Real>& mu) {
  const Real slip = slip_norm(x);
  const Real roll = roll_norm(x);
  if (mu.sliding * slip + mu.rolling * roll <= -x[2]) return x;
  // In the normal's step P(x)_N − x_N ≥ max(0, −x_N).
  const Real slip_beyond = slip - mu.sliding * x[2];
  const Real roll_beyond = roll - mu.rolling * x[2];
  const Real step = detail::rolling_root<Real>(larger<Real>(0.0, -x[2]), 0.0, mu, slip_beyond, roll_beyond);
  BlockVector<Real, 5> difference = BlockVector<Real, 5>::Zero();
  difference[2] = -step;
  if (slip_beyond > mu.sliding * step) {
    difference.template head<2>() = x.template head<2>() * Real((slip_beyond - mu.sliding * step) / slip);
  }
  if (roll_beyond > mu.rolling * step) {
    difference.template tail<2>() = x.template tail<2>() * Real((roll_beyond - mu.rolling * step) / roll);
  }
  return difference;
}

/// x − P_K(x), K the contact's cone.
template <class Real, int Dim>
BlockVector<Real, Dim> outside_of_friction_cone(const BlockVector<Real, Dim>& x, const BlockFriction<Real>& mu) {
  if constexpr (Dim > 3) {
    return outside_of_rolling_cone(x, mu);
  } else {
    return detail::outside_of_cone<Real, Dim>(x, 1.0, mu.sliding, mu.cosine, mu.sine);
  }
}

/// x − P_{K*}(x), K* = {mu ‖x_T‖ ≤ x_N}; with rolling friction {mu ‖x_T‖ + mu_r ‖x_M‖ ≤ x_N}, where it is −P_K(−x).
template <class Real, int Dim>
BlockVector<Real, Dim> outside_of_dual_cone(const BlockVector<Real, Dim>& x, const BlockFriction<Real>& mu) {
  if constexpr (Dim > 3) {
    return -project_rolling_cone<Real>(-x, mu);
  } else {
    return detail::outside_of_cone<Real, Dim>(x, mu.sliding, 1.0, mu.sine, mu.cosine);
  }
}

/// λ − max(0, λ − v) of a limit.
template <class Real>
Real natural_map_of_limit(const Real& impulse, const Real& velocity) {
  return smaller<Real>(impulse, velocity);
}

/// λ − P_K(λ − v). A cone has no scale: the map with step r, over r, is that of λ / r.
template <class Real, int Dim>
BlockVector<Real, Dim> natural_map_of_contact(const BlockVector<Real, Dim>& impulse,
                                              const BlockVector<Real, Dim>& velocity, const BlockFriction<Real>& mu) {
  const BlockVector<Real, Dim> point = impulse - velocity;
  // In the polar cone, projected to 0.
  if (de_saxce_of<Real, Dim>(point, mu) <= -point[normal_of<Dim>]) return impulse;
  return velocity + outside_of_friction_cone<Real, Dim>(point, mu);
}

/// σ + x d/d_n, d the normal row of the contact's own block of G + R, x ≥ 0 the smallest root of x = mu ‖σ_T + x
/// d_T/d_n‖: the velocity whose complementarity with λ is RaiSim's model, least energy among the impulses in the cone
/// that leave no normal velocity (LeLidec24 (23), whose Karush–Kuhn–Tucker conditions give (24)). For d_T = 0 that is
/// De Saxcé's correction, which also stands in where there is no root or d_n ≤ 0.
template <class Real, int Dim>
BlockVector<Real, Dim> raisim_velocity(const BlockVector<Real, Dim>& velocity, const BlockVector<Real, Dim>& normal_row,
                                       const Real& mu) {
  using std::sqrt;
  constexpr int n = Dim - 1;
  const Real speed = slip_norm(velocity);
  BlockVector<Real, Dim> corrected = velocity;
  corrected[n] += mu * speed;
  if (mu == 0.0 || speed == 0.0 || !(normal_row[n] > 0.0)) return corrected;
  // In units of the speed: (1 − ‖a‖²) x² − 2 p x − mu² = 0 with a = mu d_T/d_n, p = mu a · σ_T/‖σ_T‖.
  const Real ratio = mu / normal_row[n];
  const BlockVector<Real, n> a = normal_row.template head<n>() * ratio;
  const Real flatness = 1.0 - a.squaredNorm();
  const Real p = mu * (a.dot(velocity.template head<n>()) / speed);
  const Real square = p * p + flatness * mu * mu;
  if (!(square >= 0.0)) return corrected;
  const Real root = sqrt(square);
  Real x = p > 0.0 ? Real((p + root) / flatness) : Real(mu * mu / (root - p));
  if (!(x >= 0.0) || !std::isfinite(to_double(x))) return corrected;
  x *= speed;
  corrected = velocity;
  corrected.template head<n>() += a * Real(x / mu);
  corrected[n] += x;
  return corrected;
}

/// The natural map of the box model: λ_N − max(0, λ_N − v_N), and every tangential component clamped by itself,
/// λ_t − clamp(λ_t − v_t, ±mu max(0, λ_N)).
template <class Real, int Dim>
BlockVector<Real, Dim> natural_map_of_box(const BlockVector<Real, Dim>& impulse, const BlockVector<Real, Dim>& velocity,
                                          const Real& mu) {
  constexpr int n = Dim - 1;
  const Real bound = mu * larger<Real>(impulse[n], 0.0);
  BlockVector<Real, Dim> map;
  for (int k = 0; k < n; ++k) {
    map[k] = smaller<Real>(larger<Real>(velocity[k], impulse[k] - bound), impulse[k] + bound);
  }
  map[n] = natural_map_of_limit<Real>(impulse[n], velocity[n]);
  return map;
}

/// x − P_F(x) in the tangent plane for F the regular octagon with corners at radius · (cos, sin)(2π m / 8).
template <class Real>
BlockVector<Real, 2> outside_of_octagon(const BlockVector<Real, 2>& x, const Real& radius) {
  using std::abs;
  using std::sqrt;
  // The side between the corners at 0 and 45 degrees, for x mirrored into its sector.
  const Real width = abs(x[0]);
  const Real height = abs(x[1]);
  const bool steep = height > width;
  const Real high = steep ? width : height;
  const Real far = steep ? height : width;
  static const Real cosine = sqrt(Real(0.5 + 0.5 * sqrt(Real(0.5))));  // of 22.5 degrees
  static const Real sine = sqrt(Real(0.5 - 0.5 * sqrt(Real(0.5))));
  const Real beyond = cosine * far + sine * high - radius * cosine;
  if (!(beyond > 0.0)) return BlockVector<Real, 2>::Zero();
  const Real along = cosine * high - sine * far;  // from the middle of the side
  const Real bound = radius * sine;
  const Real past = along > bound ? Real(along - bound) : smaller<Real>(along + bound, 0.0);
  const Real first = beyond * cosine - past * sine;
  const Real second = beyond * sine + past * cosine;
  BlockVector<Real, 2> outside(steep ? second : first, steep ? first : second);
  if (x[0] < 0.0) outside[0] = -outside[0];
  if (x[1] < 0.0) outside[1] = -outside[1];
  return outside;
}

/// The natural map of the facet model with eight facets (Yamane (21)–(23)): λ_N − max(0, λ_N − v_N), and
/// λ_T − P_F(λ_T − v_T) with F the octagon of radius mu max(0, λ_N); in 2D the interval, which is the box.
template <class Real, int Dim>
BlockVector<Real, Dim> natural_map_of_facets(const BlockVector<Real, Dim>& impulse,
                                             const BlockVector<Real, Dim>& velocity, const Real& mu) {
  if constexpr (Dim == 2) {
    return natural_map_of_box<Real, 2>(impulse, velocity, mu);
  } else {
    const Real radius = mu * larger<Real>(impulse[2], 0.0);
    const BlockVector<Real, 2> moved = impulse.template head<2>() - velocity.template head<2>();
    BlockVector<Real, Dim> map = velocity;
    map.template head<2>() += outside_of_octagon<Real>(moved, radius);
    map[2] = natural_map_of_limit<Real>(impulse[2], velocity[2]);
    return map;
  }
}

}  // namespace conebench
