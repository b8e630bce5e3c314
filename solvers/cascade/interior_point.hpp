#pragma once

#include "solvers/cascade/path_system.hpp"
#include "solvers/cascade/search.hpp"
#include "solvers/cascade/semismooth_newton.hpp"

namespace conebench::cascade {

/// Primal–dual interior point on (r, w) with Mehrotra's predictor and corrector and De Saxcé's term in the matrix.
///
/// Every iteration factors once. The step goes max(0.9, 1 − max(1e-3, 0.1 m)) of the way to the boundary, then shrinks
/// until the point stays in the neighbourhood min √(det r det u) ≥ min(0.1, 0.9 current) m and, after three iterations,
/// the gap does not grow. A short step is tried again with more centring; four slow ones end the run. The semi-smooth
/// Newton method is called in as soon as the residual is below 1e-3, and each time it has fallen to 0.05 of that, but
/// not before the gap is below 3e-7 of the start's or the last step has cut it to a quarter: on redundant contacts,
/// where steps are short, Newton's from further off are lost.
class InteriorPoint {
 public:
  InteriorPoint(const ScaledProblem& problem, BlockLu& lu, SemismoothNewton& newton);

  /// From r = (0, 0, r0), w = (0, 0, w0). True: `search` accepted a point.
  bool run(Search& search, double r0, double w0, int max_iterations);

  /// Called with each finishing run's budget; its regularisation alternates.
  NewtonBudget finish{.stall_window = tuned.finish_stall_window};
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
