#pragma once

#include "problems/types.hpp"

namespace conebench {

/// Anderson acceleration of a map F, type II: Walker & Ni, Anderson acceleration for fixed-point iterations, SIAM J.
/// Numer. Anal. 49, 2011, eq. (2.2):
///
///     x_{k+1} = F(x_k) − ΔF γ,   γ = argmin ‖f_k − Δf γ‖,   f = F(x) − x,
///
/// where the columns of ΔF, Δf are the last differences of F(x), f. Δf = Q R is kept up to date column by column (their
/// Sec. 4): a new one by Gram–Schmidt, twice, the oldest one dropped by rotations; 20 n flops a column in all.
/// Deterministic; no allocation but in the constructor.
class Anderson {
 public:
  Anderson() = default;
  /// `size` of F(x), `residual_size` of f, and how many differences are kept.
  Anderson(Index size, Index residual_size, Index capacity);

  /// Forgets everything.
  void restart();
  /// Takes F(x_k) and f_k, and writes x_{k+1}, which may be `image` itself. f may also be a part of F(x) − x, or
  /// weighted by row.
  void next(ConstVectorRef image, ConstVectorRef residual, VectorRef point);
  /// How many differences are in the last point.
  Index columns() const { return columns_; }
  Index capacity() const { return images_.cols(); }
  /// ‖f_k − Δf γ‖ of the last point.
  double predicted_residual() const { return predicted_; }

 private:
  void take(ConstVectorRef image, ConstVectorRef residual);
  bool append();
  void drop_oldest();
  Index slot(Index column) const { return (oldest_ + column) % images_.cols(); }

  Matrix images_;  ///< columns of ΔF, as a ring
  Index oldest_ = 0, columns_ = 0;
  Matrix q_, r_;  ///< Δf, from the oldest column on
  Vector last_image_, last_residual_;
  bool has_last_ = false;
  Vector difference_, weights_;
  double predicted_ = 0.0;
};

}  // namespace conebench
