#pragma once

#include <Eigen/Core>

#include "problems/cones/contact_cones.hpp"

/// Complementarity functions of one block, all as velocities [m/s], each with an element of its generalised Jacobian:
///
///     symbol  meaning                                    unit
///     λ, σ    the block's impulse and velocity           N s, m/s
///     r       step from velocities to impulses           N s per m/s
///     F       the function, 0 where the law holds        m/s
///     X, Y    dF = X dλ + Y dσ
namespace conebench::newton {

/// `Rows` may be Eigen::Dynamic.
template <int Rows>
struct BlockFunction {
  ContactVector<Rows> value;
  ContactSquare<Rows> by_impulse;   ///< X
  ContactSquare<Rows> by_velocity;  ///< Y
};

struct Steps {
  double normal = 1.0;
  double tangential = 1.0;  ///< of a contact's first group
  double moment = 1.0;      ///< of its other groups
};

/// F = (λ − P(λ − r σ)) / r with P onto [l, u]: any row that is no contact's. σ where both bounds are infinite.
inline BlockFunction<1> interval_function(double impulse, double velocity, const Interval& bounds, double r) {
  BlockFunction<1> f;
  const double y = impulse - r * velocity;
  const bool inside = y > bounds.lower && y < bounds.upper;
  f.value[0] = inside ? velocity : (impulse - (y < bounds.upper ? bounds.lower : bounds.upper)) / r;
  f.by_impulse(0, 0) = inside ? 0.0 : 1.0 / r;
  f.by_velocity(0, 0) = inside ? 1.0 : 0.0;
  return f;
}

/// 0 ≤ λ ⟂ σ ≥ 0.
inline BlockFunction<1> unilateral_function(double impulse, double velocity, double r) {
  return interval_function(impulse, velocity, {.lower = 0.0}, r);
}

/// F = (λ − P(λ − r σ)) / r with P onto the ball (in one dimension: the interval) of this radius ≥ 0, and dF over
/// dradius.
template <int Rows>
struct DiskFunction : BlockFunction<Rows> {
  ContactVector<Rows> by_radius;
};

template <int Rows>
DiskFunction<Rows> disk_function(const ContactVector<Rows>& impulse, const ContactVector<Rows>& velocity, double radius,
                                 double r) {
  using Square = ContactSquare<Rows>;
  const Index n = impulse.size();
  DiskFunction<Rows> f;
  const ContactVector<Rows> q = impulse - r * velocity;
  const double length = q.norm();
  if (radius > 0.0 && length <= radius) {
    f.value = velocity;
    f.by_impulse.setZero(n, n);
    f.by_velocity.setIdentity(n, n);
    f.by_radius.setZero(n);
    return f;
  }
  const ContactVector<Rows> e = length > 0.0 ? ContactVector<Rows>(q / length) : ContactVector<Rows>::Zero(n);
  f.value = (impulse - radius * e) / r;
  f.by_velocity =
      length > 0.0 ? Square(radius / length * (Square::Identity(n, n) - e * e.transpose())) : Square::Zero(n, n);
  f.by_impulse = (Square::Identity(n, n) - f.by_velocity) / r;
  f.by_radius = -e / r;
  return f;
}

/// Alart and Curnier 1991: normal (λ_N − p⁺) / r_N with p = λ_N − r_N σ_N, each group (λ_g − P(λ_g − r_g σ_g)) / r_g
/// with P onto the disk of radius μ_g p⁺ (Acary, Brémond, Huber, Sec. 3.3: F_ac). Not for pyramids, whose groups have
/// no disk.
template <class Cone>
BlockFunction<Cone::rows> alart_curnier_function(const typename Cone::Block& impulse,
                                                 const typename Cone::Block& velocity, const Cone& cone, Steps r) {
  using Square = typename Cone::Square;
  const int n = cone.normal;
  const int rows = cone.size();
  const BlockFunction<1> normal = unilateral_function(impulse[n], velocity[n], r.normal);
  const bool active = normal.by_impulse(0, 0) == 0.0;
  const double reach = active ? impulse[n] - r.normal * velocity[n] : 0.0;
  BlockFunction<Cone::rows> f{Cone::Block::Zero(rows), Square::Zero(rows, rows), Square::Zero(rows, rows)};
  f.value[n] = normal.value[0];
  f.by_impulse(n, n) = normal.by_impulse(0, 0);
  f.by_velocity(n, n) = normal.by_velocity(0, 0);
  cone.for_each_group([&]<int Size>(int first, int size, double mu) {
    const DiskFunction<Size> disk =
        disk_function<Size>(impulse.template segment<Size>(first, size), velocity.template segment<Size>(first, size),
                            mu * reach, first < n ? r.tangential : r.moment);
    f.value.template segment<Size>(first, size) = disk.value;
    f.by_impulse.template block<Size, Size>(first, first, size, size) = disk.by_impulse;
    f.by_velocity.template block<Size, Size>(first, first, size, size) = disk.by_velocity;
    if (!active) return;
    f.by_impulse.col(n).template segment<Size>(first, size) = mu * disk.by_radius;
    f.by_velocity.col(n).template segment<Size>(first, size) = -mu * r.normal * disk.by_radius;
  });
  return f;
}

/// r Γ(σ).
template <int Dim>
double raised(const CoulombCone<Dim>& cone, const ContactVector<Dim>& velocity, double r) {
  return r * cone.friction * tangential_norm<Dim>(velocity);
}
inline double raised(const FrictionCone& cone, const FrictionCone::Block& velocity, double r) {
  return r * cone.de_saxce(velocity);
}

/// d(σ + Γ(σ)); at zero slip 0 is in Γ's generalised gradient.
template <class Cone>
typename Cone::Square raised_derivative(const Cone& cone, const typename Cone::Block& velocity) {
  typename Cone::Square derivative = Cone::Square::Identity(cone.size(), cone.size());
  derivative.row(cone.normal) = cone.de_saxce_gradient(velocity).transpose();
  derivative(cone.normal, cone.normal) = 1.0;
  return derivative;
}

/// λ − P_K(y) at y = λ − r (σ + Γ(σ)).
template <int Dim>
ContactVector<Dim> natural_map_at(const ContactVector<Dim>& y, const CoulombCone<Dim>& cone,
                                  const ContactVector<Dim>& impulse, const ContactVector<Dim>&, double) {
  return impulse - cone.project(y);
}
/// From r σ: a small velocity keeps its digits beside a large impulse.
inline FrictionCone::Block natural_map_at(const FrictionCone::Block&, const FrictionCone& cone,
                                          const FrictionCone::Block& impulse, const FrictionCone::Block& velocity,
                                          double r) {
  FrictionCone::Block s = r * velocity;
  s[cone.normal] += raised(cone, velocity, r);
  return cone.natural_map(impulse, s);
}

/// F = (λ − P_K(λ − r (σ + Γ(σ)))) / r (Acary, Brémond, Huber, Sec. 3.2: F_nat with De Saxcé's term).
template <class Cone>
BlockFunction<Cone::rows> natural_map_function(const typename Cone::Block& impulse,
                                               const typename Cone::Block& velocity, const Cone& cone, double r) {
  using Square = typename Cone::Square;
  const int rows = cone.size();
  typename Cone::Block y = impulse - r * velocity;
  y[cone.normal] -= raised(cone, velocity, r);
  const Square derivative = cone.derivative(y);
  BlockFunction<Cone::rows> f;
  f.value = natural_map_at(y, cone, impulse, velocity, r) / r;
  f.by_impulse = (Square::Identity(rows, rows) - derivative) / r;
  f.by_velocity = derivative * raised_derivative(cone, velocity);
  return f;
}

}  // namespace conebench::newton
