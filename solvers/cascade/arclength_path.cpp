#include "solvers/cascade/arclength_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace conebench::cascade {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

ArclengthPath::ArclengthPath(const ScaledProblem& problem, BlockLu& lu, SemismoothNewton& newton)
    : problem_(problem),
      lu_(lu),
      system_(problem, lu),
      newton_(newton),
      r_(problem.size()),
      w_(problem.size()),
      product_(problem.size()),
      d_(at(problem.contacts())) {
  for (auto* direction : {&centring_, &tangent_}) direction->resize(problem.size());
}

bool ArclengthPath::eigenvalues(const Vector& r, const Vector& w, double m, double& least, double& largest) const {
  least = std::numeric_limits<double>::infinity();
  largest = 0.0;
  for (int i = 0; i < problem_.contacts(); ++i) {
    const Eigen::Vector3d x = r.segment<3>(3 * i);
    const Eigen::Vector3d y = w.segment<3>(3 * i);
    const double det_r = cone_determinant(x);
    if (!(det_r > 0.0) || !(y[2] > 0.0) || !(x[2] > 0.0)) return false;
    // The eigenvalues of λ∘λ have mean r·u and product det r · det u; the small one from the product.
    const double mean = x.dot(de_saxce_velocity(y));
    const double product = det_r * velocity_determinant(y);
    const double large = mean + std::sqrt(std::max(0.0, mean * mean - product));
    least = std::min(least, product / large / m);
    largest = std::max(largest, large / m);
  }
  return true;
}

double ArclengthPath::agreement_with_last_step(double m, double last_log_step) const {
  double sum = 0.0;
  for (int i = 0; i < problem_.contacts(); ++i) {
    sum += system_.to_scaled(i, last_step_.segment<3>(3 * i)).dot(tangent_.z.segment<3>(3 * i));
  }
  return sum / (m * problem_.contacts()) + last_log_step;
}

bool ArclengthPath::run(Search& search, double r0, double w0, const Limits& limits) {
  const int n = problem_.contacts();
  for (int i = 0; i < n; ++i) {
    r_.segment<3>(3 * i) = Eigen::Vector3d(0.0, 0.0, r0);
    w_.segment<3>(3 * i) = Eigen::Vector3d(0.0, 0.0, w0);
  }
  problem_.multiply(r_, product_);
  start_infeasibility_ = w_ - product_ - problem_.free_term();
  const double m0 = r0 * w0;
  double m = m0;
  double arclength = 0.5;
  double orientation = -1.0;
  double last_log_step = 0.0;
  double hand_over_below = 1e-3;
  int first_sign = 0;
  for (int k = 0; k < limits.steps; ++k) {
    infeasibility_ = w_ - product_ - problem_.free_term() - (m / m0) * start_infeasibility_;
    residual_workspace_ = product_ + problem_.free_term();
    const double residual = problem_.residual(r_, residual_workspace_);
    if (search.offer(r_, residual)) return true;
    if (search.halted() || !std::isfinite(residual) || m < 1e-20 || m > 1e6 * m0) return false;
    if (residual < hand_over_below) {
      NewtonBudget budget;
      budget.relative = search.odd_attempt() ? 1e3 : 10.0;
      candidate_ = r_;
      if (newton_.run(search, candidate_, budget)) return true;
      if (search.halted()) return false;
      hand_over_below = 0.05 * residual;
    }

    system_.factor(r_, w_);
    search.count_newton();
    const int sign = lu_.determinant_sign();
    if (first_sign == 0) first_sign = sign;
    for (int i = 0; i < n; ++i) {
      d_[at(i)] = -jordan_product(system_.scaled_point(i), system_.scaled_point(i)) + Eigen::Vector3d(0.0, 0.0, m);
    }
    system_.solve(d_, infeasibility_, 1.0, centring_);
    for (int i = 0; i < n; ++i) d_[at(i)] = Eigen::Vector3d(0.0, 0.0, m);
    system_.solve(d_, start_infeasibility_, -m / m0, tangent_);

    const double tangent_squared = tangent_.z.squaredNorm() / (m * n);
    const double overlap = tangent_.z.dot(centring_.z) / (m * n);
    const double norm = std::sqrt(1.0 + tangent_squared);
    const double by_determinant = sign == first_sign ? -1.0 : 1.0;
    const double by_tangent = k == 0 ? -1.0 : (agreement_with_last_step(m, last_log_step) > 0.0 ? 1.0 : -1.0);
    if (limits.by_determinant || (by_determinant != orientation && by_tangent != orientation)) {
      orientation = by_determinant;
    }
    const double correction = -overlap / (1.0 + tangent_squared);

    double least = 0.0;
    double largest = 0.0;
    eigenvalues(r_, w_, m, least, largest);
    double step = arclength;
    double fade = 1.0;
    double log_step = 0.0;
    bool accepted = false;
    for (int trial = 0; trial < 30 && !accepted; ++trial) {
      log_step = std::clamp((correction + orientation * step / norm) * fade, -3.0, 3.0);
      next_r_ = r_ + fade * centring_.dr + log_step * tangent_.dr;
      next_w_ = w_ + fade * centring_.dw + log_step * tangent_.dw;
      double next_least = 0.0;
      double next_largest = 0.0;
      accepted = eigenvalues(next_r_, next_w_, m * std::exp(log_step), next_least, next_largest) &&
                 next_least >= std::min(limits.low, least * 1.0001) &&
                 next_largest <= std::max(limits.high, largest * 0.9999);
      if (accepted) {
        arclength = trial == 0 ? std::min(2.0, arclength * 1.6) : std::max(step, 1e-3);
      } else {
        step *= 0.6;
        if (trial > 8) fade *= 0.7;
      }
    }
    if (!accepted) return false;
    last_step_ = next_r_ - r_;
    last_log_step = log_step;
    std::swap(r_, next_r_);
    std::swap(w_, next_w_);
    m *= std::exp(log_step);
    problem_.multiply(r_, product_);
  }
  return false;
}

}  // namespace conebench::cascade
