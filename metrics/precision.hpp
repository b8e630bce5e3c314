#pragma once

#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>
#include <cmath>
#include <span>
#include <type_traits>

#include "metrics/doubled.hpp"
#include "problems/types.hpp"

namespace conebench {

/// 100 digits and any exponent, for the few answers whose digits cancel beyond those of Doubled.
using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<100>, boost::multiprecision::et_off>;

/// The judge computes in a Real: double for scheduled checks, Doubled for verdicts, Wide where Doubled is not
/// enough. Every formula stands once, as a template over it.
template <class Real>
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// Bound of the relative error of one operation.
template <class Real>
inline constexpr double unit_roundoff = 0x1p-53;
template <>
inline constexpr double unit_roundoff<Doubled> = 0x1p-102;
template <>
inline constexpr double unit_roundoff<Wide> = 0x1p-332;

/// √(Σ x²) without overflow or underflow.
template <class Real>
Real hypotenuse(std::span<const Real> x) {
  using std::abs;
  using std::sqrt;
  if (x.size() == 1) return abs(x[0]);
  if constexpr (std::is_same_v<Real, double>) {
    if (x.empty()) return 0.0;
    if (x.size() == 2) return std::hypot(x[0], x[1]);
    double norm = std::hypot(x[0], x[1], x[2]);
    for (const double value : x.subspan(3)) norm = std::hypot(norm, value);
    return norm;
  } else {
    int exponent = 0;
    if constexpr (std::is_same_v<Real, Doubled>) {
      double largest = 0.0;
      for (const Real& value : x) largest = std::fmax(largest, std::abs(value.hi));
      if (largest == 0.0) return 0.0;
      // The squares and their errors are then in range.
      if (!(largest > 1e-130 && largest < 1e140)) exponent = std::isfinite(largest) ? std::ilogb(largest) : 0;
    }
    Real sum = 0.0;
    for (const Real& value : x) {
      const Real scaled = exponent == 0 ? value : Real(ldexp(value, -exponent));
      sum += scaled * scaled;
    }
    return exponent == 0 ? Real(sqrt(sum)) : Real(ldexp(Real(sqrt(sum)), exponent));
  }
}
template <class Real, std::size_t Count>
Real hypotenuse(const std::array<Real, Count>& x) {
  return hypotenuse(std::span<const Real>(x));
}

/// Of two, NaN the other.
template <class Real>
Real smaller(const Real& a, const Real& b) {
  if constexpr (std::is_same_v<Real, double>) return std::fmin(a, b);
  return a < b ? a : b;
}
template <class Real>
Real larger(const Real& a, const Real& b) {
  if constexpr (std::is_same_v<Real, double>) return std::fmax(a, b);
  return a > b ? a : b;
}

inline double to_double(double value) { return value; }
inline double to_double(const Doubled& value) { return value.hi; }
inline double to_double(const Wide& value) { return value.convert_to<double>(); }

}  // namespace conebench
