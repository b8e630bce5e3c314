#include "simulation/deformable/position_based.hpp"

#include <algorithm>

#include "simulation/deformable/link_grid.hpp"
#include "simulation/deformable/rotations.hpp"
#include "simulation/deformable/shape_distance.hpp"
#include "simulation/deformable/spring_joint.hpp"

namespace conebench::simulation {

PositionBased::PositionBased(const SoftModel& model, long substeps)
    : model_(model), substeps_(substeps), frames_(model_, 0, 0), bodies_(model_.rigid.size()) {}

std::optional<std::string> PositionBased::fault_of(const SoftModel& model) {
  if (!model.bodies.empty()) return "integrator=positions moves rigid bodies and springs between them, no tetrahedra";
  for (const RigidBody& body : model.rigid) {
    if (body.slide) return "integrator=positions moves no slides";
  }
  for (const Shape& shape : model.shapes) {
    if (shape.across || shape.carrier >= model.guide_number(0)) {
      return "integrator=positions takes no surfaces that are led and no anisotropic friction";
    }
  }
  return std::nullopt;
}

int PositionBased::rigid_of(int body) const {
  return body < model_.guide_number(0) ? body - model_.rigid_number(0) : -1;
}

FramePose& PositionBased::pose_of_rigid(int k) { return frames_.pose(model_.rigid_number(std::size_t(k))); }

Vector PositionBased::step(State& state, const std::vector<ContactPoint>& contacts, double time_step) {
  const double h = time_step / double(substeps_);
  Vector impulse = Vector::Zero(3 * Index(contacts.size()));
  frames_.move_to(state.position, state.velocity, state.time);
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    bodies_[k].velocity = frames_.velocity(k);
    bodies_[k].spin = frames_.spin(k);
  }
  for (long s = 1; s <= substeps_; ++s) {
    const double time = state.time + double(s) * h;
    frames_.lead(time);
    predict(h);
    for (const SpringJoint& joint : model_.joints) pull(joint, time, h);
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      impulse.segment<3>(3 * Index(c)) += contacts[c].frame.transpose() * touch(contacts[c]) / h;
    }
    take_velocities(h);
  }
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    const FramePose& pose = pose_of_rigid(int(k));
    const Eigen::Quaterniond q(pose.rotation);
    state.position.segment<7>(7 * Index(k)) << pose.position, q.w(), q.vec();
    state.velocity.segment<6>(6 * Index(k)) << bodies_[k].velocity, bodies_[k].spin;
  }
  return impulse;
}

/// x and q as if nothing held them.
void PositionBased::predict(double h) {
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    Body& body = bodies_[k];
    const RigidBody& rigid = model_.rigid[k];
    FramePose& pose = pose_of_rigid(int(k));
    body.before = pose;
    const Eigen::Matrix3d inertia = pose.rotation * rigid.inertia.asDiagonal() * pose.rotation.transpose();
    body.inverse_inertia = pose.rotation * rigid.inertia.cwiseInverse().asDiagonal() * pose.rotation.transpose();
    body.velocity += h * (rigid.force / rigid.mass - model_.gravity * Eigen::Vector3d::UnitZ());
    body.spin -= h * (body.inverse_inertia * body.spin.cross(inertia * body.spin));
    pose.position += h * body.velocity;
    pose.rotation = exponential(h * body.spin).toRotationMatrix() * pose.rotation;
  }
}

/// One row after the other, with the Jacobian from before the first.
void PositionBased::pull(const SpringJoint& joint, double time, double h) {
  const JointRows rows = joint_rows(joint, frames_);
  const double damping = model_.stiffness_damping / h;
  Eigen::Matrix<double, 14, 1> way = Eigen::Matrix<double, 14, 1>::Zero(), moved = way;
  Eigen::Matrix<double, 14, 6> answer = Eigen::Matrix<double, 14, 6>::Zero();  // M⁻¹ Jᵀ
  Eigen::Matrix<double, 6, 1> led = Eigen::Matrix<double, 6, 1>::Zero();       // what guides have changed e by
  if (frames_.is_guide(joint.a) || frames_.is_guide(joint.b)) {
    frames_.lead(time - h);
    led = rows.error - joint_rows(joint, frames_).error;
    frames_.lead(time);
  }
  int column = 0;
  for (const int end : {joint.a, joint.b}) {
    const int k = rigid_of(end);
    if (k < 0 || end == 0) continue;
    const Body& body = bodies_[std::size_t(k)];
    const FramePose& pose = pose_of_rigid(k);
    answer.middleRows<3>(column) = rows.jacobian.middleCols<3>(column).transpose() / model_.rigid[std::size_t(k)].mass;
    answer.middleRows<3>(column + 3) = body.inverse_inertia * rows.jacobian.middleCols<3>(column + 3).transpose();
    way.segment<3>(column) = pose.position - body.before.position;
    way.segment<3>(column + 3) = logarithm(pose.rotation * body.before.rotation.transpose());
    column += 6;
  }
  for (int r = 0; r < 6; ++r) {
    const auto row = rows.jacobian.row(r);
    const double compliance = 1.0 / (joint.gain[r] * h * h);
    const double error = rows.error[r] + row.dot(moved) + damping * (row.dot(way + moved) + led[r]);
    moved -= error / ((1.0 + damping) * row.dot(answer.col(r)) + compliance) * answer.col(r);
  }
  column = 0;
  for (const int end : {joint.a, joint.b}) {
    const int k = rigid_of(end);
    if (k < 0 || end == 0) continue;
    FramePose& pose = pose_of_rigid(k);
    pose.position += moved.segment<3>(column);
    pose.rotation = exponential(moved.segment<3>(column + 3)).toRotationMatrix() * pose.rotation;
    column += 6;
  }
}

/// n M⁻¹ n of a point along a direction [1/kg].
double PositionBased::ease(const Lever& at, const Eigen::Vector3d& direction) const {
  if (at.body < 0) return 0.0;
  const auto k = std::size_t(at.body);
  const Eigen::Vector3d arm = (at.point - frames_.pose(model_.rigid_number(k)).position).cross(direction);
  return 1.0 / model_.rigid[k].mass + arm.dot(bodies_[k].inverse_inertia * arm);
}

/// `push`: force times h² [N s²].
void PositionBased::move(const Lever& at, const Eigen::Vector3d& push) {
  if (at.body < 0) return;
  const auto k = std::size_t(at.body);
  FramePose& pose = pose_of_rigid(at.body);
  const Eigen::Vector3d arm = at.point - pose.position;
  pose.position += push / model_.rigid[k].mass;
  pose.rotation = exponential(bodies_[k].inverse_inertia * arm.cross(push)).toRotationMatrix() * pose.rotation;
}

/// How far its body has taken this point since the substep began.
Eigen::Vector3d PositionBased::moved_by(const Lever& at) const {
  if (at.body < 0) return Eigen::Vector3d::Zero();
  const FramePose& now = frames_.pose(model_.rigid_number(std::size_t(at.body)));
  const FramePose& then = bodies_[std::size_t(at.body)].before;
  return at.point - then.position - then.rotation * now.rotation.transpose() * (at.point - now.position);
}

/// Force times h² on the second body [N s²].
Eigen::Vector3d PositionBased::touch(const ContactPoint& contact) {
  const FramePose &a = frames_.pose(contact.first_body), &b = frames_.pose(contact.second_body);
  Eigen::Vector3d normal;
  double gap = 0.0;
  Lever first{Eigen::Vector3d::Zero(), contact.first_body == 0 ? -1 : rigid_of(contact.first_body)};
  Lever second{Eigen::Vector3d::Zero(), rigid_of(contact.second_body)};
  if (std::size_t(contact.first_shape) < model_.shapes.size()) {
    const Shape& shape = model_.shapes[std::size_t(contact.first_shape)];
    const Eigen::Matrix3d axes = a.rotation * shape.pose.rotation;
    const Eigen::Vector3d centre = b.position + b.rotation * contact.second_local;
    const ShapeDistance at =
        distance_to(shape, axes.transpose() * (centre - a.position - a.rotation * shape.pose.position));
    const double radius = model_.rigid[std::size_t(second.body)].point_radius;
    normal = axes * at.normal;
    gap = at.gap - radius;
    first.point = second.point = centre - radius * normal;
  } else {
    const RigidBody &one = model_.rigid[std::size_t(first.body)], &other = model_.rigid[std::size_t(second.body)];
    const SegmentPair near = nearest_points(a.position, a.rotation.col(2), *one.half_length, b.position,
                                            b.rotation.col(2), *other.half_length);
    const double distance = (near.second - near.first).norm();
    if (distance == 0.0) return Eigen::Vector3d::Zero();
    normal = (near.second - near.first) / distance;
    gap = distance - one.point_radius - other.point_radius;
    first.point = second.point = near.first + (one.point_radius + 0.5 * gap) * normal;
  }
  if (gap >= 0.0) return Eigen::Vector3d::Zero();
  const double push = -gap / (ease(first, normal) + ease(second, normal));
  const auto apply = [&](const Eigen::Vector3d& by) {
    move(second, by);
    move(first, -by);
  };
  apply(push * normal);
  Eigen::Vector3d slip = moved_by(second) - moved_by(first);
  slip -= normal.dot(slip) * normal;
  const double length = slip.norm();
  if (length == 0.0) return push * normal;
  const Eigen::Vector3d along = slip / length;
  const double hold = std::min(length / (ease(first, along) + ease(second, along)), contact.friction * push);
  apply(-hold * along);
  return push * normal - hold * along;
}

void PositionBased::take_velocities(double h) {
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    const FramePose& pose = pose_of_rigid(int(k));
    const FramePose& before = bodies_[k].before;
    bodies_[k].velocity = (pose.position - before.position) / h;
    bodies_[k].spin = logarithm(pose.rotation * before.rotation.transpose()) / h;
  }
}

}  // namespace conebench::simulation
