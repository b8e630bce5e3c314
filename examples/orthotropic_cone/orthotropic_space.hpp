#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "problems/cones/contact_vector.hpp"

namespace conebench {

/// Orthotropic friction in space, rows (t1, t2, n):
///     K  = {√((x_1/mu_1)² + (x_2/mu_2)²) ≤ x_n},   K* = {√((mu_1 v_1)² + (mu_2 v_2)²) ≤ v_n},
/// with mu_1, mu_2 > 0. Projections are Euclidean in the problem's own variables, where the cone is no ball, so that
/// they need the root of an equation.
struct OrthotropicSpace {
  static constexpr int rows = 3;
  static constexpr int normal = 2;
  using Block = ContactVector<3>;
  using Square = ContactSquare<3>;

  double mu_1 = 0.0, mu_2 = 0.0;

  OrthotropicSpace() = default;
  explicit OrthotropicSpace(std::span<const double> coefficients) : mu_1(coefficients[0]), mu_2(coefficients[1]) {}

  static constexpr int size() { return rows; }
  Block project(const Block& x) const { return x - outside(x); }
  Block project_dual(const Block& x) const {
    const Block reflected = -x;
    return x + project(reflected);
  }
  /// Γ's entry on the normal: the support function of the ellipse.
  double de_saxce(const Block& velocity) const { return norm_of_two(mu_1 * velocity[0], mu_2 * velocity[1]); }
  Block de_saxce_gradient(const Block& velocity) const {
    const double slip = de_saxce(velocity);
    if (!(slip > 0.0)) return Block::Zero();
    return Block(mu_1 * mu_1 * velocity[0] / slip, mu_2 * mu_2 * velocity[1] / slip, 0.0);
  }
  /// λ − P(λ − s) as s + (y − P(y)), so that a small s keeps its digits.
  Block natural_map(const Block& impulse, const Block& s) const { return s + outside(impulse - s); }

  /// x − P(x). Where x is outside of K and of its polar, the nearest point y has x − y = t q(y), q = (y_1/mu_1²,
  /// y_2/mu_2², −y_n) the cone's normal at y, so that
  ///     y_k = x_k mu_k² / (mu_k² + t),   y_n = x_n / (1 − t),
  /// and t makes Σ (y_k/mu_k)² = y_n²: between 0 and 1 for x_n > 0, above 1 for x_n < 0. The difference of both sides
  /// falls (rises) there, so that halving finds it.
  Block outside(const Block& x) const {
    const double length = norm_of_two(x[0] / mu_1, x[1] / mu_2);
    if (length <= x[normal]) return Block::Zero();
    if (de_saxce(x) <= -x[normal]) return x;
    const auto tangent = [&](int k, double t) {
      const double square = k == 0 ? mu_1 * mu_1 : mu_2 * mu_2;
      return x[k] * square / (square + t);
    };
    const auto radius = [&](double t) { return norm_of_two(tangent(0, t) / mu_1, tangent(1, t) / mu_2); };
    Block nearest;
    if (x[normal] == 0.0) {
      nearest << tangent(0, 1.0), tangent(1, 1.0), radius(1.0);
      return x - nearest;
    }
    const bool above = x[normal] > 0.0;
    // y_n(t) is below the ellipse's at `low` and above it at `high`.
    double low = above ? 0.0 : std::numeric_limits<double>::max();
    double high = 1.0;
    for (int k = 0; k < 200; ++k) {
      const double t = above || low < 4.0 ? 0.5 * (low + high) : std::sqrt(low) * std::sqrt(high);
      if (t == low || t == high) break;
      (x[normal] / (1.0 - t) < radius(t) ? low : high) = t;
    }
    nearest << tangent(0, high), tangent(1, high), radius(high);
    return x - nearest;
  }
};

}  // namespace conebench
