#pragma once

#include <vector>

#include "solvers/cascade/block_lu.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/cascade/search.hpp"
#include "solvers/cascade/semismooth_newton.hpp"

namespace conebench::cascade {

/// Jordan products of the second-order cone in components (t1, t2, n).
Eigen::Vector3d jordan_product(const Eigen::Vector3d& a, const Eigen::Vector3d& b);
/// (x_n − ‖x_T‖)(x_n + ‖x_T‖): positive inside the cone.
double cone_determinant(const Eigen::Vector3d& x);
/// cone_determinant(u(w)) = w_n (w_n + 2‖w_T‖), without cancellation.
double velocity_determinant(const Eigen::Vector3d& w);
/// u(w) = (w_T, w_n + ‖w_T‖), De Saxcé's velocity.
Eigen::Vector3d de_saxce_velocity(const Eigen::Vector3d& w);

/// The linear system of a point (r, w) near the central path r ∘ u(w) = m e_n, w = G r + g, in Nesterov–Todd scaling.
///
/// The scaling W = F D Fᵀ stays in the cone's eigenbasis F = [f1 f3 f2] on ê (f3 is the second tangent in the plane)
/// and is never summed in xyz, which would lose digits: D = η diag(a, 1, 1/a), w̄ the scaling point, a = w̄_n + ‖w̄_T‖, η
/// = (det r / det u)^¼, ê = w̄_T/‖w̄_T‖. The matrix is M = Rᵀ G R + B with R = F D and, with c1 = ê·ŵ/√2, c3 = ê⊥·ŵ, B =
/// I − (a/√2, 0, 1/(a√2))ᵀ (c1/a, c3, −a c1), which carries De Saxcé's term. λ = W⁻¹r = W u is the scaled point.
///
/// A solve takes d (Jordan units) and an infeasibility e: M z = Rᵀ e + B Fᵀ(λ \ d), dr = R z, and dw = G dr − e, so
/// that linear feasibility is exact whatever the factorization's rounding.
class PathSystem {
 public:
  using Block = ScaledProblem::Block;
  using Field = std::vector<Eigen::Vector3d>;  ///< a 3-vector a contact

  struct Direction {
    Vector z, dr, dw;  ///< z: in the eigenbasis
    void resize(Index size);
  };

  PathSystem(const ScaledProblem& problem, BlockLu& lu);

  /// Scaling and factorization at (r, w), both strictly inside (r in the cone, w_n > 0).
  void factor(const Vector& r, const Vector& w);

  /// Solves for right-hand side `d`.
  void solve(const Field& d, const Vector& infeasibility, Direction& direction);

  const Eigen::Vector3d& scaled_point(int i) const { return scaled_point_[static_cast<std::size_t>(i)]; }
  /// λ \ d of the last solve.
  const Field& quotient() const { return quotient_; }
  Eigen::Vector3d from_eigenbasis(int i, const Vector& z) const {
    return axes_[static_cast<std::size_t>(i)] * z.segment<3>(3 * i);
  }

 private:
  void scale(int i, const Eigen::Vector3d& r, const Eigen::Vector3d& w);

  const ScaledProblem& problem_;
  BlockLu& lu_;
  BlockSystem system_;
  std::vector<Block> axes_;  ///< F
  Field scaled_point_, quotient_;
  Vector right_side_;
};

/// Primal–dual interior point on (r, w) with Mehrotra's predictor and corrector and De Saxcé's term in the matrix.
///
/// Every iteration factors once. The step goes max(0.9, 1 − max(1e-3, 0.1 m)) of the way to the boundary, then shrinks
/// until the point stays in the neighbourhood min √(det r det u) ≥ min(0.1 m, current) and, after three iterations, the
/// gap does not grow. A short step is tried again with more centring; one below 1e-3 ends the run. The semi-smooth
/// Newton method is called in as soon as the residual is below 1e-2 and the gap below 3e-7 of the start's, and each
/// time the residual has fallen to 0.05 of that: on redundant contacts, where steps are short, Newton's from further
/// off are lost.
class InteriorPoint {
 public:
  InteriorPoint(const ScaledProblem& problem, BlockLu& lu, SemismoothNewton& newton);

  /// From r = (0, 0, 1/velocity), w = (0, 0, velocity). True: `search` accepted a point.
  bool run(Search& search, double velocity = 1.0);

  /// Called with each finishing run's budget; its regularisation alternates.
  NewtonBudget finish;
  bool alternate = true;  ///< relative regularisation 10 and 1e3 in turn

 private:
  using Field = PathSystem::Field;
  double gap_at(double length, const PathSystem::Direction& direction) const;
  double step_to_boundary(const PathSystem::Direction& direction) const;
  bool in_neighbourhood(double length, const PathSystem::Direction& direction, double width, double& gap) const;
  /// Predictor and up to two correctors; the chosen direction is left in chosen_. Its length.
  double choose_step(int iteration, double m);
  bool finish_with_newton(Search& search);

  const ScaledProblem& problem_;
  PathSystem system_;
  SemismoothNewton& newton_;
  Vector r_, w_, product_, infeasibility_, residual_workspace_;
  Field d_, affine_quotient_;
  PathSystem::Direction affine_, corrected_, chosen_;
};

}  // namespace conebench::cascade
