#pragma once

#include "solvers/cascade/interior_point.hpp"
#include "solvers/cascade/search.hpp"
#include "solvers/cascade/semismooth_newton.hpp"

namespace conebench::cascade {

/// Proximal path, c ← r(c) + 0.9 (r(c) − c) where r(c) solves the problem with G + α I and g − α c.
///
/// The shift makes each inner problem well conditioned, and a path from zero keeps to the branch of solutions that
/// starts there, which avoids most folds. Inner problems are solved to 0.02 of the residual reached, by a warm
/// semi-smooth Newton method, else by a cold interior point. After three successes α falls to 0.7; after a failure it
/// doubles (to 0.3 at most) and c falls back to the last success (not to the best point: far from a solution along an
/// impulse that hardly moves anything, α ‖r − c‖ is all of the residual, and a path that goes back begins anew); six
/// failures in a row end it.
///
/// With short steps the path keeps to inner problems that Newton's method solves, some six factorizations each: what it
/// leaves costs an interior point ten times as many. After the first that it solved, one that it does not solve is
/// left, and c falls back with α twice as large; only after five of these in a row is the interior point tried.
///
/// On a branch without a solution α (r − c), which g would have to change by, goes to the change that is shortest in
/// the 2-norm, but what counts is the largest error of a contact. Where `admissible` a contact's change is kept from
/// step to step as far as its error is within 0.9 of the tolerance: c ← r − kept/α, and half of the rest of r − c
/// beyond; α halves. These are alternating projections between the changes of g that have a solution and those that the
/// tolerance allows.
class ProximalPoint {
 public:
  struct Limits {
    double shift = tuned.first_shift;  ///< α at the start
    long newton_steps = 0;
    bool short_steps = false;
    bool admissible = false;  ///< errors that the tolerance allows stay
  };

  /// `newton` works on `problem` itself, for finishing; `lu` has analysed its pattern.
  ProximalPoint(const ScaledProblem& problem, SemismoothNewton& newton, BlockLu& lu);

  /// From r = `from`. True: `search` accepted a point.
  bool run(Search& search, const Vector& from, const Limits& limits);

  /// The problem that is shifted, for whoever has one between the runs.
  ScaledProblem& shifted() { return shifted_; }

 private:
  /// near: by Newton's method from `start`; far: by what is tried after it.
  enum class Inner { unsolved, near, far };

  /// Leaves the inner problem's answer in point_. Where `newton_only`, only Newton's method is tried.
  Inner solve_inner(Search& search, double tolerance, const Vector& start, bool newton_only);
  /// The center after point_, which was solved for with `shift`; errors of a contact up to `admissible` stay.
  void follow(double shift, double next_shift, double admissible);

  const ScaledProblem& problem_;
  SemismoothNewton& newton_;
  ScaledProblem shifted_;  ///< G̃ + α I, and what solves it
  SemismoothNewton inner_newton_;
  InteriorPoint inner_path_;
  Vector center_, start_, point_, velocity_;
  Vector kept_;  ///< change of g that is admitted
};

}  // namespace conebench::cascade
