#pragma once

#include <string>
#include <vector>

#include "problems/contact_problem.hpp"
#include "solvers/newton/block_diagonal.hpp"
#include "solvers/newton/contact_function.hpp"

namespace conebench::newton {

/// F(λ) = 0 for a whole problem by one of contact_function.hpp's functions, each block divided by V = max ‖g_i‖ (0: 1)
/// and so without unit.
class NonsmoothEquation {
 public:
  /// `steps`: "trace" (r = d / trace D), "spectral" (1 / λ_max(D)) or "split" (1 / D_NN, 1 / λ_max(D_TT)), where
  /// D = G_ii + R_ii; where that is not positive the inverse of the others' mean. The natural map and Fischer
  /// and Burmeister's function take the normal one.
  NonsmoothEquation(const ContactProblem& problem, ContactFunction function, const std::string& steps);

  /// F at (λ, σ).
  void evaluate(const Vector& impulse, const Vector& velocity, Vector& value) const;
  /// F, X and Y there: dF = X dλ + Y dσ.
  void linearise(const Vector& impulse, const Vector& velocity, Vector& value);
  const BlockDiagonal& by_impulse() const { return by_impulse_; }
  const BlockDiagonal& by_velocity() const { return by_velocity_; }

  /// Largest Euclidean norm of a block of F; NaN survives.
  double residual(const Vector& value) const;

 private:
  template <class Store>
  void for_each_block(const Vector& impulse, const Vector& velocity, Store store) const;

  ConeProduct cones_;
  ContactFunction function_;
  std::vector<Steps> steps_;
  double velocity_scale_ = 1.0;
  BlockDiagonal by_impulse_, by_velocity_;
};

}  // namespace conebench::newton
