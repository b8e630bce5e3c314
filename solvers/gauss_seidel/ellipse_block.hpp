#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "solvers/gauss_seidel/coulomb_block.hpp"

namespace conebench::gauss_seidel {

// RaiSim's model of one contact (LeLidec24 Sec. III-C, Alg. 5; Tsounis Alg. 4 with (152), its ≥ 0 as = 0): a contact
// that closes and cannot stick takes the impulse with the least energy among those that leave it no normal velocity,
//     min ½ λᵀ D λ + λ·(b + s e_n)   over   λ ∈ K_μ,  D_nT λ_T + D_nn λ_n + b_n = 0,
// b its velocity without its own impulse, s = 0, or De Saxcé's μ‖σ_T‖ at the impulse before (-DS).
//
// With λ = λ_n (μ e, 1), ‖e‖ ≤ 1, the plane gives λ_n = −b_n / (D_nn (1 + a·e)), a = μ D_nT / D_nn: an ellipse of
// directions where ‖a‖ < 1, else a parabola or a branch of a hyperbola (1 + a·e > 0). Along the plane the energy's
// gradient is u(e) / (1 + a·e), where
//     u(e) = p + M e,   p = b_T − (b_n/D_nn) D_Tn − c,   M = −μ (b_n/D_nn) D_TT + (b_T − c) aᵀ,   c = (s/D_nn) D_nT.
// Least on the edge ‖e‖ = 1 means, with the multiplier x of the edge,
//     u(e) + x (e + a) = 0,  x ≥ 0,                                                            (*)
// which for a = 0 is friction against slip, and else is not: LeLidec24 (24). Without e, (*) is the quartic
//     det(M + x I)² = ‖adj(M + x I) (p + x a)‖²,
// with one root x ≥ 0 where D is symmetric and positive definite and ‖a‖ < 1. Without x, it is
//     f(θ) = (e + a)⊥·u(e) = 0,   e = (cos θ, sin θ),
// which has the sign of the energy's slope along the edge. NBGS takes the quartic (Tsounis's P_MDP), RAISIM bisects f
// (P_BS). Where D is not symmetric the same lines give the variational inequality on the plane, which has no energy.

/// The curve K_μ ∩ {σ_n = 0} of one contact in 3D; letters as above.
struct Ellipse3 {
  double p0, p1, m00, m01, m10, m11;  ///< [m/s]
  double a0, a1;
  double normal;  ///< −b_n / D_nn [N s]
  double friction;

  template <class Block>
  Ellipse3(const Block& block, double inverse_normal, double mu, const ContactVector<3>& free, double correction)
      : normal(-free[2] * inverse_normal), friction(mu) {
    a0 = mu * inverse_normal * block(2, 0);
    a1 = mu * inverse_normal * block(2, 1);
    const double b0 = free[0] - correction * inverse_normal * block(2, 0);
    const double b1 = free[1] - correction * inverse_normal * block(2, 1);
    p0 = b0 + normal * block(0, 2);
    p1 = b1 + normal * block(1, 2);
    const double scale = mu * normal;
    m00 = scale * block(0, 0) + b0 * a0;
    m01 = scale * block(0, 1) + b0 * a1;
    m10 = scale * block(1, 0) + b1 * a0;
    m11 = scale * block(1, 1) + b1 * a1;
  }

  using Direction = Eigen::Vector2d;
  double height(const Direction& e) const { return 1.0 + a0 * e[0] + a1 * e[1]; }
  Direction gradient(const Direction& e) const { return {p0 + m00 * e[0] + m01 * e[1], p1 + m10 * e[0] + m11 * e[1]}; }
  /// f: the sign of the energy's slope when e turns from t1 to t2.
  double across(const Direction& e) const {
    const Direction u = gradient(e);
    return (e[0] + a0) * u[1] - (e[1] + a1) * u[0];
  }
  /// x (1 + a·e): at f = 0, not negative where the energy falls outwards.
  double outward(const Direction& e) const { return -gradient(e).dot(e); }
  bool is_least(const Direction& e) const { return height(e) > 0.0 && outward(e) >= 0.0; }
  ContactVector<3> impulse(const Direction& e) const {
    const double n = normal / height(e);
    return {friction * n * e[0], friction * n * e[1], n};
  }

  /// The least energy inside the edge: only where s > 0, for without s the contact sticks there.
  bool interior(Direction& e) const {
    const double determinant = m00 * m11 - m01 * m10;
    e = Direction(m01 * p1 - m11 * p0, m10 * p0 - m00 * p1) / determinant;
    return determinant > 0.0 && m00 + m11 > 0.0 && e.squaredNorm() < 1.0 && height(e) > 0.0;
  }
};

/// In 2D the curve's edge is two points, e = ±1.
struct Ellipse2 {
  double p, m, a, normal, friction;

  template <class Block>
  Ellipse2(const Block& block, double inverse_normal, double mu, const ContactVector<2>& free, double correction)
      : normal(-free[1] * inverse_normal), friction(mu) {
    a = mu * inverse_normal * block(1, 0);
    const double b = free[0] - correction * inverse_normal * block(1, 0);
    p = b + normal * block(0, 1);
    m = mu * normal * block(0, 0) + b * a;
  }

  using Direction = double;
  double height(double e) const { return 1.0 + a * e; }
  bool is_least(double e) const { return height(e) > 0.0 && -e * (p + m * e) >= 0.0; }
  ContactVector<2> impulse(double e) const {
    const double n = normal / height(e);
    return {friction * n * e, n};
  }
  bool interior(double& e) const {
    e = -p / m;
    return m > 0.0 && std::abs(e) < 1.0 && height(e) > 0.0;
  }
};

template <class Cone>
struct EllipseOf;
template <>
struct EllipseOf<CoulombPlane> {
  using Type = Ellipse2;
};
template <>
struct EllipseOf<CoulombSpace> {
  using Type = Ellipse3;
};
template <class Cone>
using Ellipse = typename EllipseOf<Cone>::Type;

/// All roots of f, and of them the one with the largest multiplier. False where it is negative (no least energy).
bool find_least_carefully(const Ellipse3& ellipse, Ellipse3::Direction& e);

inline bool find_least_carefully(const Ellipse2& ellipse, double& e) {
  e = ellipse.p > 0.0 ? -1.0 : 1.0;
  if (ellipse.is_least(e)) return true;
  e = -e;
  return ellipse.is_least(e);
}

/// P_BS: from the direction of the impulse that would stick, steps down the energy until its slope turns, then bisects.
/// (LeLidec24 leaves the steps to Hwangbo et al.; theirs grow from 0.01 rad too, by 1.3 where ours double.) In a
/// bracket of 0.2 rad Newton's steps on f find the root that halving would; where they leave the bracket, it is halved
/// to the end.
struct Bisection {
  static bool find(const Ellipse3& ellipse, const ContactVector<3>& outside, const ContactVector<3>& old,
                   Ellipse3::Direction& e);
  static bool find(const Ellipse2& ellipse, const ContactVector<2>&, const ContactVector<2>&, double& e) {
    return find_least_carefully(ellipse, e);
  }
};

/// P_MDP: the quartic's root by Newton's iteration in a bracket, then Newton on f, because near a double root x is good
/// to half its digits only. A contact that slid before is tried by Newton on f from its old direction first.
struct Quartic {
  static bool find(const Ellipse3& ellipse, const ContactVector<3>& outside, const ContactVector<3>& old,
                   Ellipse3::Direction& e);
  static bool find(const Ellipse2& ellipse, const ContactVector<2>&, const ContactVector<2>&, double& e) {
    return find_least_carefully(ellipse, e);
  }
};

/// One-contact solver of NBGS (Quartic), RAISIM and RAISIM-DS (Bisection) for the sweep (see sweep.hpp).
///
/// Deviations. A contact with b_n = 0 opens, as in Tsounis Alg. 4 (whose line 9 is then never reached); LeLidec24 line
/// 5 would let it stick. Sticking is tested without s, as in LeLidec24 line 8: with it (Tsounis Alg. 4 line 1) a
/// contact that comes to rest first sinks. Where D⁻¹ does not exist, or nothing is least (D indefinite), the exact
/// solution of Coulomb's law stands in.
template <class Search>
struct EllipseBlock {
  bool de_saxce = false;

  template <class Cone>
  using Prepared = CoulombBlock::Prepared<Cone>;

  template <Coulomb Cone>
  Prepared<Cone> prepare(const typename Cone::Square& block, const Cone& cone) const {
    return CoulombBlock{}.prepare(block, cone);
  }

  template <Coulomb Cone>
  typename Cone::Block solve(const Prepared<Cone>& prepared, const Eigen::Map<const typename Cone::Square>& block,
                             const Cone& cone, const typename Cone::Block& free,
                             const typename Cone::Block& old) const {
    using Block = typename Cone::Block;
    constexpr int n = Cone::normal;
    const double friction = cone.friction;
    if (free[n] >= 0.0) return Block::Zero();
    if (!(prepared.inverse_normal > 0.0)) return solve_coulomb_carefully<Cone>(block, cone, free, old);
    if (friction == 0.0) return -free[n] * prepared.inverse_normal * Block::Unit(n);
    Block outside = prepared.inverse * free;  // LeLidec24 Alg. 5 line 4
    if (tangential_norm<Cone::rows>(outside) <= friction * outside[n]) return outside;
    double correction = 0.0;
    if (de_saxce) {
      const Block velocity = free + block * old;  // Tsounis Alg. 5 line 16
      correction = friction * tangential_norm<Cone::rows>(velocity);
      outside += correction * prepared.inverse.col(n);
    }
    const Ellipse<Cone> ellipse(block, prepared.inverse_normal, friction, free, correction);
    typename Ellipse<Cone>::Direction e;
    const bool found = (correction > 0.0 && ellipse.interior(e)) || Search::find(ellipse, outside, old, e) ||
                       find_least_carefully(ellipse, e);
    return found ? ellipse.impulse(e) : solve_coulomb_carefully<Cone>(block, cone, free, old);
  }
};

}  // namespace conebench::gauss_seidel
