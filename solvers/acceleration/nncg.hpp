#pragma once

#include "problems/types.hpp"

namespace conebench {

/// Nonsmooth nonlinear conjugate gradients: Silcowitz, Niebe, Erleben, A nonsmooth nonlinear conjugate gradient method
/// for interactive contact force problems, The Visual Computer 26, 2010. With f_k = F(x_k) − x_k, which stands for
/// minus the gradient, and Fletcher and Reeves' β_k = ‖f_k‖² / ‖f_{k−1}‖²:
///
///     x_{k+1} = F(x_k) + β_k p_{k−1},   p_k = β_k p_{k−1} + f_k,   p_0 = f_0.
///
/// Where β_k > 1 it restarts: x_{k+1} = F(x_k), p_k = 0. Their norm is Euclidean; here it is the caller's.
class Nncg {
 public:
  Nncg() = default;
  /// Allocates.
  explicit Nncg(Index size) : direction_(size) {}

  /// Forgets everything.
  void restart() { has_last_ = false; }
  /// Takes x_k, F(x_k) and ‖f_k‖², and writes x_{k+1}, which may be `point` or `image`. False: it restarted.
  bool next(ConstVectorRef point, ConstVectorRef image, double squared_norm, VectorRef next);

 private:
  Vector direction_;  ///< p_k
  double last_squared_norm_ = 0.0;
  bool has_last_ = false;
};

}  // namespace conebench
