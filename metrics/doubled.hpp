#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>

namespace conebench {

/// A number as the unevaluated sum hi + lo of two doubles, |lo| <= half an ulp of hi: some 32 digits, with the
/// exponents of a double. Sums and products by error-free transformations (Dekker 1971; Knuth's two-sum; Ogita, Rump,
/// Oishi 2005). What overflows is not a number.
///
/// Files that compute with it are compiled with -ffp-contract=off: a product that a compiler merges into one operand of
/// two_sum() would make its error wrong.
struct Doubled {
  double hi = 0.0;
  double lo = 0.0;

  constexpr Doubled() = default;
  constexpr Doubled(double value) : hi(value) {}  // NOLINT(google-explicit-constructor): every double is one
  constexpr Doubled(double high, double low) : hi(high), lo(low) {}
  explicit constexpr operator double() const { return hi; }

  Doubled& operator+=(const Doubled& other) { return *this = *this + other; }
  Doubled& operator-=(const Doubled& other) { return *this = *this - other; }
  Doubled& operator*=(const Doubled& other) { return *this = *this * other; }
  Doubled& operator/=(const Doubled& other) { return *this = *this / other; }

  /// a + b exactly.
  static Doubled two_sum(double a, double b) {
    const double sum = a + b;
    const double part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
  }
  /// The same for |a| >= |b|.
  static Doubled quick_two_sum(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
  }
  /// a b exactly, but for underflow.
  static Doubled two_product(double a, double b) {
    const double product = a * b;
    return {product, std::fma(a, b, -product)};
  }

  friend Doubled operator-(const Doubled& a) { return {-a.hi, -a.lo}; }
  friend Doubled operator+(const Doubled& a, const Doubled& b) {
    Doubled sum = two_sum(a.hi, b.hi);
    const Doubled low = two_sum(a.lo, b.lo);
    sum = quick_two_sum(sum.hi, sum.lo + low.hi);
    return quick_two_sum(sum.hi, sum.lo + low.lo);
  }
  friend Doubled operator-(const Doubled& a, const Doubled& b) { return a + (-b); }
  friend Doubled operator*(const Doubled& a, const Doubled& b) {
    const Doubled product = two_product(a.hi, b.hi);
    return quick_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
  }
  friend Doubled operator/(const Doubled& a, const Doubled& b) {
    const double first = a.hi / b.hi;
    const Doubled product = two_product(first, b.hi);
    const Doubled left = a - quick_two_sum(product.hi, product.lo + first * b.lo);
    return quick_two_sum(first, left.hi / b.hi);
  }
  friend bool operator==(const Doubled& a, const Doubled& b) { return a.hi == b.hi && a.lo == b.lo; }
  friend std::partial_ordering operator<=>(const Doubled& a, const Doubled& b) {
    const std::partial_ordering high = a.hi <=> b.hi;
    return high != 0 ? high : a.lo <=> b.lo;
  }

  friend Doubled abs(const Doubled& a) { return a.hi < 0.0 ? -a : a; }
  /// 0 for what is not positive. Below 1e-290 with fewer digits.
  friend Doubled sqrt(const Doubled& a) {
    if (!(a.hi > 0.0)) return a.hi <= 0.0 ? 0.0 : a;
    const double root = std::sqrt(a.hi);
    return quick_two_sum(root, (a - two_product(root, root)).hi / (2.0 * root));
  }
  /// a 2^exponent; exact but for under- and overflow.
  friend Doubled ldexp(const Doubled& a, int exponent) {
    return {std::ldexp(a.hi, exponent), std::ldexp(a.lo, exponent)};
  }
};

}  // namespace conebench

namespace Eigen {
template <>
struct NumTraits<conebench::Doubled> : NumTraits<double> {
  using Real = conebench::Doubled;
  using NonInteger = conebench::Doubled;
  using Nested = conebench::Doubled;
  enum { RequireInitialization = 1, ReadCost = 2, AddCost = 20, MulCost = 10 };
};
}  // namespace Eigen
