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

template <int Dim>
using Square = Eigen::Matrix<double, Dim, Dim>;

template <int Dim>
struct BlockFunction {
  ContactVector<Dim> value;
  Square<Dim> by_impulse;   ///< X
  Square<Dim> by_velocity;  ///< Y
};

struct Steps {
  double normal = 1.0;
  double tangential = 1.0;
  double moment = 1.0;  ///< of rolling friction
};

/// F = (λ − max(0, λ − r σ)) / r: 0 ≤ λ ⟂ σ ≥ 0.
inline BlockFunction<1> unilateral_function(double impulse, double velocity, double r) {
  BlockFunction<1> f;
  const bool active = impulse - r * velocity > 0.0;
  f.value[0] = active ? velocity : impulse / r;
  f.by_impulse(0, 0) = active ? 0.0 : 1.0 / r;
  f.by_velocity(0, 0) = active ? 1.0 : 0.0;
  return f;
}

/// F = (λ − P(λ − r σ)) / r with P onto the disk (in one dimension: the interval) of this radius ≥ 0, and dF over
/// dradius.
template <int Dim>
struct DiskFunction : BlockFunction<Dim> {
  ContactVector<Dim> by_radius;
};

template <int Dim>
DiskFunction<Dim> disk_function(const ContactVector<Dim>& impulse, const ContactVector<Dim>& velocity, double radius,
                                double r) {
  DiskFunction<Dim> f;
  const ContactVector<Dim> q = impulse - r * velocity;
  const double length = q.norm();
  if (radius > 0.0 && length <= radius) {
    f.value = velocity;
    f.by_impulse.setZero();
    f.by_velocity.setIdentity();
    f.by_radius.setZero();
    return f;
  }
  const ContactVector<Dim> e = length > 0.0 ? ContactVector<Dim>(q / length) : ContactVector<Dim>::Zero();
  f.value = (impulse - radius * e) / r;
  f.by_velocity =
      length > 0.0 ? Square<Dim>(radius / length * (Square<Dim>::Identity() - e * e.transpose())) : Square<Dim>::Zero();
  f.by_impulse = (Square<Dim>::Identity() - f.by_velocity) / r;
  f.by_radius = -e / r;
  return f;
}

/// Alart and Curnier 1991: normal (λ_N − p⁺) / r_N with p = λ_N − r_N σ_N, tangential (λ_T − P(λ_T − r_T σ_T)) / r_T
/// with P onto the disk of radius μ p⁺ (Acary, Brémond, Huber, Sec. 3.3: F_ac).
template <int Dim>
BlockFunction<Dim> alart_curnier_function(const ContactVector<Dim>& impulse, const ContactVector<Dim>& velocity,
                                          double mu, Steps r) {
  constexpr int tangents = Dim - 1;
  const BlockFunction<1> normal = unilateral_function(impulse[tangents], velocity[tangents], r.normal);
  const bool active = normal.by_impulse(0, 0) == 0.0;
  const double radius = active ? mu * (impulse[tangents] - r.normal * velocity[tangents]) : 0.0;
  const DiskFunction<tangents> disk = disk_function<tangents>(impulse.template head<tangents>(),
                                                              velocity.template head<tangents>(), radius, r.tangential);
  BlockFunction<Dim> f;
  f.value << disk.value, normal.value;
  f.by_impulse.setZero();
  f.by_velocity.setZero();
  f.by_impulse.template topLeftCorner<tangents, tangents>() = disk.by_impulse;
  f.by_velocity.template topLeftCorner<tangents, tangents>() = disk.by_velocity;
  f.by_impulse(tangents, tangents) = normal.by_impulse(0, 0);
  f.by_velocity(tangents, tangents) = normal.by_velocity(0, 0);
  if (active) {
    f.by_impulse.template topRightCorner<tangents, 1>() = mu * disk.by_radius;
    f.by_velocity.template topRightCorner<tangents, 1>() = -mu * r.normal * disk.by_radius;
  }
  return f;
}

/// The derivative of the projection onto K_mu; on a kink that of the smaller face, but the whole space's inside.
template <int Dim>
Square<Dim> friction_cone_derivative(const ContactVector<Dim>& y, double mu) {
  constexpr int normal = Dim - 1;
  const double length = tangential_norm<Dim>(y);
  if (mu * length <= -y[normal]) return Square<Dim>::Zero();
  if (mu > 0.0 && length <= mu * y[normal]) return Square<Dim>::Identity();
  const double projected_normal = (mu * length + y[normal]) / (mu * mu + 1.0);
  ContactVector<Dim> e = ContactVector<Dim>::Zero();
  if (length > 0.0) e.template head<normal>() = y.template head<normal>() / length;
  ContactVector<Dim> generator = mu * e;
  generator[normal] = 1.0;
  Square<Dim> derivative = generator * generator.transpose() / (mu * mu + 1.0);
  if (length > 0.0) {
    Square<Dim> across = Square<Dim>::Identity() - e * e.transpose();
    across(normal, normal) = 0.0;
    derivative += mu * projected_normal / length * across;
  }
  return derivative;
}

/// F = (λ − P_K(λ − r (σ + Γ(σ)))) / r (Acary, Brémond, Huber, Sec. 3.2: F_nat with De Saxcé's term).
template <int Dim>
BlockFunction<Dim> natural_map_function(const ContactVector<Dim>& impulse, const ContactVector<Dim>& velocity,
                                        double mu, double r) {
  constexpr int normal = Dim - 1;
  const double slip = tangential_norm<Dim>(velocity);
  ContactVector<Dim> y = impulse - r * velocity;
  y[normal] -= r * mu * slip;
  Square<Dim> corrected = Square<Dim>::Identity();  // d(σ + Γ(σ)); at zero slip 0 is in Γ's generalised gradient
  if (slip > 0.0) {
    corrected.template bottomLeftCorner<1, normal>() = mu / slip * velocity.template head<normal>().transpose();
  }
  const Square<Dim> derivative = friction_cone_derivative<Dim>(y, mu);
  BlockFunction<Dim> f;
  f.value = (impulse - project_friction_cone<Dim>(y, mu)) / r;
  f.by_impulse = (Square<Dim>::Identity() - derivative) / r;
  f.by_velocity = derivative * corrected;
  return f;
}

/// With rolling friction the two disks have the radii μ p⁺ and μ_r p⁺.
inline BlockFunction<5> alart_curnier_function(const RollingVector& impulse, const RollingVector& velocity,
                                               const RollingCone& cone, Steps r) {
  constexpr int n = RollingCone::normal;
  const BlockFunction<1> normal = unilateral_function(impulse[n], velocity[n], r.normal);
  const bool active = normal.by_impulse(0, 0) == 0.0;
  const double reach = active ? impulse[n] - r.normal * velocity[n] : 0.0;
  BlockFunction<5> f;
  f.by_impulse.setZero();
  f.by_velocity.setZero();
  f.value[n] = normal.value[0];
  f.by_impulse(n, n) = normal.by_impulse(0, 0);
  f.by_velocity(n, n) = normal.by_velocity(0, 0);
  const auto add_disk = [&](int first, double mu, double step) {
    const DiskFunction<2> disk =
        disk_function<2>(impulse.segment<2>(first), velocity.segment<2>(first), mu * reach, step);
    f.value.segment<2>(first) = disk.value;
    f.by_impulse.block<2, 2>(first, first) = disk.by_impulse;
    f.by_velocity.block<2, 2>(first, first) = disk.by_velocity;
    if (!active) return;
    f.by_impulse.block<2, 1>(first, n) = mu * disk.by_radius;
    f.by_velocity.block<2, 1>(first, n) = -mu * r.normal * disk.by_radius;
  };
  add_disk(0, cone.friction, r.tangential);
  add_disk(n + 1, cone.rolling, r.moment);
  return f;
}

inline BlockFunction<5> natural_map_function(const RollingVector& impulse, const RollingVector& velocity,
                                             const RollingCone& cone, double r) {
  constexpr int n = RollingCone::normal;
  RollingVector corrected = velocity;
  corrected[n] += cone.de_saxce(velocity);
  RollingMatrix by_velocity = RollingMatrix::Identity();
  const double slip = norm_of_two(velocity[0], velocity[1]);
  const double roll = norm_of_two(velocity[3], velocity[4]);
  if (slip > 0.0) by_velocity.row(n).head<2>() = cone.friction / slip * velocity.head<2>().transpose();
  if (roll > 0.0) by_velocity.row(n).tail<2>() = cone.rolling / roll * velocity.tail<2>().transpose();
  const RollingMatrix derivative = cone.derivative(impulse - r * corrected);
  BlockFunction<5> f;
  f.value = cone.natural_map(impulse, r * corrected) / r;
  f.by_impulse = (RollingMatrix::Identity() - derivative) / r;
  f.by_velocity = derivative * by_velocity;
  return f;
}

/// Either function of the contact of such a cone.
template <int Dim>
BlockFunction<Dim> contact_function(bool alart_curnier, const ContactVector<Dim>& impulse,
                                    const ContactVector<Dim>& velocity, const FrictionOf<Dim>& friction,
                                    const Steps& r) {
  if constexpr (Dim == RollingCone::rows) {
    return alart_curnier ? alart_curnier_function(impulse, velocity, friction, r)
                         : natural_map_function(impulse, velocity, friction, r.normal);
  } else {
    return alart_curnier ? alart_curnier_function<Dim>(impulse, velocity, friction, r)
                         : natural_map_function<Dim>(impulse, velocity, friction, r.normal);
  }
}

}  // namespace conebench::newton
