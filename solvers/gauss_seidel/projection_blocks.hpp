#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "problems/cones/contact_cones.hpp"

namespace conebench::gauss_seidel {

// One-contact solvers of the PGS family for the sweep (see sweep.hpp): one predictor–corrector step each. A step whose
// divisor is not positive is left out, so that a zero block keeps its impulse (a normal impulse that nothing moves is
// dropped where the contact opens).

inline double inverse_or_zero(double divisor) { return divisor > 0.0 ? 1.0 / divisor : 0.0; }

/// λ_max of the symmetric part of the 2×2 block at (first, first); a bound where D is not symmetric is as good.
template <int Dim>
double largest_plane_eigenvalue(const Eigen::Matrix<double, Dim, Dim>& block, int first) {
  const double coupling = 0.5 * (block(first, first + 1) + block(first + 1, first));
  const double half_difference = 0.5 * (block(first, first) - block(first + 1, first + 1));
  return 0.5 * (block(first, first) + block(first + 1, first + 1)) + std::hypot(half_difference, coupling);
}

/// The same of D_TT.
template <int Dim>
double largest_tangent_eigenvalue(const Eigen::Matrix<double, Dim, Dim>& block) {
  if constexpr (Dim == 2) {
    return block(0, 0);
  } else {
    return largest_plane_eigenvalue<Dim>(block, 0);
  }
}

/// One over what the normal, the tangential and, with rolling friction, the moments' step of a contact divide by.
struct Steps {
  double normal_step;
  double tangent_step;
  double moment_step = 0.0;
};

/// Shortens tangents and moments to what friction allows at the normal impulse that they have.
template <int Dim>
void shorten_to_disks(ContactVector<Dim>& impulse, const FrictionOf<Dim>& friction) {
  constexpr int n = normal_index<Dim>;
  const auto shorten = [](auto part, double length, double radius) {
    if (length > radius) part *= radius / length;
  };
  if constexpr (Dim == RollingCone::rows) {
    shorten(impulse.template head<2>(), norm_of_two(impulse[0], impulse[1]), friction.friction * impulse[n]);
    shorten(impulse.template tail<2>(), norm_of_two(impulse[3], impulse[4]), friction.rolling * impulse[n]);
  } else {
    shorten(impulse.template head<n>(), tangential_norm<Dim>(impulse), friction * impulse[n]);
  }
}

/// Which velocity the tangential step of PGS-NCP sees.
enum class TangentVelocity {
  updated,  ///< after the normal step: LeLidec24 Alg. 6 line 5
  initial,  ///< before it: Tsounis Alg. 3 line 1
};

/// What bounds the tangential impulse at a given normal one.
enum class FrictionBound {
  disk,  ///< ‖λ_T‖ ≤ μ λ_N: Coulomb's
  box,   ///< |λ_x| ≤ μ λ_N, |λ_y| ≤ μ λ_N: the pyramid around Coulomb's cone, up to √2 outside of it
};

/// PGS-NCP (disk; LeLidec24 Alg. 6, Tsounis Alg. 3) and PGS-LCP (box; LeLidec24 Alg. 1): normal and tangential impulse
/// one after the other.
template <FrictionBound Bound>
struct SplitProjection {
  bool safe_step = false;  ///< 1/λ_max(D_TT) for the printed 1/min(D_tt), the largest step there is
  TangentVelocity tangent_velocity = TangentVelocity::updated;

  static constexpr bool takes_rolling = Bound == FrictionBound::disk;

  template <int Dim>
  using Prepared = Steps;

  template <int Dim>
  Prepared<Dim> prepare(const Eigen::Matrix<double, Dim, Dim>& block, const FrictionOf<Dim>&) const {
    constexpr int n = normal_index<Dim>;
    const double divisor =
        safe_step ? largest_tangent_eigenvalue<Dim>(block) : block.diagonal().template head<n>().minCoeff();
    Steps steps{inverse_or_zero(block(n, n)), inverse_or_zero(divisor)};
    if constexpr (Dim == RollingCone::rows) {
      steps.moment_step = inverse_or_zero(safe_step ? largest_plane_eigenvalue<Dim>(block, n + 1)
                                                    : block.diagonal().template tail<2>().minCoeff());
    }
    return steps;
  }

  template <int Dim>
  ContactVector<Dim> solve(const Prepared<Dim>& prepared,
                           const Eigen::Map<const Eigen::Matrix<double, Dim, Dim>>& block,
                           const FrictionOf<Dim>& friction, const ContactVector<Dim>& free,
                           const ContactVector<Dim>& old) const {
    constexpr int n = normal_index<Dim>;
    ContactVector<Dim> velocity = free + block * old;
    ContactVector<Dim> next = old;
    next[n] = std::max(0.0, old[n] - prepared.normal_step * velocity[n]);
    if (prepared.normal_step == 0.0 && velocity[n] >= 0.0) next[n] = 0.0;
    if (tangent_velocity == TangentVelocity::updated) velocity += block.col(n) * (next[n] - old[n]);
    next.template head<n>() -= prepared.tangent_step * velocity.template head<n>();
    if constexpr (Dim == RollingCone::rows) {
      next.template tail<2>() -= prepared.moment_step * velocity.template tail<2>();
    }
    if constexpr (Bound == FrictionBound::disk) {
      shorten_to_disks<Dim>(next, friction);
    } else {
      const double bound = friction * next[n];
      for (int t = 0; t < n; ++t) next[t] = std::clamp(next[t], -bound, bound);
    }
    return next;
  }
};
using SplitProjectionBlock = SplitProjection<FrictionBound::disk>;
using BoxProjectionBlock = SplitProjection<FrictionBound::box>;

/// PROX and PROX-JACOBI: λ_N ← prox_{R+}(λ_N − ρ r_N σ_N), then λ_T ← prox of the disk μ λ_N at λ_T − ρ r_T σ_T, both
/// with σ of the old impulse (Erleben 2017). r_N = 1/D_NN, r_T = 1/λ_max(D_TT): one r for both tangents, for with one
/// each (1/D_tt, the paper's local strategy) friction ends opposed to (r_x σ_x, r_y σ_y), not to the slip.
struct ProxBlock {
  double factor = 1.0;  ///< ρ, which the solver adapts (see StepFactor)

  static constexpr bool takes_rolling = true;

  template <int Dim>
  using Prepared = Steps;

  template <int Dim>
  Prepared<Dim> prepare(const Eigen::Matrix<double, Dim, Dim>& block, const FrictionOf<Dim>&) const {
    constexpr int n = normal_index<Dim>;
    Steps steps{inverse_or_zero(block(n, n)), inverse_or_zero(largest_tangent_eigenvalue<Dim>(block))};
    if constexpr (Dim == RollingCone::rows) {
      steps.moment_step = inverse_or_zero(largest_plane_eigenvalue<Dim>(block, n + 1));
    }
    return steps;
  }

  template <int Dim>
  ContactVector<Dim> solve(const Prepared<Dim>& prepared,
                           const Eigen::Map<const Eigen::Matrix<double, Dim, Dim>>& block,
                           const FrictionOf<Dim>& friction, const ContactVector<Dim>& free,
                           const ContactVector<Dim>& old) const {
    constexpr int n = normal_index<Dim>;
    const ContactVector<Dim> velocity = free + block * old;
    ContactVector<Dim> next;
    next[n] = std::max(0.0, old[n] - factor * prepared.normal_step * velocity[n]);
    if (prepared.normal_step == 0.0 && velocity[n] >= 0.0) next[n] = 0.0;
    next.template head<n>() = old.template head<n>() - factor * prepared.tangent_step * velocity.template head<n>();
    if constexpr (Dim == RollingCone::rows) {
      next.template tail<2>() = old.template tail<2>() - factor * prepared.moment_step * velocity.template tail<2>();
    }
    shorten_to_disks<Dim>(next, friction);
    return next;
  }
};

/// PGS-CCP and PGS-CCP-DS: a step along the whole velocity, projected onto the cone (LeLidec24 Alg. 2, Tsounis Alg. 2
/// and Alg. 5 line 16 for s).
struct ConeProjectionBlock {
  static constexpr bool takes_rolling = true;

  bool de_saxce = false;  ///< s = Γ(z), which makes it a method for the NCP

  template <int Dim>
  struct Prepared {
    double step;  ///< d / trace(D)
  };

  template <int Dim>
  Prepared<Dim> prepare(const Eigen::Matrix<double, Dim, Dim>& block, const FrictionOf<Dim>&) const {
    const double trace = block.trace();
    return {trace > 0.0 ? Dim / trace : 0.0};
  }

  template <int Dim>
  ContactVector<Dim> solve(const Prepared<Dim>& prepared,
                           const Eigen::Map<const Eigen::Matrix<double, Dim, Dim>>& block,
                           const FrictionOf<Dim>& friction, const ContactVector<Dim>& free,
                           const ContactVector<Dim>& old) const {
    constexpr int n = normal_index<Dim>;
    ContactVector<Dim> velocity = free + block * old;
    if (de_saxce) velocity[n] += de_saxce_term<Dim>(velocity, friction);
    if (prepared.step == 0.0 && velocity[n] >= 0.0) return ContactVector<Dim>::Zero();
    return project_contact<Dim>(old - prepared.step * velocity, friction);
  }
};

}  // namespace conebench::gauss_seidel
