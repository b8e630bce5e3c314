#include "solvers/gauss_seidel/friction_block.hpp"

#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace conebench::gauss_seidel {

namespace {

using Block = FrictionCone::Block;
using Square = FrictionCone::Square;

/// One contact's law as the equation F = 0, in units of velocity.
class Law {
 public:
  Law(const Square& block, const FrictionCone& cone, const Block& free) : block_(block), cone_(cone), free_(free) {
    const double trace = block.trace();
    const double size = block.norm();
    step_ = trace > 0.0 ? cone.size() / trace : (size > 0.0 ? 1.0 / size : 1.0);
    accurate_ = 4.0 * std::numeric_limits<double>::epsilon() * free.norm();
  }

  /// F(r) / ρ.
  Block value(const Block& impulse) const { return cone_.natural_map(impulse, step_ * corrected(impulse)) / step_; }
  double error(const Block& impulse) const { return value(impulse).norm(); }
  bool accurate(double error) const { return error <= accurate_; }

  /// An element of F's generalised Jacobian over ρ: (I − A)/ρ + A (I + Γ') D, A = P'(r − ρ v̂).
  Square jacobian(const Block& impulse) const {
    const Block velocity = block_ * impulse + free_;
    Square corrected_by = Square::Identity(cone_.size(), cone_.size());
    corrected_by.row(cone_.normal) += cone_.de_saxce_gradient(velocity).transpose();
    const Square a = cone_.derivative(impulse - step_ * corrected(impulse));
    return (Square::Identity(cone_.size(), cone_.size()) - a) / step_ + a * corrected_by * block_;
  }

  /// Newton's steps, halved until the error falls; returns the error that is left.
  double newton(Block& impulse, int max_steps) const {
    double error = this->error(impulse);
    for (int k = 0; k < max_steps && !accurate(error); ++k) {
      const Block direction = -jacobian(impulse).partialPivLu().solve(value(impulse));
      if (!direction.allFinite()) break;
      double t = 1.0;
      Block next = impulse + direction;
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
  void extragradient(Block& impulse, int max_steps) const {
    double rho = step_;
    for (int k = 0; k < max_steps; ++k) {
      const Block here = corrected(impulse);
      Block ahead = cone_.project(impulse - rho * here);
      Block there = corrected(ahead);
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

  Block normal_only() const {
    Block impulse = Block::Zero(cone_.size());
    if (block_(cone_.normal, cone_.normal) > 0.0)
      impulse[cone_.normal] = std::max(0.0, -free_[cone_.normal] / block_(cone_.normal, cone_.normal));
    return impulse;
  }
  Block stick(bool regular) const {
    if (regular) return -block_.partialPivLu().solve(free_);
    // The shortest impulse that stops most: a singular block has others.
    const Eigen::JacobiSVD<Square> svd(block_, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Block turned = svd.matrixU().transpose() * free_;
    Block impulse = Block::Zero(cone_.size());
    for (int k = 0; k < cone_.size(); ++k) {
      if (svd.singularValues()[k] <= 1e-12 * svd.singularValues()[0]) break;
      impulse -= turned[k] / svd.singularValues()[k] * svd.matrixV().col(k);
    }
    return impulse;
  }

 private:
  /// v̂.
  Block corrected(const Block& impulse) const {
    Block velocity = block_ * impulse + free_;
    velocity[cone_.normal] += cone_.de_saxce(velocity);
    return velocity;
  }

  const Square& block_;
  const FrictionCone& cone_;
  const Block& free_;
  double step_;
  double accurate_;
};

bool inside(const FrictionCone& cone, const Block& x) { return cone.outside(x).isZero(0.0); }

}  // namespace

double friction_error(const Square& block, const FrictionCone& cone, const Block& free, const Block& impulse) {
  return Law(block, cone, free).error(impulse);
}

FrictionCone::Block solve_friction_contact(const Square& block, const FrictionCone& cone, const Block& free,
                                           const Block& old, bool regular) {
  constexpr int max_newton = 50;
  constexpr int max_extragradient = 100;
  constexpr int rounds = 20;
  if (free[cone.normal] >= 0.0) return Block::Zero(cone.size());
  const Law law(block, cone, free);
  const Block stick = law.stick(regular);
  if (stick.allFinite() && inside(cone, stick) && (regular || law.accurate(law.error(stick)))) return stick;

  Block best = old;
  double smallest = law.error(old);
  const auto keep = [&](const Block& impulse, double error) {
    if (!(error < smallest)) return;
    best = impulse;
    smallest = error;
  };
  const std::array<Block, 3> starts{old, cone.project(stick), law.normal_only()};
  for (const Block& start : starts) {
    if (!start.allFinite()) continue;
    Block impulse = start;
    keep(impulse, law.newton(impulse, max_newton));
    if (law.accurate(smallest)) return best;
  }
  // Rounding may leave Newton's method a few digits above what `accurate` asks for.
  const double enough = 1e-14 * free.norm();
  Block impulse = best.allFinite() ? cone.project(best) : law.normal_only();
  for (int round = 0; round < rounds && !(smallest <= enough); ++round) {
    law.extragradient(impulse, max_extragradient);
    Block polished = impulse;
    keep(polished, law.newton(polished, max_newton));
  }
  return best;
}

}  // namespace conebench::gauss_seidel
