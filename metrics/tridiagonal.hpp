#pragma once

#include "problems/types.hpp"

namespace conebench {

/// Eigenvalues of a symmetric tridiagonal matrix, few of many: by counting those below a point (Sturm's sequence;
/// Barth, Martin and Wilkinson 1967) and bisection.
class TridiagonalSpectrum {
 public:
  /// n ≥ 1 entries, and the n − 1 beside them.
  TridiagonalSpectrum(Vector diagonal, const Vector& beside);

  Index size() const { return diagonal_.size(); }
  /// Eigenvalues < x, to rounding.
  Index below(double x) const;
  /// The k-th from below, 0 ≤ k < n, to a few times 2.2e-16 · the largest magnitude; those below that times 2.2e-16 are
  /// not resolved.
  double eigenvalue(Index k) const;

 private:
  Index scaled_below(double x) const;

  double scale_;
  Vector diagonal_;        ///< over scale_, as the next
  Vector beside_squared_;  ///< the entry before; 0 first
};

/// The spectrum of a symmetric matrix [n × n], n ≥ 1, of which the lower triangle is read: reduced to tridiagonal form
/// by Householder's reflections (Golub and Van Loan 1996, Alg. 8.3.1).
TridiagonalSpectrum spectrum_of_symmetric(Matrix matrix);

}  // namespace conebench
