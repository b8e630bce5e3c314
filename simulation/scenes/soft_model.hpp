#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenes/elastic_mesh.hpp"

namespace conebench {

/// Where a frame stands in another one.
struct FramePose {
  Eigen::Vector3d position = Eigen::Vector3d::Zero();  ///< [m]
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
};

/// Linear tetrahedra of one material.
struct SoftBody {
  std::string name = "body";
  TetrahedralMesh mesh;
  double density = 1000.0;  ///< [kg/m³]
  double young = 1e5;       ///< [N/m²]
  double poisson = 0.3;
  Vector position, velocity;  ///< of the nodes at the start, 3 each [m, m/s]
};

/// How a rigid body hangs on another one: it keeps the other's axes and slides along a line of it.
struct Slide {
  int parent = 0;                                   ///< among SoftModel::rigid, before this one; itself free
  Eigen::Vector3d axis = Eigen::Vector3d::UnitX();  ///< in the parent's frame
  double force = 0.0;                               ///< along it, from the parent [N]
  double damping = 0.0;                             ///< of the sliding [N s/m]
};

struct RigidBody {
  std::string name;
  double mass = 1.0;                                   ///< [kg]
  Eigen::Vector3d inertia = Eigen::Vector3d::Ones();   ///< about its centre along its own axes [kg m²]
  FramePose pose;                                      ///< of its centre at the start
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();  ///< at the start [m/s]
  Eigen::Vector3d spin = Eigen::Vector3d::Zero();      ///< in world axes [rad/s]
  Eigen::Vector3d force = Eigen::Vector3d::Zero();     ///< that always acts at its centre, in world axes [N]
  std::optional<Slide> slide = {};                     ///< one velocity in place of six
  std::vector<Eigen::Vector3d> points = {};            ///< of its surface, in its frame: these touch shapes
  double point_radius = 0.0;                           ///< of balls about them [m]
  /// Of a capsule of that radius about the middle of its z: with the loop's self_contact it touches other ones [m].
  std::optional<double> half_length = {};
};

/// A part of a path: from rest to rest on half a cosine wave, or at constant speed.
struct Move {
  double from = 0.0, until = 1.0;                    ///< [s]
  Eigen::Vector3d by = Eigen::Vector3d::Zero();      ///< [m]
  double angle = 0.0;                                ///< about an axis through a point [rad]
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();   ///< of unit length
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();  ///< [m]
  bool steady = false;                               ///< at constant speed
  bool turns = true;                                 ///< the frame turns along, else it keeps its axes
};

/// A frame whose motion is prescribed, whatever acts on it.
struct Guide {
  std::string name;
  FramePose pose;  ///< at the start
  std::vector<Move> moves = {};
};

/// What nodes and points touch. A plane is z = 0 of its frame, solid below; a cylinder has its axis along z.
struct Shape {
  enum class Kind { plane, box, cylinder, sphere };
  std::string name;
  Kind kind = Kind::plane;
  Eigen::Vector3d size =
      Eigen::Vector3d::Zero();        ///< box: half its edges; cylinder: radius, half its length; sphere: radius
  int carrier = 0;                    ///< number of the body whose frame it is in
  FramePose pose = {};                ///< in the carrier's frame
  double friction = 0.5;              ///< μ; with `across` that along the shape's x
  std::optional<double> across = {};  ///< of planes: μ along the shape's y, an ellipse of friction
};

/// Nodes of an elastic body that springs draw to where a guide takes them.
struct Tie {
  int body = 0;  ///< among SoftModel::bodies
  std::vector<Index> nodes;
  int guide = 0;           ///< among SoftModel::guides
  double stiffness = 1e3;  ///< of each node's spring [N/m]
  double until = 1e300;    ///< when they let go [s]
};

/// Six springs between points of two bodies or guides whose axes agree at rest: of a Cosserat rod that is cut into
/// rigid links, the cut. e = (R_aᵀ (p_b − p_a), log R_aᵀ R_b) / ℓ with the gains K: energy ½ eᵀ K e.
struct SpringJoint {
  int a = 0, b = 0;                  ///< body numbers
  Eigen::Vector3d at_a, at_b;        ///< in their frames [m]
  double length = 1.0;               ///< ℓ [m]
  Eigen::Matrix<double, 6, 1> gain;  ///< K's diagonal [N m, N m³]
};

/// Elastic and rigid bodies, and what moves and stops them (simulation/deformable). Bodies are numbered: 0 is
/// the world, then come elastic ones, rigid ones and guides.
struct SoftModel {
  std::vector<SoftBody> bodies;
  std::vector<RigidBody> rigid;
  std::vector<Guide> guides;
  std::vector<Shape> shapes;
  std::vector<Tie> ties;
  std::vector<SpringJoint> joints;
  double capsule_friction = 0.5;    ///< μ of capsules with each other
  int joints_apart = 1;             ///< those that so many joints or fewer connect do not touch
  double mass_damping = 0.0;        ///< α of D = α M + β K [1/s]
  double stiffness_damping = 1e-3;  ///< β [s]
  double gravity = 9.81;            ///< along −z [m/s²]

  int rigid_number(std::size_t k) const { return static_cast<int>(1 + bodies.size() + k); }
  int guide_number(std::size_t k) const { return static_cast<int>(1 + bodies.size() + rigid.size() + k); }
};

}  // namespace conebench
