#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulation/deformable/frames.hpp"
#include "simulation/engine.hpp"

namespace conebench::simulation {

/// Extended position-based dynamics of rigid bodies and the springs between them, paper Lee23's PBD: an experiment, no
/// solver. A step is cut into substeps h of one Gauss–Seidel pass each (Macklin and others 2016, eq. 18 and 26; of
/// rigid bodies Müller and others 2020), over the springs' rows and then the contacts.
///
///     e, J      a spring's error and its derivative             1
///     K, β      its gains, the springs' damping                 N m, s
///     Δλ        −(e + γ J (x − x⁻)) / ((1 + γ) J M⁻¹ Jᵀ + α̃)     N m s²
///               with α̃ = 1/(K h²), γ = β/h
///
/// A contact's normal row has no compliance; the way along it within a substep is taken back up to μ times its λ_n.
class PositionBased {
 public:
  PositionBased(const SoftModel& model, long substeps);
  PositionBased(const PositionBased&) = delete;
  PositionBased& operator=(const PositionBased&) = delete;
  /// What it can't move, if anything: tetrahedra, slides.
  static std::optional<std::string> fault_of(const SoftModel& model);

  /// Moves on by Δt; contacts are searched among `contacts`. Returns their impulses in their frames [N s].
  Vector step(State& state, const std::vector<ContactPoint>& contacts, double time_step);

 private:
  struct Body {
    FramePose before;
    Eigen::Matrix3d inverse_inertia;  ///< in world axes
    Eigen::Vector3d velocity, spin;
  };
  struct Lever {
    Eigen::Vector3d point;
    int body;  ///< among the rigid ones; negative: what can't be moved
  };
  int rigid_of(int body) const;
  FramePose& pose_of_rigid(int k);
  void predict(double h);
  void pull(const SpringJoint& joint, double time, double h);
  Eigen::Vector3d touch(const ContactPoint& contact);
  void move(const Lever& at, const Eigen::Vector3d& push);
  double ease(const Lever& at, const Eigen::Vector3d& direction) const;
  Eigen::Vector3d moved_by(const Lever& at) const;
  void take_velocities(double h);

  SoftModel model_;
  long substeps_;
  Frames frames_;
  std::vector<Body> bodies_;
};

}  // namespace conebench::simulation
