#include "scenes/articulation.hpp"

#include <Eigen/Geometry>
#include <cstddef>

namespace conebench {

int Articulation::add_link(const Link& link, const std::vector<Joint>& joints) {
  PlacedLink placed{link, link.parent == ground ? std::vector<Index>{} : joints_of(link.parent)};
  for (const Joint& joint : joints) {
    placed.joints.push_back(velocities());
    joints_.push_back(joint);
  }
  links_.push_back(std::move(placed));
  return static_cast<int>(links_.size()) - 1;
}

int Articulation::add_free_body(const Link& link, const Eigen::Vector3d& velocity, const Eigen::Vector3d& spin) {
  std::vector<Joint> joints;
  for (const bool turns : {false, true}) {
    for (int c = 0; c < 3; ++c) {
      joints.push_back({turns, Eigen::Vector3d::Unit(c), link.centre, turns ? spin[c] : velocity[c], 0.0});
    }
  }
  return add_link(link, joints);
}

Eigen::RowVectorXd Articulation::point_row(int link, const Eigen::Vector3d& point,
                                           const Eigen::Vector3d& direction) const {
  Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(velocities());
  if (link == ground) return row;
  for (const Index k : joints_of(link)) {
    const Joint& joint = joints_[static_cast<std::size_t>(k)];
    row[k] = direction.dot(joint.turns ? Eigen::Vector3d(joint.axis.cross(point - joint.anchor)) : joint.axis);
  }
  return row;
}

Eigen::RowVectorXd Articulation::turn_row(int link, const Eigen::Vector3d& axis) const {
  Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(velocities());
  if (link == ground) return row;
  for (const Index k : joints_of(link)) {
    const Joint& joint = joints_[static_cast<std::size_t>(k)];
    if (joint.turns) row[k] = axis.dot(joint.axis);
  }
  return row;
}

Matrix Articulation::mass() const {
  Matrix mass = Matrix::Zero(velocities(), velocities());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Matrix centre(3, velocities());
    Matrix turn(3, velocities());
    for (int c = 0; c < 3; ++c) {
      centre.row(c) = point_row(static_cast<int>(i), links_[i].link.centre, Eigen::Vector3d::Unit(c));
      turn.row(c) = turn_row(static_cast<int>(i), Eigen::Vector3d::Unit(c));
    }
    mass += links_[i].link.mass * centre.transpose() * centre + turn.transpose() * links_[i].link.inertia * turn;
  }
  for (Index k = 0; k < velocities(); ++k) mass(k, k) += joints_[static_cast<std::size_t>(k)].armature;
  return (mass + mass.transpose()) / 2;
}

Vector Articulation::speed() const {
  Vector speed(velocities());
  for (Index k = 0; k < velocities(); ++k) speed[k] = joints_[static_cast<std::size_t>(k)].speed;
  return speed;
}

Vector Articulation::weight(const Eigen::Vector3d& acceleration) const {
  Vector force = Vector::Zero(velocities());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i].link;
    force += link.mass * point_row(static_cast<int>(i), link.centre, acceleration).transpose();
  }
  return force;
}

}  // namespace conebench
