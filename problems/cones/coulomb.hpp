#pragma once

#include "problems/cones/contact_vector.hpp"

/// Coulomb's cone K_mu = {‖x_T‖ ≤ mu x_N} in the plane (Dim = 2) and in space (Dim = 3). The normal is last.
namespace conebench {

/// Euclidean norm of the tangential part.
template <int Dim>
double tangential_norm(const ContactVector<Dim>& x) {
  static_assert(Dim == 2 || Dim == 3);
  if constexpr (Dim == 2) {
    return std::abs(x[0]);
  } else {
    return norm_of_two(x[0], x[1]);
  }
}

/// Euclidean projection onto K_mu; mu = 0 gives {0} × R_+.
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

/// λ − P_{K_mu}(λ − s) of a contact for s = r v: formed as s + (y − P(y)) with y = λ − s, so that a small s
/// keeps its digits if λ is large.
template <int Dim>
[[gnu::always_inline]] inline ContactVector<Dim> natural_map(const ContactVector<Dim>& impulse,
                                                             const ContactVector<Dim>& s, double mu) {
  constexpr int n = Dim - 1;
  const ContactVector<Dim> y = impulse - s;
  const double tangential = tangential_norm<Dim>(y);
  if (mu * tangential <= -y[n]) return impulse;  // in the polar cone, projected to 0
  if (tangential <= mu * y[n]) return s;
  const double square = mu * mu + 1.0;
  const double excess = (tangential - mu * y[n]) / square;
  ContactVector<Dim> map = s + y * (excess / tangential);
  map[n] = s[n] - mu * excess;
  return map;
}

/// An element of the projection's generalised Jacobian; on a kink that of the smaller face, but the whole space's
/// inside.
template <int Dim>
ContactSquare<Dim> friction_cone_derivative(const ContactVector<Dim>& x, double mu) {
  constexpr int normal = Dim - 1;
  const double length = tangential_norm<Dim>(x);
  if (mu * length <= -x[normal]) return ContactSquare<Dim>::Zero();
  if (mu > 0.0 && length <= mu * x[normal]) return ContactSquare<Dim>::Identity();
  const double projected_normal = (mu * length + x[normal]) / (mu * mu + 1.0);
  ContactVector<Dim> e = ContactVector<Dim>::Zero();
  if (length > 0.0) e.template head<normal>() = x.template head<normal>() / length;
  ContactVector<Dim> generator = mu * e;
  generator[normal] = 1.0;
  ContactSquare<Dim> derivative = generator * generator.transpose() / (mu * mu + 1.0);
  if (length > 0.0) {
    ContactSquare<Dim> across = ContactSquare<Dim>::Identity() - e * e.transpose();
    across(normal, normal) = 0.0;
    derivative += mu * projected_normal / length * across;
  }
  return derivative;
}

/// A contact with Coulomb's friction.
template <int Dim>
struct CoulombCone {
  static constexpr int rows = Dim;
  static constexpr int normal = Dim - 1;
  using Block = ContactVector<Dim>;
  using Square = ContactSquare<Dim>;

  double friction = 0.0;  ///< mu

  static constexpr int size() { return Dim; }
  Block project(const Block& x) const { return project_friction_cone<Dim>(x, friction); }
  Block project_dual(const Block& x) const { return project_dual_friction_cone<Dim>(x, friction); }
  /// Γ's entry on the normal.
  double de_saxce(const Block& velocity) const { return friction * tangential_norm<Dim>(velocity); }
  /// Its gradient, 0 on the normal and where nothing slips.
  Block de_saxce_gradient(const Block& velocity) const {
    const double slip = tangential_norm<Dim>(velocity);
    Block gradient = Block::Zero();
    if (slip > 0.0) gradient.template head<normal>() = friction / slip * velocity.template head<normal>();
    return gradient;
  }
  Block natural_map(const Block& impulse, const Block& s) const {
    return conebench::natural_map<Dim>(impulse, s, friction);
  }
  Square derivative(const Block& x) const { return friction_cone_derivative<Dim>(x, friction); }
  /// visit.operator()<Size>(first row, size, coefficient) for the group of tangents.
  template <class Visit>
  void for_each_group(Visit&& visit) const {
    visit.template operator()<normal>(0, normal, friction);
  }
};

}  // namespace conebench
