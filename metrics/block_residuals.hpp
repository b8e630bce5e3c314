#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "metrics/precision.hpp"
#include "problems/cones/friction_cone.hpp"

namespace conebench {

/// The judge's formulas for one block. They are independent of the projections that solvers use. Differences such as
/// x − P(x) are formed directly, so that a small violation of a large vector keeps its digits. Norms use hypot, so that
/// they neither overflow nor underflow. Components are (t, n), (t1, t2, n), or with other laws of friction the first
/// group, the normal, the other groups; Eigen::Dynamic stands for at most max_contact_rows of them.
template <class Real, int Rows>
using BlockVector = Eigen::Matrix<Real, Rows, 1, 0, Rows == Eigen::Dynamic ? max_contact_rows : Rows, 1>;

template <class Real, int Rows>
Real block_norm(const BlockVector<Real, Rows>& x) {
  return hypotenuse(std::span<const Real>(x.data(), static_cast<std::size_t>(x.size())));
}

/// Rows of a contact's tangents or moments that friction bounds together.
template <class Real>
struct FrictionGroup {
  int first = 0;
  int size = 0;
  Real friction = 0.0;  ///< mu_g, in scaled variables

  BlockVector<Real, Eigen::Dynamic> of(const auto& x) const { return x.segment(first, size); }
};

/// A joint's row: σ = 0, λ is free.
struct FreeRow {
  static constexpr int rows = 1;
  static constexpr int normal = 0;
  static constexpr int size() { return 1; }
  void for_each_group(auto&&) const {}

  /// λ − P_K(λ), v − P_K*(v), λ − P_K(λ − v).
  template <class Real>
  BlockVector<Real, 1> outside(const BlockVector<Real, 1>&) const {
    return BlockVector<Real, 1>(Real(0.0));
  }
  template <class Real>
  BlockVector<Real, 1> outside_dual(const BlockVector<Real, 1>& velocity) const {
    return velocity;
  }
  template <class Real>
  BlockVector<Real, 1> natural_map(const BlockVector<Real, 1>&, const BlockVector<Real, 1>& velocity) const {
    return velocity;
  }
  template <class Real>
  Real complementarity(const BlockVector<Real, 1>&, const BlockVector<Real, 1>&) const {
    return 0.0;
  }
};

/// λ − max(0, λ − v).
template <class Real>
Real natural_map_of_limit(const Real& impulse, const Real& velocity) {
  return smaller<Real>(impulse, velocity);
}

/// A limit's row: 0 ≤ λ ⟂ σ ≥ 0.
struct LimitRow {
  static constexpr int rows = 1;
  static constexpr int normal = 0;
  static constexpr int size() { return 1; }
  void for_each_group(auto&&) const {}

  template <class Real>
  BlockVector<Real, 1> outside(const BlockVector<Real, 1>& impulse) const {
    return BlockVector<Real, 1>(smaller<Real>(impulse[0], 0.0));
  }
  template <class Real>
  BlockVector<Real, 1> outside_dual(const BlockVector<Real, 1>& velocity) const {
    return BlockVector<Real, 1>(smaller<Real>(velocity[0], 0.0));
  }
  template <class Real>
  BlockVector<Real, 1> natural_map(const BlockVector<Real, 1>& impulse, const BlockVector<Real, 1>& velocity) const {
    return BlockVector<Real, 1>(natural_map_of_limit<Real>(impulse[0], velocity[0]));
  }
  template <class Real>
  Real complementarity(const BlockVector<Real, 1>& impulse, const BlockVector<Real, 1>& velocity) const {
    return impulse[0] * velocity[0];
  }
};

/// A row with bounds: l ≤ λ ≤ u, σ > 0 only at l, σ < 0 only at u. No formula computes with an infinite bound.
struct IntervalRow {
  static constexpr int rows = 1;
  static constexpr int normal = 0;
  static constexpr int size() { return 1; }
  void for_each_group(auto&&) const {}

  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  bool has_lower() const { return std::isfinite(lower); }
  bool has_upper() const { return std::isfinite(upper); }

  template <class Real>
  BlockVector<Real, 1> outside(const BlockVector<Real, 1>& impulse) const {
    Real distance = 0.0;
    if (has_lower()) distance += smaller<Real>(impulse[0] - lower, 0.0);
    if (has_upper()) distance += larger<Real>(impulse[0] - upper, 0.0);
    return BlockVector<Real, 1>(distance);
  }
  /// From the velocities that some impulse allows: σ ≥ 0 where there is no u, σ ≤ 0 where there is no l.
  template <class Real>
  BlockVector<Real, 1> outside_dual(const BlockVector<Real, 1>& velocity) const {
    Real distance = 0.0;
    if (!has_upper()) distance += smaller<Real>(velocity[0], 0.0);
    if (!has_lower()) distance += larger<Real>(velocity[0], 0.0);
    return BlockVector<Real, 1>(distance);
  }
  template <class Real>
  BlockVector<Real, 1> natural_map(const BlockVector<Real, 1>& impulse, const BlockVector<Real, 1>& velocity) const {
    return natural_map_over_step<Real>(impulse, velocity, 1.0);
  }
  /// The map with step r, over r. A bound so far that its velocity overflows is none.
  template <class Real>
  BlockVector<Real, 1> natural_map_over_step(const BlockVector<Real, 1>& impulse, const BlockVector<Real, 1>& velocity,
                                             const Real& inverse_step) const {
    Real map = velocity[0];
    if (has_lower()) map = smaller<Real>(Real((impulse[0] - lower) * inverse_step), map);
    if (has_upper()) map = larger<Real>(Real((impulse[0] - upper) * inverse_step), map);
    return BlockVector<Real, 1>(map);
  }
  /// By how much λ could still change in the direction that σ asks for, times σ; the dual residual has what an infinite
  /// bound leaves.
  template <class Real>
  Real complementarity(const BlockVector<Real, 1>& impulse, const BlockVector<Real, 1>& velocity) const {
    if (velocity[0] > 0.0) return has_lower() ? Real((impulse[0] - lower) * velocity[0]) : Real(0.0);
    return has_upper() ? Real((impulse[0] - upper) * velocity[0]) : Real(0.0);
  }
  /// λ σ + max over [l, u] of −x σ, without the infinite terms.
  template <class Real>
  Real gap(const BlockVector<Real, 1>& impulse, const BlockVector<Real, 1>& velocity) const {
    const double bound = velocity[0] > 0.0 ? (has_lower() ? lower : 0.0) : (has_upper() ? upper : 0.0);
    return (impulse[0] - bound) * velocity[0];
  }
};

namespace detail {

/// x − P_C(x) for C = {a ‖x_T‖ ≤ b x_N, x_N ≥ 0} with a, b ≥ 0 not both 0; the polar of C is
/// {b ‖x_T‖ ≤ −a x_N, x_N ≤ 0}. (sine, cosine) is (b, a) / ‖(a, b)‖.
template <class Real, int Dim>
BlockVector<Real, Dim> outside_of_cone(const BlockVector<Real, Dim>& x, const Real& tangential, const Real& a,
                                       const Real& b, const Real& cosine, const Real& sine) {
  constexpr int n = Dim - 1;
  if (a * tangential <= b * x[n] && x[n] >= 0.0) return BlockVector<Real, Dim>::Zero();
  if (b * tangential <= -a * x[n] && x[n] <= 0.0) return x;
  const Real excess = cosine * tangential - sine * x[n];
  BlockVector<Real, Dim> difference = x * Real(cosine * (excess / tangential));
  difference[n] = -sine * excess;
  return difference;
}

}  // namespace detail

/// A contact with Coulomb's friction: K = {‖x_T‖ ≤ mu x_N}.
template <class Real, int Dim>
struct CoulombBlock {
  static constexpr int rows = Dim;
  static constexpr int normal = Dim - 1;
  using Block = BlockVector<Real, Dim>;

  Real friction = 0.0;
  Real cosine = 1.0, sine = 0.0;  ///< (1, mu) at unit length, the cone's direction

  CoulombBlock() = default;
  explicit CoulombBlock(const Real& mu) : friction(mu) {
    const Real length = hypotenuse(std::array{Real(1.0), mu});
    cosine = 1.0 / length;
    sine = mu / length;
  }

  static constexpr int size() { return Dim; }
  static Real slip(const Block& x) { return block_norm(BlockVector<Real, normal>(x.template head<normal>())); }

  /// Γ's entry on the normal.
  Real de_saxce(const Block& velocity) const { return friction * slip(velocity); }
  Block outside(const Block& x) const {
    return detail::outside_of_cone<Real, Dim>(x, slip(x), 1.0, friction, cosine, sine);
  }
  /// x − P_K*(x), K* = {mu ‖x_T‖ ≤ x_N}.
  Block outside_dual(const Block& x) const {
    return detail::outside_of_cone<Real, Dim>(x, slip(x), friction, 1.0, sine, cosine);
  }
  Block natural_map(const Block& impulse, const Block& velocity) const {
    const Block point = impulse - velocity;
    if (de_saxce(point) <= -point[normal]) return impulse;  // in the polar cone, projected to 0
    return velocity + outside(point);
  }
  Real complementarity(const Block& impulse, const Block& velocity) const { return impulse.dot(velocity); }

  /// Of a group: how much of its bound the friction takes, and what slips.
  Real force(const FrictionGroup<Real>&, const Block& impulse) const { return slip(impulse); }
  Real speed(const FrictionGroup<Real>&, const Block& velocity) const { return slip(velocity); }
  void for_each_group(auto&& visit) const { visit(FrictionGroup<Real>{0, normal, friction}); }
};

/// A contact with any law of friction, in scaled variables:
///     discs     K = {‖x_g‖ ≤ mu_g x_N for every group g}, K* = {Σ mu_g ‖x_g‖ ≤ x_N}
///     pyramid   K = {Σ |x_k| ≤ mu x_N},                   K* = {mu max |x_k| ≤ x_N}
template <class Real>
class FrictionBlock {
 public:
  static constexpr int rows = Eigen::Dynamic;
  using Block = BlockVector<Real, Eigen::Dynamic>;
  using Group = FrictionGroup<Real>;

  int normal = 0;

  FrictionBlock() = default;
  /// `friction`: one a group.
  FrictionBlock(ConeShape shape, std::span<const int> sizes, std::span<const Real> friction)
      : normal(sizes[0]), pyramid_(shape == ConeShape::pyramid) {
    for (std::size_t g = 0; g < sizes.size(); ++g) {
      groups_[count_++] = {size_ + (g == 0 ? 0 : 1), sizes[g], friction[g]};
      size_ += sizes[g];
    }
    ++size_;
  }

  int size() const { return size_; }
  std::span<const Group> groups() const { return {groups_.data(), count_}; }

  Real de_saxce(const Block& velocity) const {
    Real sum = 0.0;
    for (const Group& group : groups()) sum += group.friction * speed(group, velocity);
    return sum;
  }
  Block outside(const Block& x) const {
    const Real polar = de_saxce(x) + x[normal];
    if (polar != polar) return Block::Constant(size_, polar);  // no comparison below is to hide it
    if (polar <= 0.0) return x;
    return pyramid_ ? outside_of_pyramid(x) : outside_of_discs(x);
  }
  /// −P_K(−x), by Moreau.
  Block outside_dual(const Block& x) const {
    const Block reflected = -x;
    return -project(reflected);
  }
  Block natural_map(const Block& impulse, const Block& velocity) const {
    const Block point = impulse - velocity;
    if (de_saxce(point) + point[normal] <= 0.0) return impulse;
    return velocity + outside(point);
  }
  Real complementarity(const Block& impulse, const Block& velocity) const { return impulse.dot(velocity); }

  Real force(const Group& group, const Block& impulse) const {
    if (!pyramid_) return block_norm(group.of(impulse));
    Real sum = 0.0;
    for (const Real& entry : group.of(impulse)) sum += size_of(entry);
    return sum;
  }
  Real speed(const Group& group, const Block& velocity) const {
    if (!pyramid_) return block_norm(group.of(velocity));
    Real largest = 0.0;
    for (const Real& entry : group.of(velocity)) largest = larger<Real>(largest, size_of(entry));
    return largest;
  }
  void for_each_group(auto&& visit) const {
    for (const Group& group : groups()) visit(group);
  }

 private:
  using PerPart = std::array<Real, max_contact_rows>;

  static Real size_of(const Real& x) {
    using std::abs;
    return abs(x);
  }

  /// The root s of slope s − c = Σ_k m_k max(0, a_k − m_k s), 0 where it is negative, with the parts that count there
  /// and their sums. The difference of both sides is concave, increasing and linear in pieces, so that Newton's steps
  /// from below end at the root.
  struct Root {
    Real value = 0.0;
    std::array<bool, max_contact_rows> active{};
    Real force = 0.0;   ///< Σ m a
    Real square = 0.0;  ///< Σ m²
  };
  static Root root_of(std::size_t count, const PerPart& a, const PerPart& m, const Real& slope, const Real& c) {
    Root root;
    for (std::size_t step = 0; step <= count; ++step) {
      root.force = root.square = 0.0;
      for (std::size_t k = 0; k < count; ++k) {
        root.active[k] = a[k] - m[k] * root.value > 0.0;
        if (!root.active[k]) continue;
        root.force += m[k] * a[k];
        root.square += m[k] * m[k];
      }
      const Real next = (c + root.force) / (slope + root.square);
      if (!(next > root.value)) break;
      root.value = next;
    }
    return root;
  }

  /// With a_g = ‖x_g‖ the projection's normal entry s minimises (s − x_N)² + Σ_g max(0, a_g − mu_g s)². In the step
  /// s − x_N the groups that are too long for x_N count with what is beyond.
  Block outside_of_discs(const Block& x) const {
    PerPart length, beyond, mu;
    for (std::size_t g = 0; g < count_; ++g) {
      mu[g] = groups_[g].friction;
      length[g] = block_norm(groups_[g].of(x));
      beyond[g] = length[g] - mu[g] * x[normal];
    }
    const Root step = root_of(count_, beyond, mu, 1.0, 0.0);
    Block difference = Block::Zero(size_);
    difference[normal] = -step.value;
    for (std::size_t g = 0; g < count_; ++g) {
      if (!step.active[g] || !(length[g] > 0.0)) continue;
      // a_g − mu_g s by the sums over the other groups: the difference itself loses mu_g² times as many digits.
      Real others = 0.0;
      Real square = 1.0;
      for (std::size_t h = 0; h < count_; ++h) {
        if (h == g || !step.active[h]) continue;
        others += mu[h] * beyond[h];
        square += mu[h] * mu[h];
      }
      const Real shortened = (square * beyond[g] - mu[g] * others) / (1.0 + step.square);
      const auto& [first, size, friction] = groups_[g];
      difference.segment(first, size) = x.segment(first, size) * Real(shortened / length[g]);
    }
    return difference;
  }

  /// |x_k| → max(0, |x_k| − t) and x_N → x_N + mu t with Σ max(0, |x_k| − t) = mu (x_N + mu t).
  Root pyramid_root(const PerPart& sizes, const Real& normal_entry) const {
    const auto& [first, size, mu] = groups_[0];
    PerPart ones;
    ones.fill(1.0);
    return root_of(static_cast<std::size_t>(size), sizes, ones, mu * mu, -mu * normal_entry);
  }
  PerPart sizes_of(const Block& x) const {
    PerPart sizes;
    for (int k = 0; k < groups_[0].size; ++k) sizes[static_cast<std::size_t>(k)] = size_of(x[groups_[0].first + k]);
    return sizes;
  }
  Block outside_of_pyramid(const Block& x) const {
    const Real t = pyramid_root(sizes_of(x), x[normal]).value;
    Block difference = Block::Zero(size_);
    difference[normal] = -groups_[0].friction * t;
    for (int k = groups_[0].first; k < groups_[0].first + groups_[0].size; ++k) {
      difference[k] = size_of(x[k]) <= t ? x[k] : (x[k] > 0.0 ? t : Real(-t));
    }
    return difference;
  }

  /// P_K(x) by sums from the cone's apex, so that a small projection keeps its digits.
  Block project(const Block& x) const {
    const Real polar = de_saxce(x) + x[normal];
    if (polar != polar) return Block::Constant(size_, polar);
    if (polar <= 0.0) return Block::Zero(size_);
    return pyramid_ ? project_onto_pyramid(x) : project_onto_discs(x);
  }
  Block project_onto_discs(const Block& x) const {
    PerPart length, mu;
    for (std::size_t g = 0; g < count_; ++g) {
      mu[g] = groups_[g].friction;
      length[g] = block_norm(groups_[g].of(x));
    }
    const Root root = root_of(count_, length, mu, 1.0, x[normal]);
    Block point = x;
    point[normal] = root.value;
    for (std::size_t g = 0; g < count_; ++g) {
      if (!root.active[g]) continue;
      point.segment(groups_[g].first, groups_[g].size) *= Real(mu[g] * root.value / length[g]);
    }
    return point;
  }
  Block project_onto_pyramid(const Block& x) const {
    const PerPart sizes = sizes_of(x);
    const Root root = pyramid_root(sizes, x[normal]);
    if (!(root.value > 0.0)) return x;
    const auto& [first, size, mu] = groups_[0];
    Block point = Block::Zero(size_);
    point[normal] = x[normal];
    if (!(root.square > 0.0)) return point;
    point[normal] = (root.square * x[normal] + mu * root.force) / (root.square + mu * mu);
    for (std::size_t k = 0; k < static_cast<std::size_t>(size); ++k) {
      if (!root.active[k]) continue;
      Real left = mu * point[normal];
      for (std::size_t j = 0; j < static_cast<std::size_t>(size); ++j) {
        if (root.active[j]) left += sizes[k] - sizes[j];
      }
      const Real& entry = x[first + static_cast<int>(k)];
      point[first + static_cast<int>(k)] = larger<Real>(left, 0.0) / (entry > 0.0 ? root.square : Real(-root.square));
    }
    return point;
  }

  bool pyramid_ = false;
  int size_ = 0;
  std::size_t count_ = 0;
  std::array<Group, max_contact_rows> groups_{};
};

/// σ + x d/d_n, d the normal row of the contact's own block of G + R, x ≥ 0 the smallest root of x = mu ‖σ_T + x
/// d_T/d_n‖: the velocity whose complementarity with λ is RaiSim's model, least energy among the impulses in the cone
/// that leave no normal velocity (LeLidec24 (23), whose Karush–Kuhn–Tucker conditions give (24)). For d_T = 0 that is
/// De Saxcé's correction, which also stands in where there is no root or d_n ≤ 0.
template <class Real, int Dim>
BlockVector<Real, Dim> raisim_velocity(const BlockVector<Real, Dim>& velocity, const BlockVector<Real, Dim>& normal_row,
                                       const Real& mu) {
  using std::sqrt;
  constexpr int n = Dim - 1;
  const Real speed = CoulombBlock<Real, Dim>::slip(velocity);
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
/// λ_T − P_F(λ_T − v_T) with F the octagon of radius mu max(0, λ_N).
template <class Real>
BlockVector<Real, 3> natural_map_of_facets(const BlockVector<Real, 3>& impulse, const BlockVector<Real, 3>& velocity,
                                           const Real& mu) {
  const Real radius = mu * larger<Real>(impulse[2], 0.0);
  const BlockVector<Real, 2> moved = impulse.template head<2>() - velocity.template head<2>();
  BlockVector<Real, 3> map = velocity;
  map.template head<2>() += outside_of_octagon<Real>(moved, radius);
  map[2] = natural_map_of_limit<Real>(impulse[2], velocity[2]);
  return map;
}
/// In the plane the interval, which is the box.
template <class Real>
BlockVector<Real, 2> natural_map_of_facets(const BlockVector<Real, 2>& impulse, const BlockVector<Real, 2>& velocity,
                                           const Real& mu) {
  return natural_map_of_box<Real, 2>(impulse, velocity, mu);
}

}  // namespace conebench
