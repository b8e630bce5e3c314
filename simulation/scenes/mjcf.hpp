#pragma once

#include <Eigen/Geometry>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace conebench::mjcf {

using Vec3 = Eigen::Vector3d;
using Quat = Eigen::Quaterniond;

/// Of a body or shape, relative to what it hangs on [m].
struct Pose {
  Vec3 position = Vec3::Zero();
  Quat orientation = Quat::Identity();
};

/// A turn by `angle` [rad] about `axis`.
Quat turn(double angle, const Vec3& axis);

/// A shape; its mass is zero unless set. The setters return the shape, for chaining.
class Geom {
 public:
  static Geom plane();
  static Geom sphere(double radius);
  static Geom box(const Vec3& half_sizes);
  static Geom cylinder(double radius, double half_length);  ///< along z
  static Geom capsule(const Vec3& from, const Vec3& to, double radius);
  static Geom convex(const std::string& mesh);              ///< a name that Model::convex_mesh returned
  static Geom height_field(const std::string& elevations);  ///< a name that Model::height_field returned; scenery only

  Geom& at(const Vec3& position);
  Geom& turned(const Quat& orientation);
  Geom& mass(double kilograms);
  Geom& friction(double coefficient);
  Geom& untouchable();  ///< no contacts
  const std::string& attributes() const { return attributes_; }
  double kilograms() const { return mass_; }

 private:
  Geom(const std::string& type, const std::string& attributes);
  std::string attributes_;
  double mass_ = 0.0;
};

/// What moves a joint. A servo's torque is stiffness · (control − position); a motor's is its control.
struct Drive {
  enum class Kind { none, motor, servo };
  Kind kind = Kind::none;
  double stiffness = 0.0;  ///< of a servo [N m/rad or N/m]
  double control = 0.0;    ///< at the keyframe [rad, m, N m or N]
  double bound = 0.0;      ///< |control| ≤ bound; 0: the joint's range for a servo, else none
  /// Control "sine" is control + amplitude · sin(2π frequency t + phase); stored as the actuator's user data.
  double amplitude = 0.0;
  double frequency = 0.0;  ///< [Hz]
  double phase = 0.0;      ///< [rad]
};

/// One joint of a body towards its parent.
struct Joint {
  std::string type = "hinge";  ///< hinge, slide or ball
  Vec3 axis = Vec3::UnitZ();
  Vec3 anchor = Vec3::Zero();  ///< in the body's frame [m]
  double lower = 0.0;          ///< limited where lower < upper [rad or m]
  double upper = 0.0;
  double damping = 0.0;    ///< [N m s/rad or N s/m]
  double stiffness = 0.0;  ///< of a spring towards zero [N m/rad or N/m]
  double start = 0.0;      ///< at the keyframe [rad or m]; hinges and slides only
  double speed = 0.0;      ///< at the keyframe
  Drive drive = {};
};

/// Velocity of a free body at the keyframe: linear in the world's frame [m/s], angular in the body's [rad/s].
struct Twist {
  Vec3 linear = Vec3::Zero();
  Vec3 angular = Vec3::Zero();
};

/// What all shapes of a model have in common.
struct Surface {
  double friction = 0.5;
  double restitution = 0.0;
  double margin = 0.0;  ///< contacts are seen from this distance on [m]
};

/// Elevations over a rectangle centred at the origin, for a ground.
struct HeightField {
  int rows = 2;     ///< points along y
  int columns = 2;  ///< points along x
  double half_width_x = 1.0;
  double half_width_y = 1.0;
  double base = 1.0;  ///< how thick the ground is under its lowest point [m]
  /// rows × columns, row by row from −y, each from −x; some differ. The geom's origin is at the lowest [m].
  std::vector<float> elevations = {};
};

/// Writes a model in MJCF (MuJoCo's XML), with a keyframe of its start. Bodies are opened,
/// given shapes, joints and children, and closed, in this order; the order is the keyframe's.
class Model {
 public:
  struct Settings {
    std::string name;
    double time_step = 0.01;  ///< [s]
    Vec3 gravity = {0.0, 0.0, -9.81};
    Surface surface = {};
  };
  explicit Model(Settings settings);

  /// A shape of the world: scenery.
  void scenery(const Geom& geom);
  /// A body in the open one, or in the world. It never touches the open one.
  void open_body(const std::string& name, const Pose& pose);
  void geom(const Geom& geom);
  /// The open body, a child of the world, moves freely.
  void free(const Twist& velocity = {});
  /// The name of the joint: the body's and a count.
  std::string joint(const Joint& joint);
  void close_body();

  /// Fixes the point `anchor` of `body` to the one of `other` that is there at the start: a ball joint that closes a
  /// loop.
  void connect(const std::string& body, const std::string& other, const Vec3& anchor);
  /// The same along an axis: a hinge, as two points half a metre times `spread` to either side of `anchor`.
  void connect_hinge(const std::string& body, const std::string& other, const Vec3& anchor, const Vec3& axis,
                     double spread = 0.1);
  void exclude(const std::string& body, const std::string& other);
  /// The convex hull of `vertices` [m]; its frame goes to its centroid when the model is compiled. Returns its name.
  std::string convex_mesh(std::span<const Vec3> vertices);
  /// A ground of triangles. Its elevations are among files(). Returns its name.
  std::string height_field(const HeightField& field);
  /// A force on the open body's origin along `direction`, in the world's axes at the start (the body's own afterwards):
  /// `newtons`, or growing from zero by so much a second.
  void push(double newtons, bool growing, const Vec3& direction = Vec3::UnitX());

  std::string text() const;
  /// What text() names, by name: height fields in MuJoCo's binary form (rows, columns, elevations).
  const std::map<std::string, std::string>& files() const { return files_; }

 private:
  /// One line of the keyframe.
  struct Start {
    std::string values;
    bool moved = false;  ///< some differ from what is there without a keyframe
    void add(const std::string& numbers, bool differs);
  };
  struct OpenBody {
    std::string name;
    Pose pose;
    int joints = 0;
  };
  void line(std::string& section, const std::string& text) const;
  void actuator(const std::string& joint, const Joint& of);

  Settings settings_;
  std::vector<OpenBody> open_;
  long bodies_ = 0;
  std::string assets_, world_, contact_, equality_, actuators_;
  Start positions_, velocities_, controls_, activations_;
  int meshes_ = 0;
  std::map<std::string, std::string> files_;
};

}  // namespace conebench::mjcf
