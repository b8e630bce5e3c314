#include "solvers/cascade/proximal_point.hpp"

#include <algorithm>
#include <limits>

namespace conebench::cascade {

namespace {

/// Regularisation beyond a hundredth of the shift would damp the drift along G's null space that the path is made of.
NewtonBudget inner_budget(double shift) {
  return {.largest = std::min(tuned.largest_inner, tuned.inner_relative * shift)};
}

}  // namespace

ProximalPoint::ProximalPoint(const ScaledProblem& problem, SemismoothNewton& newton, BlockLu& lu)
    : problem_(problem),
      newton_(newton),
      shifted_(problem),
      inner_newton_(shifted_, lu),
      inner_path_(shifted_, lu, inner_newton_),
      velocity_(problem.size()) {
  inner_path_.alternate = false;
}

ProximalPoint::Inner ProximalPoint::solve_inner(Search& search, double tolerance, const Vector& start,
                                                bool newton_only) {
  Search inner(shifted_, tolerance, search);
  const NewtonBudget budget = inner_budget(shifted_.shift());
  inner_path_.finish.relative = budget.relative;
  inner_path_.finish.largest = budget.largest;
  Inner outcome = inner_newton_.run(inner, start, budget) ? Inner::near : Inner::unsolved;
  if (outcome == Inner::unsolved && !newton_only && !search.halted()) {
    if (inner_path_.run(inner, 1.0, 1.0, tuned.path_steps)) outcome = Inner::far;
  }
  point_ = inner.best_point();
  return outcome;
}

void ProximalPoint::follow(Path& path, double shift, double admissible, double over_relaxation) {
  if (admissible == 0.0) {
    path.center = point_ + over_relaxation * (point_ - path.center);
    return;
  }
  for (int i = 0; i < problem_.contacts(); ++i) {
    const double share = std::min(1.0, admissible / problem_.residual_of(i, point_, velocity_));
    const Eigen::Vector3d point = point_.segment<3>(3 * i);
    const Eigen::Vector3d drift = point - path.center.segment<3>(3 * i);
    kept_.segment<3>(3 * i) = share * shift * drift;
    path.center.segment<3>(3 * i) =
        point - kept_.segment<3>(3 * i) / path.shift + over_relaxation * (1.0 - share) * drift;
  }
}

bool ProximalPoint::run(Search& search, const Limits& limits) {
  Path other;
  Path& path = limits.from != nullptr ? other : path_;
  if (!limits.resume || path.shift == 0.0) {
    path.center = limits.from != nullptr ? *limits.from : Vector::Zero(problem_.size());
    path.start = path.center;
    path.best_residual = std::numeric_limits<double>::infinity();
    path.shift = limits.shift;
  }
  kept_.setZero(problem_.size());
  problem_.velocity(path.start, velocity_);
  double last_residual = problem_.residual(path.start, velocity_);
  double last_finish = std::numeric_limits<double>::infinity();
  int successes = 0;
  int failures = 0;
  int newton_only_failed = 0;  // in a row, without success
  bool has_been_near = false;
  long end = search.newton_steps() + limits.newton_steps;
  double to_halve = path.best_residual;
  for (long k = 0; search.newton_steps() < end && !search.halted(); ++k) {
    shifted_.become_shifted(problem_, path.shift, path.center);
    const double tolerance =
        std::max(tuned.least_inner * search.tolerance(),
                 std::min(tuned.most_inner, tuned.inner * std::min(last_residual, path.best_residual)));
    const bool newton_only = limits.short_steps && has_been_near && newton_only_failed < tuned.newton_failures;
    const Inner inner = solve_inner(search, tolerance, path.start, newton_only);
    if (inner == Inner::unsolved) {
      successes = 0;
      path.shift = std::min(tuned.largest_shift, (newton_only ? tuned.shift_rises : 2.0) * path.shift);
      path.center = path.start - kept_ / path.shift;
      if (newton_only) {
        ++newton_only_failed;
      } else if (++failures > tuned.failures) {
        return false;
      }
      continue;
    }
    failures = 0;
    ++successes;
    if (inner == Inner::near) {
      newton_only_failed = 0;
      has_been_near = true;
    } else if (limits.short_steps) {
      successes = 0;
      path.shift = std::min(tuned.largest_shift, tuned.shift_rises * path.shift);
    }
    problem_.velocity(point_, velocity_);
    const double residual = problem_.residual(point_, velocity_);
    path.best_residual = std::min(path.best_residual, residual);
    if (path.best_residual < 0.5 * to_halve) {
      to_halve = path.best_residual;
      end = std::max(end, search.newton_steps() + limits.longer);
    }
    if (search.offer(point_, residual)) return true;
    // Now and then in any case: an inner problem may take no step at all.
    const bool falls = path.best_residual < tuned.hand_over_below && residual < tuned.progress * last_finish;
    if ((k + 1) % (falls ? tuned.finish_every : tuned.finish_seldom) == 0) {
      last_finish = residual;
      if (newton_.run(search, point_, strong_newton)) return true;
    }
    last_residual = residual;
    path.start = point_;
    const double shift = path.shift;
    if (successes >= tuned.successes) {
      path.shift = std::max(tuned.least_shift, tuned.shift_falls * path.shift);
      successes = 0;
    }
    follow(path, shift, limits.admissible * search.tolerance(), limits.over_relaxation);
  }
  return false;
}

}  // namespace conebench::cascade
