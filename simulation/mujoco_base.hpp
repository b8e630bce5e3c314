#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

/// What both kinds of coordinates share: the model's constants, its controls, and which contacts and limits are near.
class MujocoBase : public Engine {
 public:
  MujocoBase(ModelHandle model, DataHandle data, std::string name, std::vector<std::string> notes);

  const Dimensions& dimensions() const override { return dimensions_; }
  const std::vector<std::string>& notes() const override { return notes_; }
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
  /// Leaves out contacts of boxes that are deeper than the boxes overlap along the normal: MuJoCo 2.2.2 finds such
  /// ones, as deep as the boxes are large, between edges of boxes that are apart by less than their margin.
  void drop_impossible_contacts();
  /// Passive, Coriolis and actuator forces, and the rows of loops and limits: all but MuJoCo's own rows of contacts.
  void forces_and_rows();
  /// Whether contacts of two shapes are missing, as MuJoCo keeps no more.
  bool contacts_are_cut() const { return contacts_ == ContactList::cut; }
  /// The error (bad_input) where the list of contacts has overflowed.
  Result<void> check_contacts() const;

  bool is_limit(int row) const;
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
  int lower_body(int equality) const { return std::min(model_->eq_obj1id[equality], model_->eq_obj2id[equality]); }
  bool near(double gap, double velocity, const Reach& reach) const;
  bool near(const ContactPoint& contact, const Eigen::Vector3d& velocity, const Reach& reach) const;
  double row_velocity(int row) const;
  ContactPoint contact_of(const mjContact& found) const;

  ModelHandle model_;
  DataHandle data_;
  std::string name_;
  std::vector<std::string> notes_;
  Dimensions dimensions_;
  double typical_length_ = 1.0;  ///< MuJoCo's mean size of a body [m]

 private:
  double restitution(int geom) const;
  double largest_friction() const;
  Eigen::Vector3d local_point(int body, const Eigen::Vector3d& point) const;

  std::vector<double> shape_margins_;          ///< as the model has them
  ContactList contacts_ = ContactList::whole;  ///< of find_contacts()
};

/// Velocity along t1, t2 and n of a contact whose three rows begin at `row` and their entries at `first`.
Eigen::Vector3d contact_velocity(const Triplets& entries, std::size_t first, Index row, const double* velocity);

std::unique_ptr<Engine> make_reduced_engine(ModelHandle model, DataHandle data, std::string name,
                                            std::vector<std::string> notes);
/// Errors (bad_input): a body without mass.
Result<std::unique_ptr<Engine>> make_maximal_engine(ModelHandle model, DataHandle data, std::string name,
                                                    std::vector<std::string> notes);

}  // namespace conebench::simulation
