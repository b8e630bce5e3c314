#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulation/contact_laws.hpp"
#include "simulation/drives.hpp"
#include "simulation/engine.hpp"
#include "simulation/height_field_contacts.hpp"
#include "simulation/mujoco_handle.hpp"

namespace conebench::simulation {

inline Eigen::Vector3d vector3(const mjtNum* values) { return {values[0], values[1], values[2]}; }

inline Eigen::Matrix3d matrix3(const mjtNum* values) {
  return Eigen::Map<const Eigen::Matrix<mjtNum, 3, 3, Eigen::RowMajor>>(values);
}

inline Eigen::Map<Vector> as_vector(mjtNum* values, Index size) { return {values, size}; }

/// A pose: where a frame's origin is and how its axes lie.
struct Pose {
  Eigen::Vector3d position = Eigen::Vector3d::Zero();
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
};

/// Makes a contact one at `point` with this normal, from its first geom to its second, and gap [m].
void set_contact(mjContact& contact, const Eigen::Vector3d& point, const Eigen::Vector3d& normal, double gap);

using Triplets = std::vector<Eigen::Triplet<double>>;

inline Softness softness_of(const mjtNum* solref, const mjtNum* solimp) {
  return {solref[0], solref[1], solimp[0], solimp[1], solimp[2], solimp[3], solimp[4]};
}

/// Anchors of the connects between two bodies so far, by the bodies' numbers; in the frame of the lower-numbered one
/// [m].
using Anchors = std::map<std::pair<int, int>, std::vector<Eigen::Vector3d>>;

/// A model that is ready to be stepped.
struct LoadedModel {
  ModelHandle model;
  DataHandle data;
  std::string name;
  std::vector<std::string> notes;
  std::vector<LeftOut> left_out;
  std::vector<Drive> drives;     ///< taken out of the model
  int integrator = mjINT_EULER;  ///< the model's own
  bool implicit = false;         ///< see integrates_implicitly()
  bool own_rows = false;         ///< see EngineOptions
};

/// What both kinds of coordinates share: the model's constants, its controls, and which contacts and limits are near.
class MujocoBase : public Engine {
 public:
  explicit MujocoBase(LoadedModel loaded);

  const Dimensions& dimensions() const override { return dimensions_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  std::vector<LeftOut> left_out() const override;
  Matrix control_ranges() const override;
  Matrix control_waves() const override;
  std::vector<std::optional<Servo>> servos() const override;
  void advance_activation(State& state, double time_step) const override;
  std::vector<double> body_masses() const override;
  std::string shape_name(int shape) const override;
  std::optional<int> body_number(const std::string& name) const override;
  std::string body_name(int body) const override;
  /// In the pose that the data holds.
  BodyPose body_pose(int body) const override;
  bool push(int body, const Eigen::Vector3d& force, const Eigen::Vector3d& torque) override;
  Result<void> write_picture(const std::filesystem::path& file) const override;
  /// In the pose that the data holds.
  Eigen::Vector3d world_point(int body, const Eigen::Vector3d& local) const override;

 protected:
  /// Sets the data to the first keyframe, or to the reference position at rest.
  void reset() const;
  /// Puts the bodies' frames and their shapes into the data, for collision detection; the world's pose is the first.
  void pose_bodies(const std::vector<Pose>& poses);
  /// Contacts of the poses in the data, as far apart as shapes can meet in a step; `speed`: of the fastest point [m/s].
  void find_contacts(const Reach& reach, double speed);
  /// Passive, Coriolis and actuator forces, and the rows of loops, limits and friction: all but MuJoCo's own rows of
  /// contacts.
  void forces_and_rows();
  /// Of springs, dampers, fluids, gravity compensation and pushes; adhesion is that of find_contacts().
  Vector passive_force() const;
  /// Whether contacts of two shapes are missing, as MuJoCo keeps no more.
  bool contacts_are_cut() const { return contacts_ == ContactList::cut; }
  /// The error (bad_input) where the list of contacts has overflowed.
  Result<void> check_contacts() const;

  bool is_limit(int row) const;
  bool is_loop(int row) const { return data_->efc_type[row] == mjCNSTR_EQUALITY; }
  bool is_friction(int row) const;
  /// Of a row of friction.
  BoundedRow friction_row(int row) const;
  /// Of a drive, with the number that no row of friction has.
  BoundedRow drive_row(const Drive& drive) const;
  /// The same number for the same limit in every step: two for each joint, then two for each tendon.
  int limit_name(int row) const;
  /// Of a row of an equality, or of a limit.
  Softness softness_of_row(int row) const;
  /// Directions [world] of the independent rows of a connect after those between the same two bodies that `anchors`
  /// has: three for the first; the second makes a hinge and has none along the line between the anchors; a third makes
  /// a weld and has one across their plane. So a closing joint has as many rows as it takes away freedoms (Tsounis's
  /// Table II). The later ones turn with the lower-numbered body, whose rotation is given.
  std::vector<Eigen::Vector3d> connect_directions(int equality, const Eigen::Matrix3d& rotation,
                                                  Anchors& anchors) const;
  /// The bodies that a connect joins and the points on them, in their frames.
  struct Attachment {
    int body = 0;
    Eigen::Vector3d point = Eigen::Vector3d::Zero();
  };
  std::pair<Attachment, Attachment> attachments(int equality) const;
  int lower_body(int equality) const {
    const auto [first, second] = attachments(equality);
    return std::min(first.body, second.body);
  }
  bool near(double gap, double velocity, const Reach& reach) const;
  bool near(const ContactPoint& contact, const Eigen::Vector3d& velocity, const Reach& reach) const;
  double row_velocity(int row) const;
  ContactPoint contact_of(const mjContact& found) const;
  /// "tendon 'cord'", or "tendon 3" where it has no name.
  std::string element_name(mjtObj type, int number) const;
  /// By which a contact's shapes are drawn together, one a contact of the data [N]: MuJoCo's adhesion of geoms and its
  /// actuators on bodies.
  std::vector<double> adhesion() const;
  /// Adds a contact's adhesion to τ; its rows begin at `row` and their entries at `first`.
  static void draw_together(const ContactPoint& contact, const Triplets& entries, std::size_t first, Index row,
                            Vector& force);
  /// The velocity of its shapes' surfaces along its rows.
  void append_drift(const ContactPoint& contact, std::vector<double>& drift) const;

  ModelHandle model_;
  DataHandle data_;
  std::string name_;
  std::vector<std::string> notes_;
  Dimensions dimensions_;
  double typical_length_ = 1.0;  ///< MuJoCo's mean size of a body [m]
  std::vector<Drive> drives_;
  std::vector<LeftOut> left_out_;
  bool implicit_, own_rows_;
  ContactLaws laws_;

 private:
  Eigen::Vector3d local_point(int body, const Eigen::Vector3d& point) const;

  ContactList contacts_ = ContactList::whole;  ///< of find_contacts()
};

/// The column of a contact's frame that a tangential row from the third on turns about: n, t1, t2.
inline Index turned_axis(Index row) { return row % 3; }

/// Velocity along t1, t2 and n of a contact whose rows begin at `row` and their entries at `first`.
Eigen::Vector3d contact_velocity(const Triplets& entries, std::size_t first, Index row, const ContactPoint& contact,
                                 const double* velocity);

std::unique_ptr<Engine> make_reduced_engine(LoadedModel loaded);
/// Errors: bad_input, a body without mass; unsupported, a weld of sites.
Result<std::unique_ptr<Engine>> make_maximal_engine(LoadedModel loaded);

}  // namespace conebench::simulation
