#include "solvers/cascade/accelerated_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "problems/cones/coulomb.hpp"
#include "solvers/cascade/interior_point.hpp"

namespace conebench::cascade {

AcceleratedGradient::AcceleratedGradient(const ScaledProblem& problem) : problem_(problem) {
  for (Vector* buffer : {&next_, &y_, &velocity_, &next_velocity_, &velocity_y_}) buffer->setZero(problem.size());
}

double AcceleratedGradient::largest_eigenvalue() {
  constexpr int products = 12;  // 2 % below on lattices and piles; step lengths that fail raise it
  y_ = problem_.free_term();    // turns with the tangents; normals that don't match add what it lacks
  for (int i = 0; i < problem_.contacts(); ++i)
    y_[3 * static_cast<Index>(i) + 2] += 1.0 + 0.1 * static_cast<double>(i % 7);
  double largest = 1.0;
  for (int k = 0; k < products; ++k) {
    y_.normalize();
    problem_.multiply(y_, velocity_y_);
    largest = velocity_y_.norm();
    std::swap(y_, velocity_y_);
  }
  return largest;
}

void AcceleratedGradient::step() {
  for (int i = 0; i < problem_.contacts(); ++i) {
    const Index row = 3 * static_cast<Index>(i);
    if (problem_.is_interval(i)) {
      next_.segment<3>(row).setZero();
      next_[row + 2] = problem_.bounds(i).project(y_[row + 2] - velocity_y_[row + 2] / lipschitz_);
      continue;
    }
    const Eigen::Vector3d point = y_.segment<3>(row) - de_saxce_velocity(velocity_y_.segment<3>(row)) / lipschitz_;
    next_.segment<3>(row) = project_friction_cone<3>(point, 1.0);
  }
}

bool AcceleratedGradient::run(Search& search, Vector& r) {
  constexpr double gain = 0.7;  // of the residual
  constexpr int patience = 50;  // steps without; or half of all, as long waves come back late
  if (lipschitz_ == 0.0) lipschitz_ = 1.02 * largest_eigenvalue();
  problem_.velocity(r, velocity_);
  y_ = r;
  velocity_y_ = velocity_;
  double theta = 1.0, best = std::numeric_limits<double>::infinity(), to_beat = best;
  int gained = 0;
  for (int k = 1; !search.halted(); ++k) {
    step();
    problem_.velocity(next_, next_velocity_);
    search.count_gradient();
    const double residual = problem_.residual(next_, next_velocity_);
    if (search.offer(next_, residual)) return true;
    best = std::min(best, residual);
    y_ -= next_;
    const double curvature = y_.dot(velocity_y_ - next_velocity_);
    const bool too_long = curvature > lipschitz_ * y_.squaredNorm() * (1.0 + 1e-12);
    if (too_long) lipschitz_ = 1.1 * curvature / y_.squaredNorm();
    // Against u, whose part along the step is w's but for De Saxcé's term.
    double uphill = 0.0;
    for (int i = 0; i < problem_.contacts(); ++i) {
      const Index row = 3 * static_cast<Index>(i);
      uphill += de_saxce_velocity(velocity_y_.segment<3>(row)).dot(next_.segment<3>(row) - r.segment<3>(row));
    }
    const double next_theta = 0.5 * theta * (std::sqrt(theta * theta + 4.0) - theta);
    double beta = theta * (1.0 - theta) / (theta * theta + next_theta);
    theta = next_theta;
    if (too_long || uphill > 0.0) {
      beta = 0.0;
      theta = 1.0;
    }
    y_ = next_ + beta * (next_ - r);
    velocity_y_ = next_velocity_ + beta * (next_velocity_ - velocity_);
    std::swap(r, next_);
    std::swap(velocity_, next_velocity_);
    if (best < gain * to_beat) {
      to_beat = best;
      gained = k;
    }
    if (k - gained > std::max(patience, k / 2)) break;
  }
  r = search.best_point();
  return false;
}

}  // namespace conebench::cascade
