#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "problems/cone_projection.hpp"

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
// value at 0, which is above 1 where sticking leaves the cone) to 0, and has a root there: the one that
// slip_direction() finds by a safeguarded Newton iteration on 1/‖·‖. (The quartic in another variable:
// O. Bonnefon, G. Daviet, "Quartic formulation of Coulomb 3D frictional contact", 2011.)
//
// More than one solution (large μ, strong coupling): open before stick before slip, and of several slips the one above.
// None: the candidate with the smallest residual, the old impulse among them.

/// ‖r − P_K(r − ρ v̂)‖ / ρ of one contact with ρ = d / trace(D), or 1 / ‖D‖ where the trace is not positive: its error
/// in velocity.
template <int Dim>
double coulomb_residual(const Eigen::Matrix<double, Dim, Dim>& block, double friction, const ContactVector<Dim>& free,
                        const ContactVector<Dim>& impulse);

/// Solves any contact, slowly: all roots of the quartic, singular and indefinite blocks, and the choice among all
/// candidates by their residual. A block of zeros (D = 0) keeps the old impulse where b_n < 0.
template <int Dim>
ContactVector<Dim> solve_coulomb_carefully(const Eigen::Matrix<double, Dim, Dim>& block, double friction,
                                           const ContactVector<Dim>& free, const ContactVector<Dim>& old);
extern template ContactVector<2> solve_coulomb_carefully<2>(const Eigen::Matrix2d&, double, const ContactVector<2>&,
                                                            const ContactVector<2>&);
extern template ContactVector<3> solve_coulomb_carefully<3>(const Eigen::Matrix3d&, double, const ContactVector<3>&,
                                                            const ContactVector<3>&);
extern template double coulomb_residual<2>(const Eigen::Matrix2d&, double, const ContactVector<2>&,
                                           const ContactVector<2>&);
extern template double coulomb_residual<3>(const Eigen::Matrix3d&, double, const ContactVector<3>&,
                                           const ContactVector<3>&);

/// The slip direction e of a contact that neither opens nor sticks. `old` gives the first guess of s. False where the
/// fast path does not apply (no root found, D_nn + μ D_nT·e ≤ 0).
template <class Block>
bool slip_direction(const Block& block, double friction, const ContactVector<3>& free, const ContactVector<3>& old,
                    ContactVector<3>& impulse) {
  const double p0 = block(2, 2) * free[0] - free[2] * block(0, 2);
  const double p1 = block(2, 2) * free[1] - free[2] * block(1, 2);
  const double m00 = friction * (free[0] * block(2, 0) - free[2] * block(0, 0));
  const double m01 = friction * (free[0] * block(2, 1) - free[2] * block(0, 1));
  const double m10 = friction * (free[1] * block(2, 0) - free[2] * block(1, 0));
  const double m11 = friction * (free[1] * block(2, 1) - free[2] * block(1, 1));
  const double q0 = m11 * p0 - m01 * p1;
  const double q1 = m00 * p1 - m10 * p0;
  const double trace = m00 + m11;
  const double determinant = m00 * m11 - m01 * m10;

  // The root lies in (low, high]: F(s) = det(M + s I) / ‖s p + q‖ − 1 is negative at low and not at high.
  double low = 0.0;
  const double discriminant = 0.25 * (m00 - m11) * (m00 - m11) + m01 * m10;
  if (discriminant >= 0.0) low = std::max(0.0, -0.5 * trace + std::sqrt(discriminant));
  if (low == 0.0 && determinant > std::sqrt(q0 * q0 + q1 * q1)) return false;
  const double size = std::abs(m00) + std::abs(m01) + std::abs(m10) + std::abs(m11);
  double high = std::sqrt(p0 * p0 + p1 * p1) + size;
  if (!(high > low)) return false;

  double s = low;
  if (old[0] != 0.0 || old[1] != 0.0) {
    const double scale = 1.0 / std::sqrt(old[0] * old[0] + old[1] * old[1]);
    const double e0 = old[0] * scale;
    const double e1 = old[1] * scale;
    s = -(e0 * (p0 + m00 * e0 + m01 * e1) + e1 * (p1 + m10 * e0 + m11 * e1));
    if (!(s > low && s < high)) s = low;
  }
  constexpr double precision = 4.0 * 2.220446049250313e-16;
  constexpr int most = 60;
  int iteration = 0;
  for (; iteration < most; ++iteration) {
    const double u0 = s * p0 + q0;
    const double u1 = s * p1 + q1;
    const double square = u0 * u0 + u1 * u1;
    if (!(square > 0.0)) return false;
    const double inverse = 1.0 / std::sqrt(square);
    const double value = ((s + trace) * s + determinant) * inverse;  // det(M + s I) / ‖s p + q‖
    const double error = value - 1.0;
    (error < 0.0 ? low : high) = s;
    if (std::abs(error) <= precision) break;
    const double slope = (2.0 * s + trace) * inverse - value * (u0 * p0 + u1 * p1) * inverse * inverse;
    double next = s - error / slope;
    if (!(slope > 0.0 && next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - s) <= precision * (s + size)) {
      s = next;
      break;
    }
    s = next;
  }
  if (iteration == most) return false;

  const double u0 = s * p0 + q0;
  const double u1 = s * p1 + q1;
  const double scale = -1.0 / std::sqrt(u0 * u0 + u1 * u1);
  const double e0 = u0 * scale;
  const double e1 = u1 * scale;
  const double resistance = block(2, 2) + friction * (block(2, 0) * e0 + block(2, 1) * e1);
  if (!(resistance > 0.0)) return false;
  const double normal = -free[2] / resistance;
  impulse = {friction * normal * e0, friction * normal * e1, normal};
  return std::isfinite(normal) && std::isfinite(e0);
}

/// In 2D the slip is along +t or −t: tried in the direction that resists the free motion first.
template <class Block>
bool slip_direction(const Block& block, double friction, const ContactVector<2>& free, const ContactVector<2>&,
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

/// One-contact solver of NSGS for the sweep (see sweep.hpp).
struct CoulombBlock {
  template <int Dim>
  struct Prepared {
    Eigen::Matrix<double, Dim, Dim> inverse;  ///< D⁻¹; NaN where D is too near to a singular matrix
    bool regular;                             ///< D_nn > 0 and D well away from singular
  };

  template <int Dim>
  Prepared<Dim> prepare(const Eigen::Matrix<double, Dim, Dim>& block, double) const {
    Prepared<Dim> prepared;
    prepared.inverse = block.inverse();
    // Beyond this condition number a stick by D⁻¹ is left to the careful path, which weighs it against the others.
    constexpr double worst_condition = 1e10;
    prepared.regular = block(Dim - 1, Dim - 1) > 0.0 && prepared.inverse.norm() * block.norm() < worst_condition;
    return prepared;
  }

  template <int Dim>
  ContactVector<Dim> solve(const Prepared<Dim>& prepared,
                           const Eigen::Map<const Eigen::Matrix<double, Dim, Dim>>& block, double friction,
                           const ContactVector<Dim>& free, const ContactVector<Dim>& old) const {
    constexpr int n = Dim - 1;
    if (free[n] >= 0.0) return ContactVector<Dim>::Zero();
    if (!prepared.regular) return solve_coulomb_carefully<Dim>(block, friction, free, old);
    if (friction == 0.0) {
      ContactVector<Dim> impulse = ContactVector<Dim>::Zero();
      impulse[n] = -free[n] / block(n, n);
      return impulse;
    }
    const ContactVector<Dim> stick = -(prepared.inverse * free);
    if (tangential_norm<Dim>(stick) <= friction * stick[n]) return stick;
    ContactVector<Dim> slip;
    if (slip_direction(block, friction, free, old, slip)) return slip;
    return solve_coulomb_carefully<Dim>(block, friction, free, old);
  }
};

}  // namespace conebench::gauss_seidel
