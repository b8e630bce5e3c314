#pragma once

#include <Eigen/Core>

#include "problems/types.hpp"
#include "simulation/mujoco_base.hpp"

namespace conebench::simulation {

/// The joints between a body and its parent as rows on the two bodies' relative twist (velocity of the follower's
/// anchor point, then angular velocity; both in the parent's axes).
struct JointRows {
  Eigen::Vector3d anchor;  ///< the follower's point that the twist is taken at, in its own frame
  Eigen::Matrix<double, 6, Eigen::Dynamic> constraints;  ///< m_j = 6 − d_j orthonormal columns (Tsounis's S_c)
  Eigen::Matrix<double, Eigen::Dynamic, 6> freedoms;     ///< d_j rows: the joints' velocities from the twist
  Vector residual;                                       ///< m_j: the error of the pose along the constraints [m, rad]
};

/// For body `body` of the model, other than one with a free joint: fits its joints' coordinates in `qpos` (their last
/// values are the first guess) to its pose relative to its parent, and gives the rows there. Hinge, slide and ball
/// joints in any combination; none at all is a fixed joint of six rows.
JointRows fit_joints(const mjModel& model, int body, const Pose& relative, mjtNum* qpos);

/// The rotation vector of a rotation matrix [rad].
Eigen::Vector3d rotation_vector(const Eigen::Matrix3d& rotation);

}  // namespace conebench::simulation
