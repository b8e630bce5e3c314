#include "solvers/dvi/joint_block.hpp"

#include <algorithm>
#include <cmath>

namespace conebench::dvi {

JointBlock::JointBlock(const ContactProblem& problem, double floor) {
  const Index joints = problem.cones().joints();
  if (joints == 0) return;
  const BlockSparseMatrix& matrix = problem.blocks();
  Matrix block = Matrix::Zero(joints, joints);
  for (Index row = 0; row < joints; ++row) {
    for (Index k = matrix.row_begin(row); k < matrix.row_begin(row + 1) && matrix.column(k) < joints; ++k) {
      block(row, matrix.column(k)) = *matrix.block_values(k);
    }
    block(row, row) += problem.compliance()[row];
  }
  scale_ = block.diagonal().unaryExpr([](double d) { return d > 0.0 ? 1.0 / std::sqrt(d) : 1.0; });
  block = scale_.asDiagonal() * block * scale_.asDiagonal();
  constexpr double largest = 1.0;  // of a unit diagonal
  double shift = floor;
  do {
    block.diagonal().array() += shift;
    factor_.compute(block);
    ++factorizations_;
    factored_ = factor_.info() == Eigen::Success;
    shift = std::max(10.0 * shift, 1e-14);
  } while (!factored_ && shift <= largest);
}

void JointBlock::solve(VectorRef x) const {
  if (x.size() == 0) return;
  x = scale_.cwiseProduct(x);
  factor_.solveInPlace(x);
  x = scale_.cwiseProduct(x);
}

}  // namespace conebench::dvi
