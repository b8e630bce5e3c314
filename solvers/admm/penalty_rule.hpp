#pragma once

#include <functional>

#include "problems/types.hpp"

namespace conebench {

/// Bounds of the spectrum of the quadratic term's matrix G + R + η I, without ρ. Paper Carpentier24 (III-F) takes them
/// from the matrix that holds ρ already, which is what they are to determine.
struct Spectrum {
  double largest = 0.0;   ///< L
  double smallest = 0.0;  ///< m, a lower bound
  long products = 0;      ///< spent on the estimate
  double condition() const { return largest / smallest; }
};

/// L = λ_max(A) + η by power iteration from `start` (at most `max_products` products, until two estimates agree to 1 %)
/// and m = η + min(R): G is positive semidefinite, so η and R alone bound the spectrum from below (paper Tsounis,
/// VI-F). `apply(x, y)` sets y = A x with A = G + R.
Spectrum estimate_spectrum(const std::function<void(const Vector&, Vector&)>& apply, Vector start, double proximal,
                           double min_compliance, long max_products = 20);

enum class PenaltyUpdate { fixed, linear, spectral, steps };

/// When and how the penalty ρ changes.
struct PenaltyRule {
  PenaltyUpdate update = PenaltyUpdate::fixed;
  double ratio = 10.0;  ///< α: a residual this many times the other moves ρ
  double factor = 1.0;  ///< by which ρ grows and shrinks: τ of (44), κ^p_inc of (46)

  /// ρ for the next iteration: paper Carpentier24 eqs. (44) and (46), in the multiplicative form of Tsounis (172b).
  /// Tsounis (171) prints the second case of the linear rule as a product with τ_dec = 1.5; it must be a quotient as in
  /// Carpentier24 (44).
  double updated(double rho, double primal, double dual) const;
};

/// Chooses ρ by how far y and z travel, not by residuals. In the metric in which ADMM contracts they move by √ρ ‖Δy‖
/// and ‖Δz‖/√ρ. Where contacts are redundant the iterates end on a straight drift, for thousands of iterations, in
/// which the residuals of (44) balance far from the best ρ; the drift is as long as ρ is large, and ρ ‖Δy‖ ≫ ‖Δz‖ shows
/// it. Over a window, so that turns cancel. Kin to the spectral penalty of Xu, Figueiredo, Goldstein (2017), who take
/// such quotients for curvatures. ρ stays near its first value: y may also travel where G does not feel it, and a ρ
/// that follows this down loses the primal residual.
class StepBalance {
 public:
  double ratio = 2.0;   ///< one travels this many times as far as the other: ρ moves
  long window = 50;     ///< iterations of the first window; each is a tenth longer than the one before
  double reach = 30.0;  ///< ρ stays within this factor of its first value

  /// From y, z and ρ before the first iteration; allocates where the size is new.
  void start(const Vector& y, const Vector& z, double rho);
  /// ρ for the next iteration, after one that ended in y, z: ρ ← ρ √(‖Δz‖ / (ρ ‖Δy‖)) at a window's end, by 10 at most.
  double updated(double rho, const Vector& y, const Vector& z);

 private:
  Vector y_, z_;        ///< where the window began
  double first_ = 1.0;  ///< ρ
  double length_ = 0.0;
  long passed_ = 0;
};

/// √(m L) κ^exponent: paper Carpentier24 eq. (45), Tsounis eq. (172a).
double spectral_penalty(const Spectrum& spectrum, double exponent);

}  // namespace conebench
