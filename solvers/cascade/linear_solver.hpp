#pragma once

#include "problems/types.hpp"

namespace conebench::cascade {

class ScaledProblem;
struct BlockSystem;

/// Solves the linear systems of a part, whose matrices differ in the blocks that scale G̃.
class LinearSolver {
 public:
  virtual ~LinearSolver() = default;
  /// Takes the matrix that `system` makes of `problem`, until the next call. False where that did not go smoothly.
  virtual bool factor(const ScaledProblem& problem, const BlockSystem& system) = 0;
  /// solution = A⁻¹ right_side; the right side itself in contacts that are left out, 0 in single components.
  virtual void solve(const Vector& right_side, Vector& solution) = 0;
};

}  // namespace conebench::cascade
