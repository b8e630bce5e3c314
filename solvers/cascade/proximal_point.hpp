#pragma once

#include "solvers/cascade/contact_sweep.hpp"
#include "solvers/cascade/search.hpp"
#include "solvers/cascade/semismooth_newton.hpp"
#include "solvers/cascade/shifted_problem.hpp"

namespace conebench::cascade {

/// Proximal-point walk from r = 0: c ← r(c) + 0.9 (r(c) − c), where r(c) solves the problem with G + α I and g − α c.
///
/// The shift makes each inner problem well conditioned, and walking from zero keeps to the branch of solutions that
/// starts there, which avoids most folds. Inner problems are solved to 0.02 of the residual reached, by a warm
/// semi-smooth Newton method, else 20 Gauss–Seidel sweeps and Newton again, else a cold interior point. After
/// `successes` successes α shrinks by 0.7; after a failure it doubles (to 0.3 at most) and c falls back to the last
/// success (not to the best point: far from a solution along an impulse that hardly moves anything, α ‖r − c‖ is all of
/// the residual, and a walk that goes back begins its way anew); thirteen failures in a row end it.
///
/// With short steps the walk keeps to inner problems that Newton's method solves, some six factorizations each: what it
/// leaves costs an interior point ten times as many. After the first that it solved, one that it does not
/// solve is left, and c falls back with α 1.4 times as large; only after five of these in a row are sweeps and
/// interior point tried, and a success of theirs raises α by 1.5.
class ProximalPoint {
 public:
  struct Limits {
    double shift = 1e-2;  ///< α at the start (G̃ has unit diagonal)
    long newton_steps = 800;
    long longer = 0;  ///< beyond these, for as long as so many steps halve the residual
    int successes = 5;
    const Vector* from = nullptr;  ///< start there, not at zero
    bool resume = false;           ///< go on where the last walk from zero ended, with its shift
    bool short_steps = false;
  };

  /// `newton` works on `problem` itself, for finishing; `shifted` is of `problem`.
  ProximalPoint(const ScaledProblem& problem, SemismoothNewton& newton, ShiftedProblem& shifted);

  /// True: `search` accepted a point.
  bool run(Search& search, const Limits& limits);

 private:
  /// near: by Newton's method from `start`; far: by what is tried after it.
  enum class Inner { unsolved, near, far };

  /// Leaves the inner problem's answer in point_. At a glance only Newton's method is tried.
  Inner solve_inner(Search& search, double tolerance, const Vector& start, bool glance);

  const ScaledProblem& problem_;
  SemismoothNewton& newton_;
  ShiftedProblem& shifted_;
  ContactSweep inner_sweep_;
  struct Walk {
    Vector center, start;
    double shift = 0.0;
    double best_residual = 0.0;
  };
  Walk walk_;  ///< the last one from zero
  Vector point_, velocity_, candidate_;
};

}  // namespace conebench::cascade
