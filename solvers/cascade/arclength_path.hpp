#pragma once

#include "solvers/cascade/path_system.hpp"
#include "solvers/cascade/search.hpp"
#include "solvers/cascade/semismooth_newton.hpp"

namespace conebench::cascade {

/// Pseudo-arclength following of the central path r ∘ u(w) = m e_n, w − G r − g = (m/m0) e0.
///
/// De Saxcé's term is not monotone, so the path may fold back in m; there the determinant of the Newton matrix changes
/// sign, and every method that drives m down monotonically stalls. A step has one factorization and two solves, the
/// centring and the tangent in ln m; its direction along the path flips only if the determinant's sign and the product
/// of successive tangents both say so. A point is accepted while the eigenvalues of λ ∘ λ stay in [low, high] m.
class ArclengthPath {
 public:
  struct Limits {
    int steps = 150;
    double low = 0.2;
    double high = 5.0;
    /// Orient by the determinant's sign alone; used by restarts, for the cases in which the agreement rule errs.
    bool by_determinant = false;
  };

  ArclengthPath(const ScaledProblem& problem, BlockLu& lu, SemismoothNewton& newton);

  /// From r = (0, 0, r0), w = (0, 0, w0). True: `search` accepted a point.
  bool run(Search& search, double r0, double w0, const Limits& limits);

 private:
  /// Least and largest eigenvalue of the contacts' λ ∘ λ over m; false outside the cones.
  bool eigenvalues(const Vector& r, const Vector& w, double m, double& least, double& largest) const;
  /// Product of this tangent with the last step, both in the scaled metric.
  double agreement_with_last_step(double m, double last_log_step) const;

  const ScaledProblem& problem_;
  BlockLu& lu_;
  PathSystem system_;
  SemismoothNewton& newton_;
  Vector r_, w_, product_, start_infeasibility_, infeasibility_, residual_workspace_, candidate_;
  Vector next_r_, next_w_, last_step_;
  PathSystem::Field d_;
  PathSystem::Direction centring_, tangent_;
};

}  // namespace conebench::cascade
