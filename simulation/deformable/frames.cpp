#include "simulation/deformable/frames.hpp"

#include <algorithm>
#include <numbers>

#include "simulation/deformable/rotations.hpp"

namespace conebench::simulation {

FramePose pose_of(const Guide& guide, double time) {
  FramePose pose = guide.pose;
  for (const Move& move : guide.moves) {
    const double share = std::clamp((time - move.from) / (move.until - move.from), 0.0, 1.0);
    const double way = move.steady ? share : 0.5 * (1.0 - std::cos(std::numbers::pi * share));
    const Eigen::Matrix3d turn = exponential(way * move.angle * move.axis).toRotationMatrix();
    pose.position = move.centre + turn * (pose.position - move.centre) + way * move.by;
    if (move.turns) pose.rotation = turn * pose.rotation;
  }
  return pose;
}

Frames::Frames(const SoftModel& model, Index position, Index velocity)
    : model_(&model), first_position_(position), first_velocity_(velocity) {
  poses_.resize(1 + model.bodies.size() + model.rigid.size() + model.guides.size());
  for (const RigidBody& body : model.rigid) {
    position_at_.push_back(position);
    velocity_at_.push_back(velocity);
    position += body.slide ? 1 : 7;
    velocity += body.slide ? 1 : 6;
    Eigen::Vector3d start = Eigen::Vector3d::Zero();
    if (body.slide) {
      const FramePose& parent = model.rigid[static_cast<std::size_t>(body.slide->parent)].pose;
      start = parent.rotation.transpose() * (body.pose.position - parent.position);
    }
    slide_start_.push_back(start);
  }
  positions_ = position - first_position_;
  velocities_ = velocity - first_velocity_;
  motions_.resize(model.rigid.size());
  slid_.resize(model.rigid.size(), 0.0);
}

void Frames::start(Vector& position, Vector& velocity) const {
  for (std::size_t k = 0; k < model_->rigid.size(); ++k) {
    const RigidBody& body = model_->rigid[k];
    if (body.slide) {
      position[position_at_[k]] = velocity[velocity_at_[k]] = 0.0;
      continue;
    }
    const Eigen::Quaterniond q(body.pose.rotation);
    position.segment<7>(position_at_[k]) << body.pose.position, q.w(), q.vec();
    velocity.segment<6>(velocity_at_[k]) << body.velocity, body.spin;
  }
}

void Frames::move_to(const Vector& position, const Vector& velocity, double time) {
  for (std::size_t k = 0; k < model_->rigid.size(); ++k) {
    const RigidBody& body = model_->rigid[k];
    FramePose& pose = poses_[static_cast<std::size_t>(model_->rigid_number(k))];
    Motion& motion = motions_[k];
    if (!body.slide) {
      const auto q = position.segment<7>(position_at_[k]);
      pose.position = q.head<3>();
      pose.rotation = Eigen::Quaterniond(q[3], q[4], q[5], q[6]).normalized().toRotationMatrix();
      motion = {velocity.segment<3>(velocity_at_[k]), velocity.segment<3>(velocity_at_[k] + 3),
                Eigen::Vector3d::Zero()};
      continue;
    }
    const auto parent = static_cast<std::size_t>(body.slide->parent);
    const FramePose& on = poses_[static_cast<std::size_t>(model_->rigid_number(parent))];
    const Motion& carried = motions_[parent];
    slid_[k] = position[position_at_[k]];
    const Eigen::Vector3d axis = on.rotation * body.slide->axis;
    const Eigen::Vector3d arm = on.rotation * slide_start_[k] + slid_[k] * axis;
    const Eigen::Vector3d slip = velocity[velocity_at_[k]] * axis;
    pose = {on.position + arm, on.rotation};
    motion.spin = carried.spin;
    motion.velocity = carried.velocity + carried.spin.cross(arm) + slip;
    motion.drift = carried.spin.cross(carried.spin.cross(arm)) + 2.0 * carried.spin.cross(slip);
  }
  lead(time);
}

void Frames::lead(double time) {
  for (std::size_t k = 0; k < model_->guides.size(); ++k) {
    poses_[static_cast<std::size_t>(model_->guide_number(k))] = pose_of(model_->guides[k], time);
  }
}

void Frames::advance(Vector& position, const Vector& velocity, double time_step) const {
  for (std::size_t k = 0; k < model_->rigid.size(); ++k) {
    if (model_->rigid[k].slide) {
      position[position_at_[k]] += time_step * velocity[velocity_at_[k]];
      continue;
    }
    auto q = position.segment<7>(position_at_[k]);
    const Index v = velocity_at_[k];
    const Eigen::Vector3d turn = time_step * velocity.segment<3>(v + 3);
    const Eigen::Quaterniond turned = (exponential(turn) * Eigen::Quaterniond(q[3], q[4], q[5], q[6])).normalized();
    q.head<3>() += time_step * velocity.segment<3>(v);
    q.tail<4>() << turned.w(), turned.vec();
  }
}

PointMotion Frames::motion_of(int body, const Eigen::Vector3d& point) const {
  PointMotion motion;
  const int first = model_->rigid_number(0);
  if (body < first || body >= model_->guide_number(0)) return motion;
  const auto k = static_cast<std::size_t>(body - first);
  const auto& slide = model_->rigid[k].slide;
  const std::size_t carrier = slide ? static_cast<std::size_t>(slide->parent) : k;
  const FramePose& pose = poses_[static_cast<std::size_t>(model_->rigid_number(carrier))];
  motion.count = 6;
  for (int c = 0; c < 6; ++c) motion.columns[static_cast<std::size_t>(c)] = static_cast<int>(velocity_at_[carrier]) + c;
  motion.linear.leftCols<3>().setIdentity();
  motion.linear.middleCols<3>(3) = -cross_matrix(point - pose.position);
  motion.angular.leftCols<3>().setZero();
  motion.angular.middleCols<3>(3).setIdentity();
  if (slide) {
    motion.columns[6] = static_cast<int>(velocity_at_[k]);
    motion.linear.col(6) = pose.rotation * slide->axis;
    motion.angular.col(6).setZero();
    motion.count = 7;
  }
  return motion;
}

PointMotion Frames::motion_of(std::size_t k) const {
  const int body = model_->rigid_number(k);
  return motion_of(body, pose(body).position);
}

Eigen::Matrix3d Frames::inertia(std::size_t k) const {
  const Eigen::Matrix3d& r = pose(model_->rigid_number(k)).rotation;
  const Eigen::Matrix3d turned = r * model_->rigid[k].inertia.asDiagonal() * r.transpose();
  return 0.5 * (turned + turned.transpose());
}

void Frames::add_pattern(std::vector<Eigen::Triplet<double>>& mass) const {
  for (std::size_t k = 0; k < model_->rigid.size(); ++k) {
    const PointMotion motion = motion_of(k);
    for (int r = 0; r < motion.count; ++r) {
      for (int c = 0; c < motion.count; ++c) {
        mass.emplace_back(motion.columns[std::size_t(r)], motion.columns[std::size_t(c)], 0.0);
      }
    }
  }
}

void Frames::add_mechanics(SparseMatrix& mass, Vector& force) const {
  using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 7, 7>;
  for (std::size_t k = 0; k < model_->rigid.size(); ++k) {
    const RigidBody& body = model_->rigid[k];
    const PointMotion motion = motion_of(k);
    const auto linear = motion.linear.leftCols(motion.count);
    const auto angular = motion.angular.leftCols(motion.count);
    const Eigen::Matrix3d turned = inertia(k);
    Block block = body.mass * linear.transpose() * linear + angular.transpose() * turned * angular;
    block = (0.5 * (block + block.transpose())).eval();
    const Motion& at = motions_[k];
    const Eigen::Vector3d weight(0.0, 0.0, -model_->gravity * body.mass);
    const Eigen::Vector3d push = weight + body.force - body.mass * at.drift;
    Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 7, 1> pull =
        linear.transpose() * push - angular.transpose() * at.spin.cross(turned * at.spin);
    if (body.slide) pull[6] += body.slide->force;
    for (int r = 0; r < motion.count; ++r) {
      const int row = motion.columns[static_cast<std::size_t>(r)];
      force[row] += pull[r];
      for (int c = 0; c < motion.count; ++c) {
        mass.coeffRef(row, motion.columns[static_cast<std::size_t>(c)]) += block(r, c);
      }
    }
  }
}

void Frames::add_damping(SparseMatrix& damping) const {
  for (std::size_t k = 0; k < model_->rigid.size(); ++k) {
    if (const auto& slide = model_->rigid[k].slide)
      damping.coeffRef(velocity_at_[k], velocity_at_[k]) += slide->damping;
  }
}

double Frames::potential() const {
  double energy = 0.0;
  for (std::size_t k = 0; k < model_->rigid.size(); ++k) {
    const RigidBody& body = model_->rigid[k];
    const Eigen::Vector3d& x = pose(model_->rigid_number(k)).position;
    energy += model_->gravity * body.mass * x[2] - body.force.dot(x);
    if (body.slide) energy -= body.slide->force * slid_[k];
  }
  return energy;
}

}  // namespace conebench::simulation
