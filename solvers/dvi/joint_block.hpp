#pragma once

#include <Eigen/Cholesky>

#include "problems/contact_problem.hpp"

namespace conebench::dvi {

/// D_bb, the rows and columns of G + R of the joints, scaled to a unit diagonal, plus a floor, factored as L Lᵀ.
class JointBlock {
 public:
  JointBlock() = default;
  /// The floor is raised by tens while the matrix is not positive definite; `factorizations` counts the tries. Dense.
  JointBlock(const ContactProblem& problem, double floor);

  Index rows() const { return scale_.size(); }
  bool factored() const { return factored_; }
  long factorizations() const { return factorizations_; }
  /// x ← (D_bb + floor)⁻¹ x, in place. No allocation.
  void solve(VectorRef x) const;

 private:
  Vector scale_;  ///< 1 / √D_ii
  Eigen::LLT<Matrix> factor_{Matrix::Identity(1, 1)};
  bool factored_ = true;
  long factorizations_ = 0;
};

}  // namespace conebench::dvi
