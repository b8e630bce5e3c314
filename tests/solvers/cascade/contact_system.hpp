#pragma once

#include <Eigen/LU>
#include <cstdlib>
#include <vector>

#include "problems/types.hpp"
#include "solvers/cascade/block_matrix.hpp"
#include "solvers/cascade/scaled_problem.hpp"

namespace conebench::cascade {

inline int sign_of_determinant(const Matrix& a) {
  const Eigen::PartialPivLU<Matrix> lu(a);
  const auto negative = (lu.matrixLU().diagonal().array() < 0.0).count();
  return (negative % 2 == 0 ? 1 : -1) * static_cast<int>(lu.permutationP().determinant());
}

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

/// A system as a Newton method has it: contacts that stick, slip with two unknowns and are open, and small D.
struct System {
  using Block = Eigen::Matrix3d;
  std::vector<Block> left, right, diagonal;
  std::vector<char> left_out;

  System(const ScaledProblem& problem, double shift)
      : left_out(static_cast<std::size_t>(problem.contacts()), Left::nothing) {
    srand(5);
    for (int i = 0; i < problem.contacts(); ++i) {
      left.push_back(Block::Identity() + 0.3 * Block::Random());
      right.push_back(Block::Identity() + 0.3 * Block::Random());
      diagonal.push_back(shift * Block::Identity() + 0.1 * shift * Block::Random());
      const auto at = static_cast<std::size_t>(i);
      if (i % 5 == 2) left_out[at] = Left::everything;
      if (i % 5 == 3) leave_out_middle(at);
    }
  }
  void leave_out_middle(std::size_t i) {
    left_out[i] = Left::middle;
    left[i].row(1).setZero();
    right[i].col(1).setZero();
    diagonal[i].row(1).setZero();
    diagonal[i].col(1).setZero();
    diagonal[i](1, 1) = 1.0;
  }
  bool open(int i) const { return left_out[static_cast<std::size_t>(i)] == Left::everything; }
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
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left_out[i] == Left::middle) b[3 * static_cast<Index>(i) + 1] = 0.0;
    }
    return b;
  }
};

}  // namespace conebench::cascade
