#pragma once

#include <array>
#include <utility>
#include <vector>

#include "problems/contact_problem.hpp"

namespace conebench::testing {

/// Two bodies fixed to each other that move along d alone, pressed onto a contact whose friction holds them: d lies
/// outside the cone, but steeper than 1/μ. Each of two joints is off its place by `error` along the normal of d, so
/// that the contact would have to slip into the direction in which friction pushes it further: no impulse solves it.
/// `beside`: contacts that nothing couples but one more joint that touches them all.
inline ContactProblem jammed(double error, Index beside = 0) {
  const Eigen::Vector3d along(0.96, 0.0, 0.28);
  const Eigen::Vector3d across(-0.28, 0.0, 0.96);
  Matrix jacobian = Matrix::Zero(8, 6);
  jacobian.row(0).head<3>() = across;
  jacobian(1, 1) = 1.0;
  const std::array<Eigen::Vector3d, 3> between{across, Eigen::Vector3d::UnitY(), along};
  for (Index k = 0; k < 3; ++k) jacobian.row(2 + k) << -between[k].transpose(), between[k].transpose();
  jacobian.bottomRightCorner<3, 3>().setIdentity();
  Vector velocity(6);
  velocity << -along, -along;
  const Matrix own = jacobian * jacobian.transpose();
  Vector free = jacobian * velocity;
  free[0] += error;
  free[2] += error;

  const Index joints = beside > 0 ? 6 : 5;
  const Index rows = joints + 3 + 3 * beside;
  Matrix g = Matrix::Identity(rows, rows);
  g.topLeftCorner(5, 5) = own.topLeftCorner(5, 5);
  g.block(0, joints, 5, 3) = own.topRightCorner(5, 3);
  g.block(joints, 0, 3, 5) = own.bottomLeftCorner(3, 5);
  g.block(joints, joints, 3, 3) = own.bottomRightCorner(3, 3);
  ContactProblemData data;
  data.free_term = Vector::Zero(rows);
  data.free_term.head(5) = free.head(5);
  data.free_term.segment(joints, 3) = free.tail(3);
  if (beside > 0) {
    g.row(5).tail(3 * beside).setConstant(0.01);
    g.col(5).tail(3 * beside).setConstant(0.01);
    data.free_term.tail(3 * beside).setConstant(-0.1);
  }
  data.cones = ConeProduct::create(joints, 0, std::vector<double>(static_cast<std::size_t>(1 + beside), 0.5)).value();
  data.delassus = make_block_sparse_delassus(BlockSparseMatrix::from_dense(g, data.cones));
  return ContactProblem::create(std::move(data)).value();
}

}  // namespace conebench::testing
