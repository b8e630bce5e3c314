#include "scenes/rigid_bodies.hpp"

#include <Eigen/Geometry>

#include "scenes/scene_support.hpp"

namespace conebench {

RigidBodies::Frame RigidBodies::frame_of(const Eigen::Vector3d& normal) {
  Index largest = 0;
  normal.cwiseAbs().maxCoeff(&largest);
  const Eigen::Vector3d helper = Eigen::Vector3d::Unit((largest + 1) % 3);
  Frame frame;
  frame.normal = normal;
  frame.tangent_1 = (helper - normal * normal.dot(helper)).normalized();
  frame.tangent_2 = normal.cross(frame.tangent_1);
  return frame;
}

int RigidBodies::add_body(double mass, const Eigen::Vector3d& inertia, const Eigen::Vector3d& position,
                          const Eigen::Vector3d& free_velocity, const Eigen::Vector3d& free_spin) {
  positions_.push_back(position);
  for (int i = 0; i < 3; ++i) masses_.push_back(mass);
  for (int i = 0; i < 3; ++i) masses_.push_back(inertia[i]);
  for (int i = 0; i < 3; ++i) free_velocity_.push_back(free_velocity[i]);
  for (int i = 0; i < 3; ++i) free_velocity_.push_back(free_spin[i]);
  return static_cast<int>(positions_.size()) - 1;
}

int RigidBodies::add_body(double mass, const Eigen::Matrix3d& inertia, const Eigen::Vector3d& position,
                          const Eigen::Vector3d& free_velocity, const Eigen::Vector3d& free_spin) {
  const int body = add_body(mass, Eigen::Vector3d(inertia.diagonal()), position, free_velocity, free_spin);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (i != j && inertia(i, j) != 0.0) deviations_.emplace_back(6 * body + 3 + i, 6 * body + 3 + j, inertia(i, j));
    }
  }
  return body;
}

void RigidBodies::add_contact(int first, int second, const Eigen::Vector3d& point, const Frame& frame, double friction,
                              double gap) {
  const Index row = (rolling_ > 0.0 ? 5 : 3) * contacts();
  add_side(row, first, -1.0, point, frame);
  add_side(row, second, 1.0, point, frame);
  friction_.push_back(friction);
  gaps_.push_back(gap);
}

void RigidBodies::add_side(Index row, int body, double sign, const Eigen::Vector3d& point, const Frame& frame) {
  if (body == ground) return;
  const Eigen::Vector3d lever = point - positions_[static_cast<std::size_t>(body)];
  const Eigen::Vector3d* const directions[] = {&frame.tangent_1, &frame.tangent_2, &frame.normal};
  for (int d = 0; d < 3; ++d) {
    // d · (v + ω × r) = d · v + (r × d) · ω
    const Eigen::Vector3d moment = lever.cross(*directions[d]);
    for (int i = 0; i < 3; ++i) {
      const double linear = sign * (*directions[d])[i];
      const double angular = sign * moment[i];
      if (linear != 0.0) jacobian_.emplace_back(static_cast<int>(row) + d, 6 * body + i, linear);
      if (angular != 0.0) jacobian_.emplace_back(static_cast<int>(row) + d, 6 * body + 3 + i, angular);
      const double turn = d < 2 && rolling_ > 0.0 ? sign * (*directions[d])[i] : 0.0;
      if (turn != 0.0) jacobian_.emplace_back(static_cast<int>(row) + 3 + d, 6 * body + 3 + i, turn);
    }
  }
}

Result<ContactProblem> RigidBodies::problem(double time_step, const std::string& form,
                                            const std::string& description) const {
  const Index velocities = 6 * bodies();
  Mechanism mechanism;
  if (rolling_ > 0.0) {
    CONEBENCH_TRY(mechanism.cones,
                  ConeProduct::create(0, 0, friction_, 5, std::vector<double>(friction_.size(), rolling_)));
  } else {
    CONEBENCH_TRY(mechanism.cones, ConeProduct::create(0, 0, friction_));
  }
  PrimalForm& primal = mechanism.primal;
  auto entries = deviations_;
  for (Index i = 0; i < velocities; ++i) {
    entries.emplace_back(static_cast<int>(i), static_cast<int>(i), masses_[static_cast<std::size_t>(i)]);
  }
  primal.mass = SparseMatrix(velocities, velocities);
  primal.mass.setFromTriplets(entries.begin(), entries.end());
  primal.jacobian = SparseMatrix(mechanism.cones.rows(), velocities);
  primal.jacobian.setFromTriplets(jacobian_.begin(), jacobian_.end());
  primal.free_velocity = Eigen::Map<const Vector>(free_velocity_.data(), velocities);
  mechanism.configuration.gaps = Eigen::Map<const Vector>(gaps_.data(), contacts());
  mechanism.configuration.bodies = bodies();
  mechanism.configuration.joint_count = 0;
  return step_of(std::move(mechanism), time_step, form, description);
}

Eigen::Vector3d box_inertia(double mass, const Eigen::Vector3d& half_extents) {
  const Eigen::Vector3d squares = half_extents.cwiseAbs2();
  return mass / 3.0 * Eigen::Vector3d(squares[1] + squares[2], squares[2] + squares[0], squares[0] + squares[1]);
}

Eigen::Vector3d sphere_inertia(double mass, double radius) {
  return Eigen::Vector3d::Constant(0.4 * mass * radius * radius);
}

}  // namespace conebench
