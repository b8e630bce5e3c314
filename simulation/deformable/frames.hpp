#pragma once

#include <array>
#include <vector>

#include "problems/types.hpp"
#include "simulation/scenes/soft_model.hpp"

namespace conebench::simulation {

/// How a point and the body it belongs to move with the model's velocities: ẋ = linear v[columns], ω = angular v[…].
struct PointMotion {
  int count = 0;
  std::array<int, 7> columns{};
  Eigen::Matrix<double, 3, 7> linear, angular;  ///< the first `count` columns count
};

/// Where a guide's moves have taken it at this time [s].
FramePose pose_of(const Guide& guide, double time);

/// The model's rigid bodies and guides. A free body has q = (x, quaternion w x y z), v = (ẋ, ω) in world axes, one on a
/// slide the distance along it. Guides have none of either.
class Frames {
 public:
  Frames() = default;
  /// `position`, `velocity`: where its entries of q and v begin.
  Frames(const SoftModel& model, Index position, Index velocity);

  Index positions() const { return positions_; }
  Index velocities() const { return velocities_; }
  void start(Vector& position, Vector& velocity) const;
  void move_to(const Vector& position, const Vector& velocity, double time);
  /// Puts the guides where they are at this time [s].
  void lead(double time);
  /// q ← q ⊕ Δt v.
  void advance(Vector& position, const Vector& velocity, double time_step) const;

  bool is_guide(int body) const { return body >= model_->guide_number(0); }
  /// Of a body number that is the world's, a rigid body's or a guide's.
  const FramePose& pose(int body) const { return poses_[static_cast<std::size_t>(body)]; }
  FramePose& pose(int body) { return poses_[static_cast<std::size_t>(body)]; }
  /// Of a point of a rigid body, in world coordinates; of others no columns.
  PointMotion motion_of(int body, const Eigen::Vector3d& point) const;
  /// Of the k-th rigid body's centre.
  PointMotion motion_of(std::size_t k) const;
  /// Where add_mechanics adds to M.
  void add_pattern(std::vector<Eigen::Triplet<double>>& mass) const;
  /// Adds m ẋẋᵀ and I ωωᵀ of the rigid bodies to M, and −(Coriolis) + weight + own forces to `force`.
  void add_mechanics(SparseMatrix& mass, Vector& force) const;
  /// Of the slides, to entries that D has.
  void add_damping(SparseMatrix& damping) const;
  /// The potential of weights and own forces [J].
  double potential() const;
  Eigen::Vector3d velocity(std::size_t k) const { return motions_[k].velocity; }
  Eigen::Vector3d spin(std::size_t k) const { return motions_[k].spin; }
  Eigen::Matrix3d inertia(std::size_t k) const;  ///< in world axes

 private:
  struct Motion {
    Eigen::Vector3d velocity, spin, drift;  ///< drift: the centre's acceleration where v does not change
  };
  const SoftModel* model_ = nullptr;
  Index first_position_ = 0, first_velocity_ = 0, positions_ = 0, velocities_ = 0;
  std::vector<Index> position_at_, velocity_at_;  ///< of each rigid body
  std::vector<Eigen::Vector3d> slide_start_;      ///< in the parent's frame
  std::vector<FramePose> poses_;                  ///< by body number
  std::vector<Motion> motions_;
  std::vector<double> slid_;
};

}  // namespace conebench::simulation
