#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>

#include "problems/cones/contact_cones.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"

namespace conebench::gauss_seidel {

// One-contact solvers of the PGS family for the sweep (see sweep.hpp): one predictor–corrector step each. A step whose
// divisor is not positive is left out, so that a zero block keeps its impulse (a normal impulse that nothing moves is
// dropped where the contact opens).

inline double inverse_or_zero(double divisor) { return divisor > 0.0 ? 1.0 / divisor : 0.0; }

/// λ_max of the symmetric part of a group's own block; a bound where D is not symmetric is as good.
inline double largest_eigenvalue(const Eigen::Matrix<double, 1, 1>& block) { return block(0, 0); }
inline double largest_eigenvalue(const Eigen::Matrix2d& block) {
  const double coupling = 0.5 * (block(0, 1) + block(1, 0));
  const double half_difference = 0.5 * (block(0, 0) - block(1, 1));
  return 0.5 * (block(0, 0) + block(1, 1)) + std::hypot(half_difference, coupling);
}
double largest_eigenvalue(const FrictionCone::Square& block);

/// Groups of tangential rows that a contact has at most.
template <class Cone>
inline constexpr std::size_t max_groups = 1;
template <>
inline constexpr std::size_t max_groups<FrictionCone> = max_contact_rows - 1;

/// One over what the steps of a contact's normal and of each group divide by.
template <class Cone>
struct Steps {
  double normal;
  std::array<double, max_groups<Cone>> groups;

  Steps(const typename Cone::Square& block, const Cone& cone, bool safe_step)
      : normal(inverse_or_zero(block(cone.normal, cone.normal))), groups{} {
    auto group = groups.begin();
    cone.for_each_group([&]<int Size>(int first, int size, double) {
      const ContactSquare<Size> own = block.template block<Size, Size>(first, first, size, size);
      *group++ = inverse_or_zero(safe_step ? largest_eigenvalue(own) : own.diagonal().minCoeff());
    });
  }
};

inline double group_norm(const ContactVector<1>& x) { return std::abs(x[0]); }
inline double group_norm(const ContactVector<2>& x) { return norm_of_two(x[0], x[1]); }
inline double group_norm(const FrictionCone::Block& x) { return safe_norm(x); }

/// Shortens each group to what friction allows at the normal impulse that it has.
template <class Cone>
void shorten_to_discs(typename Cone::Block& impulse, const Cone& cone) {
  cone.for_each_group([&]<int Size>(int first, int size, double coefficient) {
    const ContactVector<Size> part = impulse.template segment<Size>(first, size);
    const double length = group_norm(part);
    const double radius = coefficient * impulse[cone.normal];
    if (length > radius) impulse.template segment<Size>(first, size) *= radius / length;
  });
}

/// The same of any cone: of a pyramid the projection onto {Σ|x_k| ≤ mu x_n}.
template <class Cone>
void shorten(typename Cone::Block& impulse, const Cone& cone) {
  shorten_to_discs(impulse, cone);
}
template <>
void shorten(FrictionCone::Block& impulse, const FrictionCone& cone);

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
/// one after the other; of a friction cone its groups each by a step of its own.
template <FrictionBound Bound>
struct SplitProjection {
  bool safe_step = false;  ///< 1/λ_max(D_TT) for the printed 1/min(D_tt), the largest step there is
  TangentVelocity tangent_velocity = TangentVelocity::updated;

  template <class Cone>
  using Prepared = Steps<Cone>;

  template <class Cone>
  requires(Bound == FrictionBound::disk || Coulomb<Cone>) Prepared<Cone> prepare(const typename Cone::Square& block,
                                                                                 const Cone& cone)
  const { return {block, cone, safe_step}; }

  template <class Cone>
  typename Cone::Block solve(const Prepared<Cone>& prepared, const Eigen::Map<const typename Cone::Square>& block,
                             const Cone& cone, const typename Cone::Block& free,
                             const typename Cone::Block& old) const {
    const int n = cone.normal;
    typename Cone::Block velocity = free + block * old;
    typename Cone::Block next = old;
    next[n] = std::max(0.0, old[n] - prepared.normal * velocity[n]);
    if (prepared.normal == 0.0 && velocity[n] >= 0.0) next[n] = 0.0;
    if (tangent_velocity == TangentVelocity::updated) velocity += block.col(n) * (next[n] - old[n]);
    auto step = prepared.groups.begin();
    cone.for_each_group([&]<int Size>(int first, int size, double) {
      next.template segment<Size>(first, size) -= *step++ * velocity.template segment<Size>(first, size);
    });
    if constexpr (Bound == FrictionBound::disk) {
      shorten(next, cone);
    } else {
      const double bound = cone.friction * next[n];
      for (int t = 0; t < n; ++t) next[t] = std::clamp(next[t], -bound, bound);
    }
    return next;
  }
};
using SplitProjectionBlock = SplitProjection<FrictionBound::disk>;
using BoxProjectionBlock = SplitProjection<FrictionBound::box>;

/// PROX and PROX-JACOBI: λ_N ← prox_{R+}(λ_N − ρ r_N σ_N), then λ_T ← prox of the disk μ λ_N at λ_T − ρ r_T σ_T, both
/// with σ of the old impulse (Erleben 2017). r_N = 1/D_NN, r_T = 1/λ_max(D_TT): one r for both tangents, for with one
/// each (1/D_tt, the paper's local strategy) friction ends opposed to (r_x σ_x, r_y σ_y), not to the slip. So for each
/// group of a friction cone.
struct ProxBlock {
  double factor = 1.0;  ///< ρ, which the solver adapts (see StepFactor)

  template <class Cone>
  using Prepared = Steps<Cone>;

  template <class Cone>
  Prepared<Cone> prepare(const typename Cone::Square& block, const Cone& cone) const {
    return {block, cone, true};
  }

  template <class Cone>
  typename Cone::Block solve(const Prepared<Cone>& prepared, const Eigen::Map<const typename Cone::Square>& block,
                             const Cone& cone, const typename Cone::Block& free,
                             const typename Cone::Block& old) const {
    const int n = cone.normal;
    const typename Cone::Block velocity = free + block * old;
    typename Cone::Block next = old;
    next[n] = std::max(0.0, old[n] - factor * prepared.normal * velocity[n]);
    if (prepared.normal == 0.0 && velocity[n] >= 0.0) next[n] = 0.0;
    auto step = prepared.groups.begin();
    cone.for_each_group([&]<int Size>(int first, int size, double) {
      next.template segment<Size>(first, size) -= factor * *step++ * velocity.template segment<Size>(first, size);
    });
    shorten(next, cone);
    return next;
  }
};

/// PGS-CCP and PGS-CCP-DS: a step along the whole velocity, projected onto the cone (LeLidec24 Alg. 2, Tsounis Alg. 2
/// and Alg. 5 line 16 for s).
struct ConeProjectionBlock {
  bool de_saxce = false;  ///< s = Γ(z), which makes it a method for the NCP

  template <class Cone>
  struct Prepared {
    double step;  ///< d / trace(D)
  };

  template <class Cone>
  Prepared<Cone> prepare(const typename Cone::Square& block, const Cone& cone) const {
    const double trace = block.trace();
    return {trace > 0.0 ? cone.size() / trace : 0.0};
  }

  template <class Cone>
  typename Cone::Block solve(const Prepared<Cone>& prepared, const Eigen::Map<const typename Cone::Square>& block,
                             const Cone& cone, const typename Cone::Block& free,
                             const typename Cone::Block& old) const {
    const int n = cone.normal;
    typename Cone::Block velocity = free + block * old;
    if (de_saxce) velocity[n] += cone.de_saxce(velocity);
    if (prepared.step == 0.0 && velocity[n] >= 0.0) return Cone::Block::Zero(cone.size());
    return cone.project(old - prepared.step * velocity);
  }
};

}  // namespace conebench::gauss_seidel
