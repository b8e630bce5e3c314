#include "solvers/cascade/proximal_point.hpp"

#include <algorithm>
#include <limits>

namespace conebench::cascade {

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
  // Regularisation beyond a hundredth of the shift would damp the drift along G's null space that the path is made of.
  const NewtonBudget budget{.largest = tuned.negligible * shifted_.shift()};
  inner_path_.finish = budget;
  Inner outcome = inner_newton_.run(inner, start, budget) ? Inner::near : Inner::unsolved;
  if (outcome == Inner::unsolved && !newton_only && !search.halted()) {
    if (inner_path_.run(inner)) outcome = Inner::far;
  }
  point_ = inner.best_point();
  return outcome;
}

void ProximalPoint::follow(double shift, double next_shift, double admissible) {
  for (int i = 0; i < problem_.contacts(); ++i) {
    const Eigen::Vector3d point = point_.segment<3>(3 * i);
    const Eigen::Vector3d drift = point - center_.segment<3>(3 * i);
    const double share = std::min(1.0, admissible / problem_.residual_of(i, point_, velocity_));
    kept_.segment<3>(3 * i) = share * shift * drift;
    center_.segment<3>(3 * i) = point - kept_.segment<3>(3 * i) / next_shift + 0.5 * (1.0 - share) * drift;
  }
}

bool ProximalPoint::run(Search& search, const Vector& from, const Limits& limits) {
  start_ = center_ = from;
  kept_.setZero(problem_.size());
  problem_.velocity(start_, velocity_);
  double last_residual = problem_.residual(start_, velocity_);
  double best_residual = std::numeric_limits<double>::infinity();
  double last_finish = best_residual;
  double shift = limits.shift;
  int successes = 0;
  int failures = 0;
  int newton_only_failed = 0;  // in a row, without success
  bool has_been_near = false;
  const long end = search.newton_steps() + limits.newton_steps;
  for (long k = 1; search.newton_steps() < end && !search.halted(); ++k) {
    const long steps_before = search.newton_steps();
    shifted_.become_shifted(problem_, shift, center_);
    const double tolerance =
        std::max(tuned.negligible * search.tolerance(), tuned.inner * std::min(last_residual, best_residual));
    const bool newton_only = limits.short_steps && has_been_near && newton_only_failed < tuned.failures;
    const Inner inner = solve_inner(search, tolerance, start_, newton_only);
    if (inner == Inner::unsolved) {
      successes = 0;
      shift = std::min(tuned.max_shift, 2.0 * shift);
      center_ = start_ - kept_ / shift;
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
    }
    problem_.velocity(point_, velocity_);
    const double residual = problem_.residual(point_, velocity_);
    best_residual = std::min(best_residual, residual);
    if (search.offer(point_, residual) || search.halted()) return search.accepted();
    const bool falls = best_residual < tuned.near && residual < tuned.progress * last_finish;
    // An inner problem that takes no step must not repeat for ever.
    if ((falls && k % tuned.finish_every == 0) || search.newton_steps() == steps_before) {
      last_finish = residual;
      if (newton_.run(search, point_, strong_newton)) return true;
    }
    last_residual = residual;
    start_ = point_;
    const double solved_with = shift;
    if (successes >= tuned.successes) {
      shift = std::max(tuned.least, (limits.admissible ? 0.5 : tuned.shift_falls) * shift);
      successes = 0;
    }
    if (limits.admissible)
      follow(solved_with, shift, tuned.admissible * search.tolerance());
    else
      center_ = point_ + tuned.over_relaxation * (point_ - center_);
  }
  return false;
}

}  // namespace conebench::cascade
