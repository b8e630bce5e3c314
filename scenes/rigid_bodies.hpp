#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// Collects rigid bodies and the contacts between them, and makes the contact problem of one time step.
///
/// Velocities are (v, ω) of each body's centre of mass in the world frame, so M is diagonal for bodies whose principal
/// axes are the world's, and has blocks of 3 × 3 for others. A contact's frame is (t1, t2, n), n from body `first` to
/// body `second`; its velocity is that of `second` relative to `first` at the contact point, so a positive normal
/// velocity separates.
class RigidBodies {
 public:
  static constexpr int ground = -1;

  RigidBodies() = default;
  /// rolling: mu_r of every contact [m]. Above 0 it has two more rows, its angular velocities about t1 and t2.
  explicit RigidBodies(double rolling) : rolling_(rolling) {}

  struct Frame {
    Eigen::Vector3d tangent_1, tangent_2, normal;
  };
  /// The frame with this unit normal whose tangents are the world's axes where the normal is one.
  static Frame frame_of(const Eigen::Vector3d& normal);

  /// inertia: principal moments [kg m²]; free velocities [m/s, rad/s] at the end of a step without contacts.
  int add_body(double mass, const Eigen::Vector3d& inertia, const Eigen::Vector3d& position,
               const Eigen::Vector3d& free_velocity, const Eigen::Vector3d& free_spin = Eigen::Vector3d::Zero());
  /// inertia: about the centre of mass along the world's axes, symmetric [kg m²].
  int add_body(double mass, const Eigen::Matrix3d& inertia, const Eigen::Vector3d& position,
               const Eigen::Vector3d& free_velocity, const Eigen::Vector3d& free_spin = Eigen::Vector3d::Zero());
  /// point: world coordinates [m]; gap [m]. Either body may be `ground`.
  void add_contact(int first, int second, const Eigen::Vector3d& point, const Frame& frame, double friction,
                   double gap = 0.0);

  const Eigen::Vector3d& position(int body) const { return positions_[static_cast<std::size_t>(body)]; }
  double mass(int body) const { return masses_[6 * static_cast<std::size_t>(body)]; }
  Index bodies() const { return static_cast<Index>(positions_.size()); }
  Index contacts() const { return static_cast<Index>(friction_.size()); }

  /// g = J v_free, b = 0, with gaps and time step [s]; G in the form named by declare_form.
  Result<ContactProblem> problem(double time_step, const std::string& form, const std::string& description) const;

 private:
  void add_side(Index row, int body, double sign, const Eigen::Vector3d& point, const Frame& frame);

  double rolling_ = 0.0;
  std::vector<Eigen::Vector3d> positions_;
  std::vector<double> masses_;                      ///< diagonal of M
  std::vector<Eigen::Triplet<double>> deviations_;  ///< what M has beside it
  std::vector<double> free_velocity_;
  std::vector<Eigen::Triplet<double>> jacobian_;
  std::vector<double> friction_;
  std::vector<double> gaps_;
};

/// Principal moments of a box with these half extents [m], of a solid sphere.
Eigen::Vector3d box_inertia(double mass, const Eigen::Vector3d& half_extents);
Eigen::Vector3d sphere_inertia(double mass, double radius);

}  // namespace conebench
