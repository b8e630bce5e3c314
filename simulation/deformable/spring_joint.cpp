#include "simulation/deformable/spring_joint.hpp"

#include <Eigen/Eigenvalues>

#include "simulation/deformable/rotations.hpp"

namespace conebench::simulation {

JointRows joint_rows(const SpringJoint& joint, const Frames& frames) {
  JointRows at;
  const FramePose& a = frames.pose(joint.a);
  const FramePose& b = frames.pose(joint.b);
  const Eigen::Vector3d p_a = a.position + a.rotation * joint.at_a, p_b = b.position + b.rotation * joint.at_b;
  const Eigen::Vector3d d = p_b - p_a;
  const Eigen::Matrix3d back = a.rotation.transpose();
  const Eigen::Vector3d phi = logarithm(back * b.rotation);
  at.error << back * d, phi;
  at.error /= joint.length;

  // R_aᵀ (δp_b − δp_a + d × δθ_a) and J_l⁻¹(φ) R_aᵀ (δθ_b − δθ_a).
  const PointMotion of_a = frames.motion_of(joint.a, p_a), of_b = frames.motion_of(joint.b, p_b);
  const Eigen::Matrix3d turn = of_logarithm(phi).at(phi) * back / joint.length;
  const Eigen::Matrix3d move = back / joint.length;
  at.jacobian.setZero();
  for (const auto& [motion, sign] : {std::pair(&of_a, -1.0), {&of_b, 1.0}}) {
    for (int c = 0; c < motion->count; ++c) {
      at.columns[static_cast<std::size_t>(at.count)] = motion->columns[static_cast<std::size_t>(c)];
      Eigen::Vector3d velocity = sign * motion->linear.col(c);
      if (sign < 0.0) velocity += d.cross(motion->angular.col(c));
      at.jacobian.col(at.count) << move * velocity, turn * (sign * motion->angular.col(c));
      ++at.count;
    }
  }
  return at;
}

JointAt joint_at(const SpringJoint& joint, const Frames& frames) {
  JointAt at{joint_rows(joint, frames), {}, {}, 0.0};
  const FramePose& a = frames.pose(joint.a);
  const FramePose& b = frames.pose(joint.b);
  const Eigen::Vector3d arm_b = b.rotation * joint.at_b;
  const Eigen::Matrix<double, 6, 1> pull = joint.gain.cwiseProduct(at.error);
  at.energy = 0.5 * pull.dot(at.error);

  // L = N·(x_b + r_b − x_a) with N = R_a K e / ℓ fixed in a's frame, as R_aᵀ r_a is constant.
  const Eigen::Vector3d n = a.rotation * pull.head<3>() / joint.length;
  const Eigen::Vector3d y = b.position + arm_b - a.position;
  const auto symmetric = [](const Eigen::Vector3d& u, const Eigen::Vector3d& w) {
    return Eigen::Matrix3d(0.5 * (u * w.transpose() + w * u.transpose()) - u.dot(w) * Eigen::Matrix3d::Identity());
  };
  Eigen::Matrix<double, 9, 9> s = Eigen::Matrix<double, 9, 9>::Zero();  // of x_b − x_a, θ_a, θ_b
  s.block<3, 3>(3, 0) = cross_matrix(n);
  s.block<3, 3>(3, 3) = symmetric(n, y);
  s.block<3, 3>(6, 6) = symmetric(n, arm_b);
  s.block<3, 3>(3, 6) = n.dot(arm_b) * Eigen::Matrix3d::Identity() - arm_b * n.transpose();
  s.block<3, 3>(0, 3) = s.block<3, 3>(3, 0).transpose();
  s.block<3, 3>(6, 3) = s.block<3, 3>(3, 6).transpose();
  Eigen::Matrix<double, 9, 1> scale = Eigen::Matrix<double, 9, 1>::Constant(1.0 / joint.length);
  scale.head<3>().setOnes();
  const Eigen::Matrix<double, 9, 1> sums = (s.cwiseAbs() * scale).cwiseQuotient(scale);
  // Ends are free bodies, of six velocities, or guides, of none.
  Eigen::Matrix<double, 9, 14> relative = Eigen::Matrix<double, 9, 14>::Zero();
  const bool moves_a = frames.motion_of(joint.a, a.position).count > 0;
  const bool moves_b = frames.motion_of(joint.b, b.position).count > 0;
  const Index column = moves_a ? 6 : 0;
  if (moves_a) {
    relative.block<3, 3>(0, 0) = -Eigen::Matrix3d::Identity();
    relative.block<3, 3>(3, 3).setIdentity();
  }
  if (moves_b) {
    relative.block<3, 3>(0, column).setIdentity();
    relative.block<3, 3>(6, column + 3).setIdentity();
  }
  at.curvature = relative.transpose() * s * relative;
  at.bound = relative.transpose() * sums.asDiagonal() * relative;
  return at;
}

JointDerivatives derivatives_of(const SpringJoint& joint, const JointAt& at, const Frames& frames,
                                const Eigen::Vector3d& turn_a, const Eigen::Vector3d& turn_b) {
  const FramePose& a = frames.pose(joint.a);
  const bool moves_a = frames.motion_of(joint.a, a.position).count > 0;
  const bool moves_b = frames.motion_of(joint.b, a.position).count > 0;
  const Index row_a = 3, row_b = moves_a ? 9 : 3;  // of the angular velocities
  const Eigen::Matrix<double, 6, 1> pull = joint.gain.cwiseProduct(at.error);
  JointDerivatives result{at.jacobian.transpose() * pull,
                          at.jacobian.transpose() * joint.gain.asDiagonal() * at.jacobian + at.curvature};
  auto& h = result.hessian;

  // What J_eᵀ K J_e lacks in the last three rows. To second order R_aᵀ R_b turns by R_aᵀ (θ_b − θ_a − ½ θ_a × θ_b).
  const Eigen::Vector3d phi = at.error.tail<3>() * joint.length, m = pull.tail<3>() / joint.length;
  const TurnJacobian log = of_logarithm(phi);
  const Eigen::Matrix3d derivative = log.at(phi);
  const Eigen::Matrix3d bend = a.rotation * log.curvature(phi, m) * derivative * a.rotation.transpose();
  const Eigen::Matrix3d half_moment = cross_matrix(0.5 * a.rotation * derivative.transpose() * m);
  if (moves_a) h.block<3, 3>(row_a, row_a) += bend;
  if (moves_b) h.block<3, 3>(row_b, row_b) += bend;
  if (moves_a && moves_b) {
    h.block<3, 3>(row_a, row_b) += half_moment - bend;
    h.block<3, 3>(row_b, row_a) -= half_moment + bend;
  }
  h = (0.5 * (h + h.transpose())).eval();

  // From turns on top of the frames' to rotation vectors.
  const auto change_to = [&](const Eigen::Vector3d& turn, Index row) {
    const TurnJacobian exp = of_exponential(turn);
    const Eigen::Matrix3d to = exp.at(turn);
    const Eigen::Vector3d moment = result.gradient.segment<3>(row);
    h.middleRows<3>(row) = (to.transpose() * h.middleRows<3>(row)).eval();
    h.middleCols<3>(row) = (h.middleCols<3>(row) * to).eval();
    h.block<3, 3>(row, row) += exp.curvature(turn, moment);
    result.gradient.segment<3>(row) = to.transpose() * moment;
  };
  if (moves_a) change_to(turn_a, row_a);
  if (moves_b) change_to(turn_b, row_b);
  h = (0.5 * (h + h.transpose())).eval();
  return result;
}

Eigen::Matrix<double, 14, 14> without_negative(const Eigen::Matrix<double, 14, 14>& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 14, 14>> eigen(symmetric);
  const Eigen::Matrix<double, 14, 14> kept =
      eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() * eigen.eigenvectors().transpose();
  return 0.5 * (kept + kept.transpose());
}

}  // namespace conebench::simulation
