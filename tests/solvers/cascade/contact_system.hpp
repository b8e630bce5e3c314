#pragma once

#include <Eigen/LU>
#include <cstdlib>
#include <vector>

#include "problems/types.hpp"
#include "solvers/cascade/block_matrix.hpp"
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

/// A system as a Newton method has it: contacts that stick, slip with two unknowns (in plane one) and are open, and
/// small D. In plane t2 is kept to the middle unknown of what sticks, to the last of every second of these, as the
/// interior point has it, and to the last of what slips.
struct System : BlockSystem {
  System(const ScaledProblem& problem, double shift) : BlockSystem(problem.contacts(), shift) {
    srand(5);
    for (int i = 0; i < problem.contacts(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      left[at] += 0.3 * Block::Random();
      right[at] += 0.3 * Block::Random();
      diagonal[at] += 0.1 * shift * Block::Random();
      if (i % 5 == 2) leave_out(at);
      if (i % 5 == 3) leave_out(at, 1, Left::middle);
      if (problem.planar() && !open(i)) keep_second_tangent_to(at, i % 5 == 3 || i % 2 == 0 ? 2 : 1);
    }
  }
  void leave_out(std::size_t i) {
    left_out[i] = Left::everything;
    left[i].setZero();
    right[i].setZero();
    diagonal[i].setIdentity();
  }
  void leave_out(std::size_t i, int unknown, char bit) {
    left_out[i] = static_cast<char>(left_out[i] | bit);
    left[i].row(unknown).setZero();
    right[i].col(unknown).setZero();
    diagonal[i].row(unknown).setZero();
    diagonal[i].col(unknown).setZero();
    diagonal[i](unknown, unknown) = 1.0;
  }
  void keep_second_tangent_to(std::size_t i, int unknown) {
    left[i].col(1).setZero();
    right[i].row(1).setZero();
    leave_out(i, unknown, unknown == 1 ? Left::middle : Left::last);
    left[i](unknown, 1) = right[i](1, unknown) = 1.0;
  }
  bool open(int i) const { return left_out[static_cast<std::size_t>(i)] == Left::everything; }
  bool unknown(Index row) const { return (left_out[static_cast<std::size_t>(row / 3)] & (1 << row % 3)) == 0; }
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
  /// 0 in single unknowns that are left out.
  Vector right_side() const {
    Vector b = Vector::LinSpaced(static_cast<Index>(3 * left.size()), -1.0, 2.0);
    for (Index row = 0; row < b.size(); ++row) {
      if (!unknown(row) && !open(static_cast<int>(row / 3))) b[row] = 0.0;
    }
    return b;
  }
};

}  // namespace conebench::cascade
