#pragma once

#include <cmath>
#include <limits>

#include "solvers/newton/block_functions.hpp"

/// Fischer and Burmeister's function φ(x, y) = x + y − (x² + y²)^{1/2}, 0 where x and y are in a cone that is its own
/// dual and xᵀy = 0: of numbers, and by Jordan's product v∘u = (v_Tᵀu_T + v_N u_N, v_N u_T + u_N v_T) on second-order
/// cones (Fukushima, Luo, Tseng, Smoothing functions for second-order-cone complementarity problems, SIAM J. Optim.
/// 12(2), 2002). Where φ has no derivative, the functions give its limit along x = y from inside.
namespace conebench::newton {

struct ScalarFischerBurmeister {
  double value = 0.0;
  double by_first = 1.0 - M_SQRT1_2;
  double by_second = 1.0 - M_SQRT1_2;
};

inline ScalarFischerBurmeister fischer_burmeister(double a, double b) {
  const double length = std::hypot(a, b);
  if (!(length > 0.0)) return {.value = a + b};  // NaN stays
  // 2 a b / (a + b + |(a, b)|) keeps the digits of the smaller one.
  const double value = a + b > 0.0 ? 2.0 * a * (b / (a + b + length)) : a + b - length;
  return {value, 1.0 - a / length, 1.0 - b / length};
}

/// F = φ(λ − l, −φ(u − λ, −r σ)) / r of any row that is no contact's (Billups, Algorithms for complementarity problems
/// and generalized equations, 1995), a φ for each finite bound; σ where there is none.
inline BlockFunction<1> interval_fischer_burmeister(double impulse, double velocity, const Interval& bounds, double r) {
  double q = r * velocity;
  double by_impulse = 0.0;
  double by_velocity = r;
  if (std::isfinite(bounds.upper)) {
    const ScalarFischerBurmeister upper = fischer_burmeister(bounds.upper - impulse, -q);
    q = -upper.value;
    by_impulse = upper.by_first;
    by_velocity *= upper.by_second;
  }
  if (std::isfinite(bounds.lower)) {
    const ScalarFischerBurmeister lower = fischer_burmeister(impulse - bounds.lower, q);
    q = lower.value;
    by_impulse = lower.by_first + lower.by_second * by_impulse;
    by_velocity *= lower.by_second;
  }
  BlockFunction<1> f;
  f.value[0] = q / r;
  f.by_impulse(0, 0) = by_impulse / r;
  f.by_velocity(0, 0) = by_velocity / r;
  return f;
}

/// φ on {‖x_T‖ ≤ x_N}, N the last row, with its derivatives by x and y in place of X and Y.
///
///     symbol    meaning
///     w         x² + y², in the cone: w_N = ‖x‖² + ‖y‖², w_T = 2 (x_N x_T + y_N y_T)
///     c_±       (±w_T / ‖w_T‖, 1) / √2, its eigenvectors
///     root_±    √(w_N ± ‖w_T‖)
///     z         w^{1/2} = (root_+ c_+ + root_- c_-) / √2
template <int Rows>
BlockFunction<Rows> cone_fischer_burmeister(const ContactVector<Rows>& x, const ContactVector<Rows>& y) {
  using Block = ContactVector<Rows>;
  using Square = ContactSquare<Rows>;
  const Index n = x.size() - 1;
  const Block w = 2.0 * (x[n] * x + y[n] * y);
  const double length = w.head(n).norm();
  Block plus = Block::Unit(n + 1, 0);
  if (length > 0.0) plus = w / length;
  plus[n] = 0.0;
  Block minus = -plus;
  plus[n] = minus[n] = 1.0;
  plus *= M_SQRT1_2;
  minus *= M_SQRT1_2;
  const auto across = [&](const Block& v) { return Block(v - plus.dot(v) * plus - minus.dot(v) * minus); };
  // w_N − ‖w_T‖ as a sum of squares, without cancellation.
  const double root_minus = std::sqrt(2.0 * (std::pow(minus.dot(x), 2) + std::pow(minus.dot(y), 2)) +
                                      across(x).squaredNorm() + across(y).squaredNorm());
  const double root_plus = std::sqrt(x.squaredNorm() + y.squaredNorm() + length);
  const Block z = M_SQRT1_2 * (root_plus * plus + root_minus * minus);

  BlockFunction<Rows> f;
  f.value = x + y - z;
  const Block sum = x + y + z;
  if (x[n] + y[n] > 0.0 &&
      sum[n] > 2.0 * sum.head(n).norm()) {  // φ∘(x + y + z) = 2 x∘y keeps the digits of the smaller one
    const Block outer = 2.0 * (x[n] * y + y[n] * x);
    const double normal =
        (2.0 * sum[n] * x.dot(y) - sum.head(n).dot(outer.head(n))) / (sum[n] * sum[n] - sum.head(n).squaredNorm());
    f.value = (outer - normal * sum) / sum[n];
    f.value[n] = normal;
  }
  constexpr double rounding = 4.0 * std::numeric_limits<double>::epsilon();
  // I − L_z⁻¹ L_v by L_z's eigenvectors: c_±, and across them z_N.
  const auto derivative = [&](const Block& v) {
    Square l = v[n] * Square::Identity(n + 1, n + 1);
    l.col(n) = v;
    l.row(n) = v.transpose();
    const Block by_plus = l * plus;  // L_v is symmetric
    const Block by_minus = l * minus;
    Square d = Square::Identity(n + 1, n + 1) - (l - plus * by_plus.transpose() - minus * by_minus.transpose()) / z[n];
    d -= plus * by_plus.transpose() / root_plus;
    d -= minus *
         (root_minus > rounding * root_plus ? Block(by_minus / root_minus) : Block(M_SQRT1_2 * minus)).transpose();
    return d;
  };
  if (root_plus > 0.0) {
    f.by_impulse = derivative(x);
    f.by_velocity = derivative(y);
  } else {
    f.by_impulse = f.by_velocity = (1.0 - M_SQRT1_2) * Square::Identity(n + 1, n + 1);
  }
  return f;
}

/// F with x = (λ_T / μ, λ_N) and y = r (μ σ_T, σ_N + Γ(σ)), both second-order cones; the tangential rows times μ, all
/// over r. μ = 0: φ of the normal, and λ_T / r.
template <class Cone>
BlockFunction<Cone::rows> fischer_burmeister_function(const typename Cone::Block& impulse,
                                                      const typename Cone::Block& velocity, const Cone& cone, double mu,
                                                      double r) {
  using Block = typename Cone::Block;
  using Square = typename Cone::Square;
  const int n = cone.normal;
  const int rows = cone.size();
  Block q = r * velocity;
  q[n] += raised(cone, velocity, r);
  BlockFunction<Cone::rows> f{impulse, Square::Identity(rows, rows), Square::Zero(rows, rows)};
  if (mu > 0.0) {
    Block weights = Block::Constant(rows, mu);
    weights[n] = 1.0;
    f = cone_fischer_burmeister<Cone::rows>(impulse.cwiseQuotient(weights), q.cwiseProduct(weights));
    f.value = f.value.cwiseProduct(weights).eval();
    f.by_impulse = (weights.asDiagonal() * f.by_impulse * weights.cwiseInverse().asDiagonal()).eval();
    f.by_velocity = (weights.asDiagonal() * f.by_velocity * weights.asDiagonal()).eval();
  } else {
    const ScalarFischerBurmeister normal = fischer_burmeister(impulse[n], q[n]);
    f.value[n] = normal.value;
    f.by_impulse(n, n) = normal.by_first;
    f.by_velocity(n, n) = normal.by_second;
  }
  f.value /= r;
  f.by_impulse /= r;
  f.by_velocity = (f.by_velocity * raised_derivative(cone, velocity)).eval();
  return f;
}

}  // namespace conebench::newton
