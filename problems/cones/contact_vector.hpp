#pragma once

#include <Eigen/Core>
#include <cmath>

namespace conebench {

/// A block's components: (t, n) in the plane, (t1, t2, n) in space, (t1, t2, n, m1, m2) with rolling friction; one for
/// a joint or limit.
template <int Rows>
using ContactVector = Eigen::Matrix<double, Rows, 1>;

/// ‖(x, y)‖, also if the squares overflow or underflow.
inline double norm_of_two(double x, double y) {
  if (y == 0.0) return std::abs(x);  // no slip, or in the plane
  const double square = x * x + y * y;
  return square > 1e-290 && square < 1e300 ? std::sqrt(square) : std::hypot(x, y);
}

/// ‖x‖, also if the squares overflow or underflow.
template <int Rows>
[[gnu::always_inline]] inline double safe_norm(const ContactVector<Rows>& x) {
  const double square = x.squaredNorm();
  if (square > 1e-290 && square < 1e300) return std::sqrt(square);
  return (x.array() == 0.0).all() ? 0.0 : x.stableNorm();
}

}  // namespace conebench
