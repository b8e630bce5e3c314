#include "problems/joint_elimination.hpp"

#include <Eigen/QR>
#include <cmath>

namespace conebench {

Vector inverse_roots(const Vector& diagonal) {
  const double positive = static_cast<double>((diagonal.array() > 0.0).count());
  const double mean = positive > 0.0 ? diagonal.cwiseMax(0.0).sum() / positive : 1.0;
  return diagonal.unaryExpr([mean](double x) { return 1.0 / std::sqrt(x > 0.0 ? x : mean); });
}

JointElimination eliminate_joints(const ContactProblem& problem) {
  const Index joints = problem.cones().joints();
  const Index others = problem.rows() - joints;
  Matrix full = problem.blocks().dense();
  full.diagonal() += problem.compliance();
  const Vector& g = problem.free_term();
  JointElimination out{full.bottomRightCorner(others, others), g.tail(others), Matrix(joints, others), Vector(joints)};
  if (joints == 0) return out;
  const Vector d = inverse_roots(full.diagonal().head(joints));
  Eigen::CompleteOrthogonalDecomposition<Matrix> block;
  block.setThreshold(1e-12);
  block.compute(d.asDiagonal() * full.topLeftCorner(joints, joints) * d.asDiagonal());
  out.offset = -(d.asDiagonal() * block.solve(d.cwiseProduct(g.head(joints))));
  if (others == 0) return out;  // Eigen's triangular solve looks at the first of no columns
  out.map = -(d.asDiagonal() * block.solve(d.asDiagonal() * full.topRightCorner(joints, others)));
  out.matrix += full.bottomLeftCorner(others, joints) * out.map;
  out.free_term += full.bottomLeftCorner(others, joints) * out.offset;
  return out;
}

void JointElimination::complete(VectorRef impulse) const {
  impulse.head(joints()) = offset;
  impulse.head(joints()).noalias() += map * impulse.tail(impulse.size() - joints());
}

}  // namespace conebench
