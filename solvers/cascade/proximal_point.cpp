#include "solvers/cascade/proximal_point.hpp"

#include <algorithm>
#include <limits>

namespace conebench::cascade {

namespace {

/// Regularisation beyond a hundredth of the shift would damp the drift along G's null space that the walk is made of.
NewtonBudget inner_budget(double shift) {
  return {.steps = 60, .patience = 15, .relative = 10.0, .largest = std::min(1e-4, 0.01 * shift)};
}
constexpr NewtonBudget finishing_budget{.steps = 25, .patience = 6, .relative = 1e3, .largest = 0.1};
constexpr double largest_shift = 0.3;
constexpr int failures_in_a_row = 12;
constexpr int most_newton_only = 5;

}  // namespace

ProximalPoint::ProximalPoint(const ScaledProblem& problem, SemismoothNewton& newton, ShiftedProblem& shifted)
    : problem_(problem), newton_(newton), shifted_(shifted), velocity_(problem.size()) {}

ProximalPoint::Inner ProximalPoint::solve_inner(Search& search, double tolerance, const Vector& start,
                                                bool newton_only) {
  Search inner(shifted_.problem, tolerance, search);
  const NewtonBudget budget = inner_budget(shifted_.problem.shift());
  shifted_.interior_point.finish.relative = budget.relative;
  shifted_.interior_point.finish.largest = budget.largest;
  candidate_ = start;
  Inner outcome = shifted_.newton.run(inner, candidate_, budget) ? Inner::near : Inner::unsolved;
  if (outcome == Inner::unsolved && !newton_only && !search.halted()) {
    if (shifted_.interior_point.run(inner, 1.0, 1.0, 40)) outcome = Inner::far;
  }
  point_ = inner.best_point();
  return outcome;
}

void ProximalPoint::follow(Walk& walk, double shift, double tolerated, double over_relaxation) {
  if (tolerated == 0.0) {
    walk.center = point_ + over_relaxation * (point_ - walk.center);
    return;
  }
  for (int i = 0; i < problem_.contacts(); ++i) {
    const double share = std::min(1.0, tolerated / problem_.residual_of(i, point_, velocity_));
    const Eigen::Vector3d point = point_.segment<3>(3 * i);
    const Eigen::Vector3d drift = point - walk.center.segment<3>(3 * i);
    kept_.segment<3>(3 * i) = share * shift * drift;
    walk.center.segment<3>(3 * i) =
        point - kept_.segment<3>(3 * i) / walk.shift + over_relaxation * (1.0 - share) * drift;
  }
}

bool ProximalPoint::run(Search& search, const Limits& limits) {
  Walk other;
  Walk& walk = limits.from != nullptr ? other : walk_;
  if (!limits.resume || walk.shift == 0.0) {
    walk.center = limits.from != nullptr ? *limits.from : Vector::Zero(problem_.size());
    walk.start = walk.center;
    walk.best_residual = std::numeric_limits<double>::infinity();
    walk.shift = limits.shift;
  }
  kept_.setZero(problem_.size());
  problem_.velocity(walk.start, velocity_);
  double last_residual = problem_.residual(walk.start, velocity_);
  double last_finish = std::numeric_limits<double>::infinity();
  int successes = 0;
  int failures = 0;
  int newton_only_failed = 0;  // in a row, without success
  bool has_been_near = false;
  long end = search.newton_steps() + limits.newton_steps;
  double to_halve = walk.best_residual;
  for (long k = 0; search.newton_steps() < end && !search.halted(); ++k) {
    shifted_.problem.become_shifted(problem_, walk.shift, walk.center);
    const double tolerance =
        std::max(0.01 * search.tolerance(), std::min(1e-4, 0.02 * std::min(last_residual, walk.best_residual)));
    const bool newton_only = limits.short_steps && has_been_near && newton_only_failed < most_newton_only;
    const Inner inner = solve_inner(search, tolerance, walk.start, newton_only);
    if (inner == Inner::unsolved) {
      successes = 0;
      walk.shift = std::min(largest_shift, (newton_only ? 1.4 : 2.0) * walk.shift);
      walk.center = walk.start - kept_ / walk.shift;
      if (newton_only) {
        ++newton_only_failed;
      } else if (++failures > failures_in_a_row) {
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
      walk.shift = std::min(largest_shift, 1.5 * walk.shift);
    }
    problem_.velocity(point_, velocity_);
    const double residual = problem_.residual(point_, velocity_);
    walk.best_residual = std::min(walk.best_residual, residual);
    if (walk.best_residual < 0.5 * to_halve) {
      to_halve = walk.best_residual;
      end = std::max(end, search.newton_steps() + limits.longer);
    }
    if (search.offer(point_, residual)) return true;
    if (k % 5 == 4 && walk.best_residual < 1e-3 && residual < 0.7 * last_finish) {
      last_finish = residual;
      candidate_ = point_;
      if (newton_.run(search, candidate_, finishing_budget)) return true;
    }
    last_residual = residual;
    walk.start = point_;
    const double shift = walk.shift;
    if (successes >= limits.successes) {
      walk.shift = std::max(1e-9, 0.7 * walk.shift);
      successes = 0;
    }
    follow(walk, shift, limits.tolerated * search.tolerance(), limits.over_relaxation);
  }
  return false;
}

}  // namespace conebench::cascade
