#pragma once

#include <vector>

#include "problems/types.hpp"

namespace conebench {

/// Nesterov's momentum of a map F: x_{k+1} = F(x_k) + (α_k − 1) / α_{k+1} (F(x_k) − F(x_{k−1})) with
/// α_{k+1} = (1 + √(1 + 4 α_k²)) / 2, α_1 = 1, and restarts.
class Momentum {
 public:
  Momentum() = default;
  /// `first_rows`: of the blocks of next_by_gradient, ascending from 0. Allocates.
  explicit Momentum(Index size, std::vector<Index> first_rows = {0});

  /// Forgets everything.
  void restart();

  /// Goldstein, O'Donoghue, Setzer, Baraniuk, Fast alternating direction optimization methods, SIAM J. Imaging Sci. 7,
  /// 2014, Alg. 8: where c_k is not below 0.999 c_{k−1} it goes back to x_{k+1} = F(x_{k−1}) without momentum, and
  /// c_k ← c_{k−1} / 0.999. `residual`: c_k, a squared norm of F(x_k) − x_k. `point` may be `image`. False: it
  /// restarted.
  bool next(ConstVectorRef image, double residual, VectorRef point);

  /// O'Donoghue & Candès, Adaptive restart for accelerated gradient schemes, Found. Comput. Math. 15, 2015, eq. (13),
  /// of a map (x_k − F(x_k) in the gradient's place): where (x_k − F(x_k))ᵀ(F(x_k) − F(x_{k−1})) > 0, it goes on from
  /// F(x_k) without momentum. `point` holds x_k at first, and may not be `image`. False: it restarted. With several
  /// blocks each has its own α and its own restart, which is ours: where redundant contacts hand impulse to each other,
  /// F moves them by the same step for thousands of iterations, momentum crosses that way in the root of them, and a
  /// block where something changes loses its own momentum and no other.
  bool next_by_gradient(ConstVectorRef image, VectorRef point);

 private:
  std::vector<Index> ends_;    ///< of the blocks: the row after the last
  std::vector<double> alpha_;  ///< of each block; next() uses the first
  Vector last_image_;
  bool has_last_ = false;
  double last_residual_ = 0.0;
};

}  // namespace conebench
