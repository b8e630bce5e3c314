#pragma once

#include <vector>

#include "solvers/acceleration/anderson.hpp"
#include "solvers/acceleration/momentum.hpp"
#include "solvers/acceleration/nncg.hpp"
#include "solvers/acceleration/options.hpp"

namespace conebench {

/// Acceleration of a map F. Anderson's method stands behind a safeguard: where the merit at a point
/// extrapolated by Anderson's is more than `safeguard` times the least merit since restart(), the method goes on from
/// the image of the point before, without what it remembers; the evaluation is lost. After a second rejection it takes
/// a plain step before it extrapolates again, after a third two, then four; each extrapolated point that is kept halves
/// that. (Against the last merit instead of the least, ADMM on robots stays at residuals that fall by a little for
/// ever; without the pauses it loses one problem in a hundred.) The others have restarts of their own. No allocation
/// but in the constructor.
class Accelerator {
 public:
  Accelerator() = default;
  /// `weights`: by row, of the residual in Anderson's least squares; positive. `first_rows`: of the blocks of
  /// block_nesterov, ascending from 0.
  Accelerator(const AccelerationOptions& options, Vector weights, std::vector<Index> first_rows = {0});

  bool active() const { return options_.any(); }
  /// Forgets everything: before a solve, or where F has changed.
  void restart();
  /// Takes x_k, F(x_k) and the merit of x_k, and writes x_{k+1}, which may be `point` or, but for block_nesterov,
  /// `image`; F(x_k) where there is no acceleration. A merit that is not finite is worse than any.
  void next(ConstVectorRef point, ConstVectorRef image, double merit, VectorRef next);
  /// The same by the weighted norm of F(x_k) − x_k.
  void next(ConstVectorRef point, ConstVectorRef image, VectorRef next);
  /// Points given up since restart().
  long rejected() const { return rejected_; }

 private:
  void reject();

  AccelerationOptions options_;
  Vector weights_, residual_, plain_;
  Anderson anderson_;
  Momentum momentum_;
  Nncg nncg_;
  bool extrapolated_ = false;
  double least_merit_ = 0.0;
  long wait_ = 0;   ///< plain steps until it extrapolates again
  long pause_ = 0;  ///< plain steps after the next rejection
  long rejected_ = 0;
};

}  // namespace conebench
