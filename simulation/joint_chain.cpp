#include "simulation/joint_chain.hpp"

#include <Eigen/Geometry>
#include <Eigen/QR>
#include <array>
#include <cmath>

namespace conebench::simulation {

namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;
using Motions = Eigen::Matrix<double, 6, Eigen::Dynamic>;

/// The follower's pose and its motions for one choice of joint coordinates.
struct Chain {
  Pose pose;
  Motions motions;       ///< a column for each degree of freedom: twist at the anchor
  Eigen::Vector3d axis;  ///< of the last joint
};

Eigen::Matrix3d rotation_of(const mjtNum* quaternion) {
  return Eigen::Quaterniond(quaternion[0], quaternion[1], quaternion[2], quaternion[3]).normalized().toRotationMatrix();
}

/// MuJoCo's kinematics of one body: its joints in their order, each in the frame that those before have left.
Chain chain_of(const mjModel& m, int body, const Eigen::Vector3d& anchor, const mjtNum* qpos) {
  Chain chain;
  chain.axis = Eigen::Vector3d::UnitZ();
  Eigen::Vector3d& p = chain.pose.position = vector3(m.body_pos + 3 * body);
  Eigen::Matrix3d& r = chain.pose.rotation = rotation_of(m.body_quat + 4 * body);
  std::vector<std::pair<Eigen::Vector3d, Eigen::Vector3d>> turns;  // axis and a point on it; for a slide 0 and its axis
  for (int j = m.body_jntadr[body]; j < m.body_jntadr[body] + m.body_jntnum[body]; ++j) {
    const Eigen::Vector3d at = vector3(m.jnt_pos + 3 * j);
    const Eigen::Vector3d own_axis = vector3(m.jnt_axis + 3 * j);
    const Eigen::Vector3d axis = r * own_axis;
    const Eigen::Vector3d pivot = p + r * at;
    const mjtNum* const q = qpos + m.jnt_qposadr[j];
    chain.axis = axis;
    if (m.jnt_type[j] == mjJNT_SLIDE) {
      p += axis * (q[0] - m.qpos0[m.jnt_qposadr[j]]);
      turns.emplace_back(Eigen::Vector3d::Zero(), axis);
      continue;
    }
    if (m.jnt_type[j] == mjJNT_HINGE) {
      r = r * Eigen::AngleAxisd(q[0] - m.qpos0[m.jnt_qposadr[j]], own_axis).toRotationMatrix();
      turns.emplace_back(axis, pivot);
    } else {
      r = r * rotation_of(q);
      chain.axis = Eigen::Vector3d::UnitZ();
      for (int k = 0; k < 3; ++k) turns.emplace_back(r.col(k), pivot);
    }
    p = pivot - r * at;
  }
  const Eigen::Vector3d point = p + r * anchor;
  chain.motions.resize(6, Index(turns.size()));
  for (std::size_t k = 0; k < turns.size(); ++k) {
    const auto& [axis, through] = turns[k];
    if (axis.isZero()) {
      chain.motions.col(Index(k)) << through, Eigen::Vector3d::Zero();
    } else {
      chain.motions.col(Index(k)) << axis.cross(point - through), axis;
    }
  }
  return chain;
}

void move_joints(const mjModel& m, int body, const Vector& change, mjtNum* qpos) {
  Index k = 0;
  for (int j = m.body_jntadr[body]; j < m.body_jntadr[body] + m.body_jntnum[body]; ++j) {
    mjtNum* const q = qpos + m.jnt_qposadr[j];
    if (m.jnt_type[j] == mjJNT_BALL) {
      mju_quatIntegrate(q, change.data() + k, 1.0);
      k += 3;
    } else {
      q[0] += change[k++];
    }
  }
}

/// Orthonormal columns across the motions, chosen among the axes of a frame whose z is the joint's axis, the one that
/// leaves most first: translations and rotations stay apart where the joint lets them (Tsounis eq. 23).
Motions across(const Motions& motions, const Eigen::Vector3d& axis) {
  Eigen::Matrix3d frame;
  frame.col(2) = axis.normalized();
  frame.col(0) = frame.col(2).unitOrthogonal();
  frame.col(1) = frame.col(2).cross(frame.col(0));
  std::vector<Vector6> basis;
  const auto remainder = [&](Vector6 x) {
    for (int pass = 0; pass < 2; ++pass) {
      for (const Vector6& b : basis) x -= b.dot(x) * b;
    }
    return x;
  };
  for (Index k = 0; k < motions.cols(); ++k) {
    const Vector6 rest = remainder(motions.col(k).normalized());
    basis.push_back(rest.norm() > 1e-9 ? Vector6(rest.normalized()) : Vector6(Vector6::Zero()));
  }
  Motions columns(6, 6 - motions.cols());
  for (Index c = 0; c < columns.cols(); ++c) {
    Vector6 best = Vector6::Zero();
    for (int k = 0; k < 6; ++k) {
      Vector6 candidate = Vector6::Zero();
      candidate.segment<3>(k < 3 ? 0 : 3) = frame.col(k % 3);
      const Vector6 rest = remainder(candidate);
      if (rest.norm() > best.norm() + 1e-9) best = rest;
    }
    columns.col(c) = best.normalized();
    basis.push_back(columns.col(c));
  }
  return columns;
}

}  // namespace

Eigen::Vector3d rotation_vector(const Eigen::Matrix3d& rotation) {
  const Eigen::AngleAxisd turn(rotation);
  return turn.angle() * turn.axis();
}

JointRows fit_joints(const mjModel& model, int body, const Pose& relative, mjtNum* qpos) {
  JointRows rows;
  const int joints = model.body_jntnum[body];
  rows.anchor =
      joints > 0 ? vector3(model.jnt_pos + 3 * (model.body_jntadr[body] + joints - 1)) : Eigen::Vector3d::Zero();
  const Eigen::Vector3d point = relative.position + relative.rotation * rows.anchor;
  Chain chain;
  Vector6 error;
  constexpr int max_steps = 20;
  for (int step = 0; step < max_steps; ++step) {
    chain = chain_of(model, body, rows.anchor, qpos);
    error << point - (chain.pose.position + chain.pose.rotation * rows.anchor),
        rotation_vector(relative.rotation * chain.pose.rotation.transpose());
    if (chain.motions.cols() == 0) break;
    const Vector change = chain.motions.completeOrthogonalDecomposition().solve(error);
    if (change.norm() < 1e-14) break;
    // A ball's change is asked for in its own axes, in which its motions are, too.
    move_joints(model, body, change, qpos);
  }
  rows.constraints = across(chain.motions, chain.axis);
  rows.freedoms.resize(0, 6);
  if (chain.motions.cols() > 0) rows.freedoms = chain.motions.completeOrthogonalDecomposition().pseudoInverse();
  rows.residual = rows.constraints.transpose() * error;
  return rows;
}

}  // namespace conebench::simulation
