#include "solvers/cascade/contact_step.hpp"

#include <cmath>

#include "problems/cone_projection.hpp"

namespace conebench::cascade {

namespace {

const double half_root = std::sqrt(0.5);

}  // namespace

ContactStep linearise_contact(const Eigen::Vector3d& r, const Eigen::Vector3d& w) {
  ContactStep step;
  const double slip = tangential_norm<3>(w);
  const Eigen::Vector3d y(r[0] - w[0], r[1] - w[1], r[2] - w[2] - slip);
  const double length = tangential_norm<3>(y);
  if (length <= y[2]) {
    step.left.setIdentity();
    step.right.setIdentity();
    step.base.setZero();
    step.known.setZero();
    step.side = -w;
    return step;
  }
  if (length <= -y[2]) {
    step.left_out = Left::everything;
    step.left.setZero();
    step.right.setZero();
    step.base.setIdentity();
    step.known = -r;
    step.side.setZero();
    return step;
  }
  step.left_out = Left::middle;  // z_2 = 0
  const double ex = y[0] / length;
  const double ey = y[1] / length;
  const double projected = 0.5 * (length + y[2]);
  const double tau = projected / length;
  const Eigen::Vector3d f(r[0] - projected * ex, r[1] - projected * ey, r[2] - projected);
  const double along = ex * f[0] + ey * f[1];
  const double f1 = (along + f[2]) * half_root;
  const double f2 = (f[2] - along) * half_root;
  const double f3 = -ey * f[0] + ex * f[1];
  const double wx = slip > 0.0 ? w[0] / slip : 0.0;
  const double wy = slip > 0.0 ? w[1] / slip : 0.0;
  step.left << (ex + wx) * half_root, (ey + wy) * half_root, half_root,  //
      0.0, 0.0, 0.0,                                                     //
      -ey * tau, ex * tau, 0.0;
  step.right << ex * half_root, 0.0, -ey,  //
      ey * half_root, 0.0, ex,             //
      half_root, 0.0, 0.0;
  step.base = Eigen::Vector3d(0.0, 1.0, 1.0 - tau).asDiagonal();
  step.known = Eigen::Vector3d(-ex, -ey, 1.0) * (-f2 * half_root);
  step.side = {-f1, 0.0, -f3};
  return step;
}

void ContactStep::regularise(double alpha) {
  if (left_out == Left::everything) return;
  base.noalias() += alpha * (left * right);
  side -= alpha * (left * known);
}

}  // namespace conebench::cascade
