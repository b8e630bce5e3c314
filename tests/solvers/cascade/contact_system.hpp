#pragma once

#include <Eigen/LU>
#include <cstdlib>
#include <vector>

#include "problems/types.hpp"
#include "solvers/cascade/block_lu.hpp"
#include "solvers/cascade/scaled_problem.hpp"

namespace conebench::cascade {

/// G̃ as one matrix, with the second tangents that planar problems embed.
inline Matrix dense_matrix(const ScaledProblem& problem) {
  Matrix g(problem.size(), problem.size());
  Vector column(problem.size());
  for (Index j = 0; j < problem.size(); ++j) {
    problem.multiply(Vector::Unit(problem.size(), j), column);
    g.col(j) = column;
  }
  return g;
}

/// A system as a Newton method has it: contacts that stick, slip with two unknowns and are open, and small D. In the
/// plane t2 is kept to the middle unknown.
struct System : BlockSystem {
  System(const ScaledProblem& problem, double shift) : BlockSystem(problem.contacts(), shift) {
    srand(5);
    for (int i = 0; i < problem.contacts(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      left[at] += 0.3 * Block::Random();
      right[at] += 0.3 * Block::Random();
      diagonal[at] += 0.1 * shift * Block::Random();
      if (i % 5 == 2) leave_out(at);
      if (open(i) || !(problem.planar() || i % 5 == 3)) continue;
      leave_out_middle(at);
      if (problem.planar()) keep_second_tangent(at);
    }
  }
  void leave_out(std::size_t i) {
    left_out[i] = true;
    left[i].setZero();
    right[i].setZero();
    diagonal[i].setIdentity();
  }
  void leave_out_middle(std::size_t i) {
    left[i].row(1).setZero();
    right[i].col(1).setZero();
    diagonal[i].row(1).setZero();
    diagonal[i].col(1).setZero();
    diagonal[i](1, 1) = 1.0;
  }
  void keep_second_tangent(std::size_t i) {
    left[i].col(1).setZero();
    right[i].row(1).setZero();
    left[i](1, 1) = right[i](1, 1) = 1.0;
  }
  bool open(int i) const { return left_out[static_cast<std::size_t>(i)]; }
  Matrix dense(const ScaledProblem& problem) const {
    Matrix a = dense_matrix(problem);
    for (int i = 0; i < problem.contacts(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      a.middleRows<3>(3 * i) = left[at] * a.middleRows<3>(3 * i).eval();
      a.middleCols<3>(3 * i) = a.middleCols<3>(3 * i).eval() * right[at];
    }
    for (int i = 0; i < problem.contacts(); ++i) {
      a.block<3, 3>(3 * i, 3 * i) += diagonal[static_cast<std::size_t>(i)];
      if (!open(i)) continue;
      a.middleRows<3>(3 * i).setZero();
      a.middleCols<3>(3 * i).setZero();
      a.block<3, 3>(3 * i, 3 * i).setIdentity();
    }
    return a;
  }
  /// 0 in the middle, where single unknowns are left out.
  Vector right_side() const {
    Vector b = Vector::LinSpaced(static_cast<Index>(3 * left.size()), -1.0, 2.0);
    for (Index row = 1; row < b.size(); row += 3) {
      if (!open(static_cast<int>(row / 3))) b[row] = 0.0;
    }
    return b;
  }
};

}  // namespace conebench::cascade
