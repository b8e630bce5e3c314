#pragma once

#include "problems/cones/contact_vector.hpp"

namespace conebench {

using RollingVector = ContactVector<5>;
using RollingMatrix = Eigen::Matrix<double, 5, 5>;

/// A contact in space with rolling friction, rows (t1, t2, n, m1, m2):
/// K = {‖x_T‖ ≤ mu x_n, ‖x_M‖ ≤ mu_r x_n}, K* = {mu ‖x_T‖ + mu_r ‖x_M‖ ≤ x_n}, De Saxcé's term mu ‖u_T‖ + mu_r ‖ω‖
/// (V. Acary, F. Bourrier, "Coulomb friction with rolling resistance as a cone complementarity problem", 2021).
/// Projections are Euclidean, so that the moments must be in the units of problems/rolling_units.hpp.
/// mu_r = 0: no moment, and ω is free.
struct RollingCone {
  static constexpr int rows = 5;
  static constexpr int normal = 2;
  using Block = RollingVector;

  double friction = 0.0;  ///< mu
  double rolling = 0.0;   ///< mu_r, a length; without unit where moments are scaled

  Block project(const Block& x) const { return x - outside(x); }
  Block project_dual(const Block& x) const {
    const Block reflected = -x;
    return x + project(reflected);
  }
  double de_saxce(const Block& velocity) const {
    return friction * norm_of_two(velocity[0], velocity[1]) + rolling * norm_of_two(velocity[3], velocity[4]);
  }
  /// λ − P(λ − s) as s + (y − P(y)), y = λ − s.
  Block natural_map(const Block& impulse, const Block& s) const {
    const Block y = impulse - s;
    if (in_polar(y)) return impulse;
    return s + outside(y);
  }

  /// P(x) = 0.
  bool in_polar(const Block& x) const;
  /// x − P(x). With a = ‖x_T‖, b = ‖x_M‖ the projection's normal entry s ≥ 0 minimises
  /// (s − x_n)² + (a − mu s)₊² + (b − mu_r s)₊², convex and quadratic in pieces; tangents and moments are then
  /// shortened to mu s and mu_r s.
  Block outside(const Block& x) const;
  /// An element of P's generalised Jacobian; on a kink that of the smaller face, but the whole space's inside.
  RollingMatrix derivative(const Block& x) const;

 private:
  /// The normal entry's s − x_n, and by how much tangents and moments are shortened.
  struct Pieces {
    double tangential, moment;          ///< a, b
    double raised;                      ///< s − x_n ≥ 0
    double tangential_cut, moment_cut;  ///< (a − mu s)₊, (b − mu_r s)₊
    bool slides, rolls;
  };
  Pieces pieces(const Block& x) const;
};

}  // namespace conebench
