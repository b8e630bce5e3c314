#pragma once

#include <memory>

#include "problems/types.hpp"
#include "solvers/cascade/block_lu.hpp"
#include "solvers/cascade/linear_solver.hpp"

namespace conebench::cascade {

/// BiCGSTAB (van der Vorst 1992) with an incomplete block LU on G's own pattern, ILU(0), as right preconditioner:
/// memory and time of an iteration are those of a few products with G̃, whatever a factor would fill in.
///
/// Solutions are inexact: their residual is `tolerance` of the right side's, or what `max_products` leave.
class BlockKrylov final : public LinearSolver {
 public:
  struct Limits {
    double tolerance = 1e-2;
    int max_products = 200;
  };

  /// `problem` must outlive this object. Allocates all that is needed.
  BlockKrylov(const ScaledProblem& problem, Limits limits);

  /// The matrix of `system`, which must outlive the solves. False where a pivot block was singular and was perturbed.
  bool factor(const ScaledProblem& problem, const BlockSystem& system) override;
  void solve(const Vector& right_side, Vector& solution) override;

  /// ‖b − A x‖ / ‖b‖ of the last solve; infinity where it broke down.
  double relative_residual() const { return relative_residual_; }
  /// Of all solves, each with one use of the preconditioner.
  long products() const { return products_; }

  /// ILU(0) by rows, with the arithmetic of one dimension.
  struct Preconditioner {
    virtual ~Preconditioner() = default;
    virtual bool factor(const ScaledProblem& problem, const BlockSystem& system) = 0;
    virtual void apply(const Vector& x, Vector& y) = 0;
  };

 private:
  /// y = A x.
  void multiply(const Vector& x, Vector& y);

  const ScaledProblem& problem_;
  Limits limits_;
  const BlockSystem* system_ = nullptr;
  std::unique_ptr<Preconditioner> preconditioner_;
  Vector scaled_, residual_, shadow_, direction_, product_, preconditioned_, half_product_;
  double relative_residual_ = 0.0;
  long products_ = 0;
};

}  // namespace conebench::cascade
