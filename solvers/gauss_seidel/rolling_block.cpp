#include "solvers/gauss_seidel/rolling_block.hpp"

#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace conebench::gauss_seidel {

namespace {

constexpr int n = RollingCone::normal;

/// One contact's law as the equation F = 0, in units of velocity.
class Law {
 public:
  Law(const RollingMatrix& block, const RollingCone& cone, const RollingVector& free)
      : block_(block), cone_(cone), free_(free) {
    const double trace = block.trace();
    const double size = block.norm();
    step_ = trace > 0.0 ? 5.0 / trace : (size > 0.0 ? 1.0 / size : 1.0);
    accurate_ = 4.0 * std::numeric_limits<double>::epsilon() * free.norm();
  }

  /// F(r) / ρ.
  RollingVector value(const RollingVector& impulse) const {
    return cone_.natural_map(impulse, step_ * corrected(impulse)) / step_;
  }
  double error(const RollingVector& impulse) const { return value(impulse).norm(); }
  bool accurate(double error) const { return error <= accurate_; }

  /// An element of F's generalised Jacobian over ρ: (I − A)/ρ + A (I + Γ') D, A = P'(r − ρ v̂).
  RollingMatrix jacobian(const RollingVector& impulse) const {
    const RollingVector velocity = block_ * impulse + free_;
    RollingMatrix corrected_by = RollingMatrix::Identity();
    const double slip = norm_of_two(velocity[0], velocity[1]);
    const double roll = norm_of_two(velocity[3], velocity[4]);
    if (slip > 0.0) corrected_by.row(n).head<2>() = cone_.friction / slip * velocity.head<2>().transpose();
    if (roll > 0.0) corrected_by.row(n).tail<2>() = cone_.rolling / roll * velocity.tail<2>().transpose();
    const RollingMatrix a = cone_.derivative(impulse - step_ * corrected(impulse));
    return (RollingMatrix::Identity() - a) / step_ + a * corrected_by * block_;
  }

  /// Newton's steps, halved until the error falls; returns the error that is left.
  double newton(RollingVector& impulse, int max_steps) const {
    double error = this->error(impulse);
    for (int k = 0; k < max_steps && !accurate(error); ++k) {
      const RollingVector direction = -jacobian(impulse).partialPivLu().solve(value(impulse));
      if (!direction.allFinite()) break;
      double t = 1.0;
      RollingVector next = impulse + direction;
      double next_error = this->error(next);
      for (int halving = 0; halving < 10 && !(next_error < (1.0 - 1e-4 * t) * error); ++halving) {
        t *= 0.5;
        next = impulse + t * direction;
        next_error = this->error(next);
      }
      if (!(next_error < error)) break;
      impulse = next;
      error = next_error;
    }
    return error;
  }

  /// Extragradient steps λ̄ = P(λ − ρ v̂(λ)), λ ← P(λ − ρ v̂(λ̄)), ρ adapted.
  void extragradient(RollingVector& impulse, int max_steps) const {
    double rho = step_;
    for (int k = 0; k < max_steps; ++k) {
      const RollingVector here = corrected(impulse);
      RollingVector ahead = cone_.project(impulse - rho * here);
      RollingVector there = corrected(ahead);
      for (int trial = 0; trial < 60; ++trial) {
        if (!(rho * (there - here).norm() > 0.9 * (ahead - impulse).norm())) break;
        rho *= 0.7;
        ahead = cone_.project(impulse - rho * here);
        there = corrected(ahead);
      }
      if (rho * (there - here).norm() < 0.3 * (ahead - impulse).norm()) rho *= 1.4;
      impulse = cone_.project(impulse - rho * there);
    }
  }

  RollingVector normal_only() const {
    RollingVector impulse = RollingVector::Zero();
    if (block_(n, n) > 0.0) impulse[n] = std::max(0.0, -free_[n] / block_(n, n));
    return impulse;
  }
  RollingVector stick(bool regular) const {
    if (regular) return -block_.partialPivLu().solve(free_);
    // The shortest impulse that stops most: a singular block has others.
    const Eigen::JacobiSVD<RollingMatrix> svd(block_, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const RollingVector turned = svd.matrixU().transpose() * free_;
    RollingVector impulse = RollingVector::Zero();
    for (int k = 0; k < 5; ++k) {
      if (svd.singularValues()[k] <= 1e-12 * svd.singularValues()[0]) break;
      impulse -= turned[k] / svd.singularValues()[k] * svd.matrixV().col(k);
    }
    return impulse;
  }

 private:
  /// v̂.
  RollingVector corrected(const RollingVector& impulse) const {
    RollingVector velocity = block_ * impulse + free_;
    velocity[n] += cone_.de_saxce(velocity);
    return velocity;
  }

  const RollingMatrix& block_;
  const RollingCone& cone_;
  const RollingVector& free_;
  double step_;
  double accurate_;
};

bool inside(const RollingCone& cone, const RollingVector& x) { return cone.outside(x).isZero(0.0); }

}  // namespace

RollingVector solve_rolling_contact(const RollingMatrix& block, const RollingCone& cone, const RollingVector& free,
                                    const RollingVector& old, bool regular) {
  constexpr int max_newton = 50;
  constexpr int max_extragradient = 100;
  constexpr int rounds = 20;
  if (free[n] >= 0.0) return RollingVector::Zero();
  const Law law(block, cone, free);
  const RollingVector stick = law.stick(regular);
  if (stick.allFinite() && inside(cone, stick) && (regular || law.accurate(law.error(stick)))) return stick;

  RollingVector best = old;
  double smallest = law.error(old);
  const auto keep = [&](const RollingVector& impulse, double error) {
    if (!(error < smallest)) return;
    best = impulse;
    smallest = error;
  };
  const std::array<RollingVector, 3> starts{old, cone.project(stick), law.normal_only()};
  for (const RollingVector& start : starts) {
    if (!start.allFinite()) continue;
    RollingVector impulse = start;
    keep(impulse, law.newton(impulse, max_newton));
    if (law.accurate(smallest)) return best;
  }
  // Rounding may leave Newton's method a few digits above what `accurate` asks for.
  const double enough = 1e-14 * free.norm();
  RollingVector impulse = best.allFinite() ? cone.project(best) : law.normal_only();
  for (int round = 0; round < rounds && !(smallest <= enough); ++round) {
    law.extragradient(impulse, max_extragradient);
    RollingVector polished = impulse;
    keep(polished, law.newton(polished, max_newton));
  }
  return best;
}

}  // namespace conebench::gauss_seidel
