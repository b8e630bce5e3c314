#pragma once

#include <Eigen/Core>
#include <cmath>

namespace conebench {

/// Largest number of rows of a contact: normal, two tangents, three moments, and room for two more.
inline constexpr int max_contact_rows = 8;

/// Components of a block with `Rows` rows; with Eigen::Dynamic of at most max_contact_rows, without allocation. Of a
/// contact: (t, n) in the plane, (t1, t2, n) in space, with more groups the first group, the normal, the other groups.
template <int Rows>
using ContactVector = Eigen::Matrix<double, Rows, 1, 0, Rows == Eigen::Dynamic ? max_contact_rows : Rows, 1>;
template <int Rows>
using ContactSquare = Eigen::Matrix<double, Rows, Rows, 0, Rows == Eigen::Dynamic ? max_contact_rows : Rows,
                                    Rows == Eigen::Dynamic ? max_contact_rows : Rows>;

/// ‖(x, y)‖, also if the squares overflow or underflow.
inline double norm_of_two(double x, double y) {
  if (y == 0.0) return std::abs(x);  // no slip, or in the plane
  const double square = x * x + y * y;
  return square > 1e-290 && square < 1e300 ? std::sqrt(square) : std::hypot(x, y);
}

/// ‖x‖, also if the squares overflow or underflow.
template <class Vector>
[[gnu::always_inline]] inline double safe_norm(const Vector& x) {
  const double square = x.squaredNorm();
  if (square > 1e-290 && square < 1e300) return std::sqrt(square);
  return (x.array() == 0.0).all() ? 0.0 : x.stableNorm();
}

}  // namespace conebench
