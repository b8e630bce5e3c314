#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "problems/cones/contact_cones.hpp"
#include "solvers/gauss_seidel/friction_block.hpp"

namespace conebench::gauss_seidel {

// The exact solution of Coulomb's law at one contact:
//     find r ∈ K_μ:  σ = D r + b,  K_μ ∋ r ⟂ σ + (0, 0, μ‖σ_T‖) ∈ K_μ*,
// with D = G_ii + R_ii (d × d, used as given: not symmetric, slightly indefinite or singular where it is so), b the
// contact's velocity without its own impulse, components (t1, t2, n). Its solutions are
//     open   r = 0 where b_n ≥ 0;
//     stick  r = −D⁻¹ b where that lies in K_μ;
//     slip   ‖r_T‖ = μ r_n > 0, σ_n = 0, σ_T = −α r_T with α > 0.
// Slip in 3D. With r = r_n (μ e, 1), ‖e‖ = 1, σ_n = 0 gives r_n = −b_n / (D_nn + μ D_nT·e), and σ_T against e becomes
//     (M + s I) e = −p,   s ≥ 0,    p = D_nn b_T − b_n D_Tn,   M = μ (b_T D_nT − b_n D_TT),
// so that s is a root of the quartic det(M + s I)² = ‖adj(M + s I) p‖² with adj(M + s I) p = s p + q, q = adj(M) p.
// Beyond the last pole of (M + s I)⁻¹ the function ‖(M + s I)⁻¹ p‖ falls from ∞ (or, where there is no pole, from its
// value at 0, which is above 1 where sticking leaves the cone) to 0, and has a root there: a safeguarded Newton
// iteration on 1/‖·‖ finds it, another on the angle of e makes it exact. (The quartic in another variable: O. Bonnefon,
// G. Daviet, "Quartic formulation of Coulomb 3D frictional contact", 2011.) A contact that slipped before is tried from
// its old direction first, on the angle alone.
//
// More than one solution (large μ, strong coupling): open before stick before slip; of several slips the one next to
// the old direction, or else the one above. None: the candidate with the smallest residual, the old impulse among them.

/// ‖r − P_K(r − ρ v̂)‖ / ρ of one contact with ρ = d / trace(D), or 1 / ‖D‖ where the trace is not positive: its error
/// in velocity.
template <class Cone>
double coulomb_residual(const typename Cone::Square& block, const Cone& cone, const typename Cone::Block& free,
                        const typename Cone::Block& impulse);

/// Solves any contact, slowly: all roots of the quartic, singular and indefinite blocks, and the choice among all
/// candidates by their residual. A block of zeros (D = 0) keeps the old impulse where b_n < 0.
template <class Cone>
typename Cone::Block solve_coulomb_carefully(const typename Cone::Square& block, const Cone& cone,
                                             const typename Cone::Block& free, const typename Cone::Block& old);
extern template ContactVector<2> solve_coulomb_carefully(const Eigen::Matrix2d&, const CoulombPlane&,
                                                         const ContactVector<2>&, const ContactVector<2>&);
extern template ContactVector<3> solve_coulomb_carefully(const Eigen::Matrix3d&, const CoulombSpace&,
                                                         const ContactVector<3>&, const ContactVector<3>&);
extern template double coulomb_residual(const Eigen::Matrix2d&, const CoulombPlane&, const ContactVector<2>&,
                                        const ContactVector<2>&);
extern template double coulomb_residual(const Eigen::Matrix3d&, const CoulombSpace&, const ContactVector<3>&,
                                        const ContactVector<3>&);

/// A contact with Coulomb's isotropic friction alone.
template <class Cone>
concept Coulomb = requires(const Cone& cone) {
  cone.friction;
};

/// The direction e of a slip in 3D; see above.
struct SlipDirection {
  double p0, p1, m00, m01, m10, m11;  ///< [m/s], everything divided by D_nn
  double e0 = 0.0;
  double e1 = 0.0;

  /// e near the root s of the quartic beyond the last pole. False where there is none.
  bool find() {
    const double q0 = m11 * p0 - m01 * p1;
    const double q1 = m00 * p1 - m10 * p0;
    const double trace = m00 + m11;
    const double determinant = m00 * m11 - m01 * m10;
    // The root lies in (low, high]: F(s) = det(M + s I) / ‖s p + q‖ − 1 is negative at low and not at high.
    double low = 0.0;
    if (!(trace > 0.0 && determinant > 0.0)) {
      const double discriminant = 0.25 * (m00 - m11) * (m00 - m11) + m01 * m10;
      if (discriminant >= 0.0) low = std::max(0.0, -0.5 * trace + std::sqrt(discriminant));
    }
    if (low == 0.0 && determinant > 0.0 && determinant * determinant > q0 * q0 + q1 * q1) return false;
    const double size = std::abs(m00) + std::abs(m01) + std::abs(m10) + std::abs(m11);
    double high = std::abs(p0) + std::abs(p1) + size;
    double s = low;
    constexpr double last_step = 1e-4;  // polish_slip() does the rest
    for (int k = 0; k < 60; ++k) {
      const double u0 = s * p0 + q0;
      const double u1 = s * p1 + q1;
      const double square = u0 * u0 + u1 * u1;
      if (!(square > 0.0)) return false;
      const double length = std::sqrt(square);
      const double det = (s + trace) * s + determinant;
      const double slope = (2.0 * s + trace) * square - det * (u0 * p0 + u1 * p1);  // F' ‖u‖³
      const double step = (length - det) * (square / slope);
      (det < length ? low : high) = s;
      const double next = s + step;
      const bool newton = slope > 0.0 && next >= low && next <= high;
      s = newton ? next : 0.5 * (low + high);
      if (newton ? std::abs(step) <= last_step * (s + size) : high - low <= last_step * last_step * s) break;
    }
    const double u0 = s * p0 + q0;
    const double u1 = s * p1 + q1;
    const double scale = -1.0 / std::sqrt(u0 * u0 + u1 * u1);
    e0 = u0 * scale;
    e1 = u1 * scale;
    return std::isfinite(scale);
  }
};

/// The impulse of a slip in a direction next to e, |e| = 1 but for some 1e-6. Newton's steps on the angle of e:
/// f = e⊥·v with v = p + M e = h b_T − b_n q, h = D_nn + μ D_nT·e, q = D_Tn + μ D_TT e; f' = e⊥·M e⊥ + s, s = −e·v. All
/// are linear in b with coefficients that depend on e alone, so that from an old direction little is left to do once b
/// is known. False where the steps do not settle at once on a root with s ≥ 0, or h ≤ 0.
template <class Block>
bool polish_slip(const Block& block, double friction, const ContactVector<3>& free, double e0, double e1,
                 ContactVector<3>& impulse) {
  constexpr double farthest = 0.1;
  constexpr double last = 3e-8;  // the error after a step is about its square
  for (int k = 0; k < 5; ++k) {
    const double unit = 1.5 - 0.5 * (e0 * e0 + e1 * e1);
    e0 *= unit;
    e1 *= unit;
    const double h = block(2, 2) + friction * (block(2, 0) * e0 + block(2, 1) * e1);
    const double turned_h = friction * (block(2, 1) * e0 - block(2, 0) * e1);  // μ D_nT·e⊥
    const double t0 = friction * (block(0, 0) * e0 + block(0, 1) * e1);
    const double t1 = friction * (block(1, 0) * e0 + block(1, 1) * e1);
    const double u0 = friction * (block(0, 1) * e0 - block(0, 0) * e1);
    const double u1 = friction * (block(1, 1) * e0 - block(1, 0) * e1);
    const double q0 = block(0, 2) + t0;
    const double q1 = block(1, 2) + t1;
    const double across = (h * e0) * free[1] - (h * e1) * free[0] - (e0 * q1 - e1 * q0) * free[2];
    const double s = (e0 * q0 + e1 * q1) * free[2] - (h * e0) * free[0] - (h * e1) * free[1];
    const double slope = (e0 * q0 + e1 * q1 - (e0 * u1 - e1 * u0)) * free[2] - (h * e0 + turned_h * e1) * free[0] -
                         (h * e1 - turned_h * e0) * free[1];
    const double angle = -across / slope;
    if (!(slope > 0.0 && std::abs(angle) <= farthest)) return false;
    if (std::abs(angle) <= last) {
      const double resistance = h * slope - turned_h * across;  // of the turned e, times the slope
      const double normal = -(free[2] * slope) / resistance;
      impulse = {normal * (friction * (e0 - angle * e1)), normal * (friction * (e1 + angle * e0)), normal};
      const double size =
          std::abs(h) * (std::abs(free[0]) + std::abs(free[1])) - free[2] * (std::abs(q0) + std::abs(q1));
      return s >= -1e-12 * size && resistance > 0.0 && std::isfinite(normal);
    }
    const double moved0 = e0 - angle * e1;
    e1 += angle * e0;
    e0 = moved0;
  }
  return false;
}

/// The impulse of a contact that slips, from the direction of `old` where that slipped too. `inverse_normal` = 1/D_nn.
/// False where this fast path does not apply (no root found, D_nn + μ D_nT·e ≤ 0).
template <class Block>
bool slip_impulse(const Block& block, double inverse_normal, double friction, const ContactVector<3>& free,
                  const ContactVector<3>& old, ContactVector<3>& impulse) {
  const double old_radius = friction * old[2];
  const double old_square = old[0] * old[0] + old[1] * old[1];
  if (old[2] > 0.0 && std::abs(old_square - old_radius * old_radius) <= 1e-6 * old_square) {
    const double scale = 1.0 / old_radius;
    if (polish_slip(block, friction, free, old[0] * scale, old[1] * scale, impulse)) return true;
  }
  const double b0 = free[0] * inverse_normal;
  const double b1 = free[1] * inverse_normal;
  const double bn = free[2] * inverse_normal;
  SlipDirection slip;
  slip.p0 = free[0] - bn * block(0, 2);
  slip.p1 = free[1] - bn * block(1, 2);
  slip.m00 = friction * (b0 * block(2, 0) - bn * block(0, 0));
  slip.m01 = friction * (b0 * block(2, 1) - bn * block(0, 1));
  slip.m10 = friction * (b1 * block(2, 0) - bn * block(1, 0));
  slip.m11 = friction * (b1 * block(2, 1) - bn * block(1, 1));
  return slip.find() && polish_slip(block, friction, free, slip.e0, slip.e1, impulse);
}

/// In 2D the slip is along +t or −t: tried in the direction that resists the free motion first.
template <class Block>
bool slip_impulse(const Block& block, double, double friction, const ContactVector<2>& free, const ContactVector<2>&,
                  ContactVector<2>& impulse) {
  double e = free[0] > 0.0 ? -1.0 : 1.0;
  for (int attempt = 0; attempt < 2; ++attempt, e = -e) {
    const double resistance = block(1, 1) + friction * e * block(1, 0);
    if (!(resistance > 0.0)) continue;
    const double normal = -free[1] / resistance;
    const double velocity = free[0] + normal * (block(0, 1) + friction * e * block(0, 0));
    if (e * velocity > 0.0) continue;
    impulse = {friction * normal * e, normal};
    return true;
  }
  return false;
}

/// One-contact solver of NSGS for the sweep (see sweep.hpp); that of friction_block.hpp where friction is not
/// Coulomb's.
struct CoulombBlock {
  template <class Cone>
  struct Prepared {
    typename Cone::Square inverse;  ///< −D⁻¹
    double inverse_normal;          ///< 1/D_nn; 0 sends the contact to the careful path
  };

  template <class Cone>
  Prepared<Cone> prepare(const typename Cone::Square& block, const Cone& cone) const {
    Prepared<Cone> prepared;
    prepared.inverse = -block.inverse();
    // Beyond this condition number a stick by D⁻¹ is left to the careful path, which weighs it against the others.
    constexpr double worst_condition = 1e10;
    const double normal = block(cone.normal, cone.normal);
    const bool regular = normal > 0.0 && prepared.inverse.norm() * block.norm() < worst_condition;
    prepared.inverse_normal = regular ? 1.0 / normal : 0.0;
    return prepared;
  }

  template <class Cone>
  [[gnu::always_inline]] typename Cone::Block solve(const Prepared<Cone>& prepared,
                                                    const Eigen::Map<const typename Cone::Square>& block,
                                                    const Cone& cone, const typename Cone::Block& free,
                                                    const typename Cone::Block& old) const {
    if (free[cone.normal] >= 0.0) return Cone::Block::Zero();
    return solve_closing(prepared, block, cone, free, old);
  }

  /// Of one law among others: by the methods above where it is Coulomb's.
  FrictionCone::Block solve(const Prepared<FrictionCone>& prepared, const Eigen::Map<const FrictionCone::Square>& block,
                            const FrictionCone& cone, const FrictionCone::Block& free,
                            const FrictionCone::Block& old) const;

 private:
  template <class Cone>
  [[gnu::always_inline]] static typename Cone::Block solve_closing(const Prepared<Cone>& prepared,
                                                                   const Eigen::Map<const typename Cone::Square>& block,
                                                                   const Cone& cone, const typename Cone::Block& free,
                                                                   const typename Cone::Block& old) {
    constexpr int n = Cone::normal;
    const double friction = cone.friction;
    typename Cone::Block impulse;
    for (int r = 0; r < Cone::rows; ++r) {
      impulse[r] = prepared.inverse(r, 0) * free[0];
      for (int c = 1; c < Cone::rows; ++c) impulse[r] += prepared.inverse(r, c) * free[c];
    }
    const double radius = friction * impulse[n];
    double square = impulse[0] * impulse[0];
    for (int t = 1; t < n; ++t) square += impulse[t] * impulse[t];
    const bool regular = prepared.inverse_normal > 0.0;
    if (regular && friction > 0.0) [[likely]] {
      if (radius >= 0.0 && square <= radius * radius) return impulse;
      if (slip_impulse(block, prepared.inverse_normal, friction, free, old, impulse)) return impulse;
    } else if (regular) {
      impulse.setZero();
      impulse[n] = -free[n] * prepared.inverse_normal;
      return impulse;
    }
    return solve_coulomb_carefully<Cone>(block, cone, free, old);
  }
};

}  // namespace conebench::gauss_seidel
