#include "runners/simulation/deformable/spring_joint.hpp"

#include "runners/simulation/deformable/rotations.hpp"

namespace conebench::simulation {

JointAt joint_at(const SpringJoint& joint, const Frames& frames) {
  JointAt at;
  const FramePose& a = frames.pose(joint.a);
  const FramePose& b = frames.pose(joint.b);
  const Eigen::Vector3d arm_a = a.rotation * joint.at_a, arm_b = b.rotation * joint.at_b;
  const Eigen::Vector3d p_a = a.position + arm_a, p_b = b.position + arm_b;
  const Eigen::Vector3d d = p_b - p_a;
  const Eigen::Matrix3d back = a.rotation.transpose();
  const Eigen::Vector3d phi = logarithm(back * b.rotation);
  at.error << back * d, phi;
  at.error /= joint.length;
  const Eigen::Matrix<double, 6, 1> pull = joint.gain.cwiseProduct(at.error);
  at.energy = 0.5 * pull.dot(at.error);

  // R_aᵀ (δp_b − δp_a + d × δθ_a) and J_l⁻¹(φ) R_aᵀ (δθ_b − δθ_a).
  const PointMotion of_a = frames.motion_of(joint.a, p_a), of_b = frames.motion_of(joint.b, p_b);
  const Eigen::Matrix3d turn = logarithm_derivative(phi) * back / joint.length;
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
  if (of_a.count > 0) {
    relative.block<3, 3>(0, 0) = -Eigen::Matrix3d::Identity();
    relative.block<3, 3>(3, 3).setIdentity();
  }
  if (of_b.count > 0) {
    relative.block<3, 3>(0, of_a.count).setIdentity();
    relative.block<3, 3>(6, of_a.count + 3).setIdentity();
  }
  at.curvature = relative.transpose() * s * relative;
  at.bound = relative.transpose() * sums.asDiagonal() * relative;
  return at;
}

}  // namespace conebench::simulation
