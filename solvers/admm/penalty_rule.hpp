#pragma once

#include <functional>

#include "problems/types.hpp"

namespace conebench {

/// Bounds of the spectrum of the quadratic term's matrix G + R + η I, without ρ. Paper 000 (III-F) takes them from the
/// matrix that holds ρ already, which is what they are to determine.
struct Spectrum {
  double largest = 0.0;   ///< L
  double smallest = 0.0;  ///< m, a lower bound
  long products = 0;      ///< spent on the estimate
  double condition() const { return largest / smallest; }
};

/// L = λ_max(A) + η by power iteration from `start` (at most `max_products` products, until two estimates agree to 1 %)
/// and m = η + min(R): G is positive semidefinite, so η and R alone bound the spectrum from below (paper 004, VI-F).
/// `apply(x, y)` sets y = A x with A = G + R.
Spectrum estimate_spectrum(const std::function<void(const Vector&, Vector&)>& apply, Vector start, double proximal,
                           double least_compliance, long max_products = 20);

enum class PenaltyUpdate { fixed, linear, spectral };

/// When and how the penalty ρ changes.
struct PenaltyRule {
  PenaltyUpdate update = PenaltyUpdate::fixed;
  double ratio = 10.0;  ///< α: a residual this many times the other moves ρ
  double factor = 1.0;  ///< by which ρ grows and shrinks: τ of (44), κ^p_inc of (46)

  /// ρ for the next iteration: paper 000 eqs. (44) and (46), in the multiplicative form of 004 (172b). 004 (171) prints
  /// the second case of the linear rule as a product with τ_dec = 1.5; it must be a quotient as in 000 (44).
  double updated(double rho, double primal, double dual) const;
};

/// √(m L) κ^exponent: paper 000 eq. (45), 004 eq. (172a).
double spectral_penalty(const Spectrum& spectrum, double exponent);

}  // namespace conebench
