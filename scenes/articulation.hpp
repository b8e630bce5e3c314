#pragma once

#include <Eigen/Core>
#include <vector>

#include "problems/types.hpp"

namespace conebench {

/// Links on turning and sliding joints, and free bodies, at one instant: what J and M need, in the world frame.
///
/// A link moves with all joints from the ground to it: a turning one gives its point p the velocity axis × (p −
/// anchor), a sliding one the axis. M = Σ_links (m J_cᵀ J_c + J_ωᵀ I J_ω) + armature.
class Articulation {
 public:
  static constexpr int ground = -1;

  struct Link {
    int parent = ground;
    double mass = 1.0;                                      ///< [kg]
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();       ///< of mass [m]
    Eigen::Matrix3d inertia = Eigen::Matrix3d::Identity();  ///< about the centre, world axes [kg m²]
  };
  struct Joint {
    bool turns = true;
    Eigen::Vector3d axis = Eigen::Vector3d::UnitX();
    Eigen::Vector3d anchor = Eigen::Vector3d::Zero();
    double speed = 0.0;     ///< before the step [rad/s or m/s]
    double armature = 0.0;  ///< [kg m² or kg]
  };

  /// A link on these joints, in their order from its parent on. Without joints it is fixed to its parent.
  int add_link(const Link& link, const std::vector<Joint>& joints);
  /// A body with six velocities: of its centre, and angular.
  int add_free_body(const Link& link, const Eigen::Vector3d& velocity, const Eigen::Vector3d& spin);

  Index velocities() const { return static_cast<Index>(joints_.size()); }
  const std::vector<Index>& joints_of(int link) const { return links_[static_cast<std::size_t>(link)].joints; }

  /// The velocity along `direction` of the link's point, and its angular velocity about `axis`, as a row of J. The
  /// ground has zero rows.
  Eigen::RowVectorXd point_row(int link, const Eigen::Vector3d& point, const Eigen::Vector3d& direction) const;
  Eigen::RowVectorXd turn_row(int link, const Eigen::Vector3d& axis) const;

  Matrix mass() const;
  Vector speed() const;
  /// Generalised force of a uniform acceleration.
  Vector weight(const Eigen::Vector3d& acceleration) const;

 private:
  struct PlacedLink {
    Link link;
    std::vector<Index> joints;  ///< all from the ground on
  };
  std::vector<PlacedLink> links_;
  std::vector<Joint> joints_;
};

}  // namespace conebench
