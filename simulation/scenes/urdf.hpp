#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace conebench {

/// A mesh of the robot's shapes: one for each file and scale.
struct UrdfMesh {
  std::string name;  ///< in the prepared text; its extension is that of the bytes that MuJoCo gets: .stl, .obj or .msh
  std::filesystem::path file;
  bool converted = false;  ///< its bytes are urdf_mesh_converter's, not the file's
  std::string link;        ///< the first one with it
};

/// A mimic joint: q = multiplier · q_of + offset, in rad or m.
struct Coupling {
  std::string joint;
  std::string of;  ///< empty: q = offset
  double multiplier = 1.0;
  double offset = 0.0;
};

enum class InertiaFault {
  mass,      ///< not positive; from, to: the mass [kg]
  moment,    ///< a principal moment is not positive; from, to: the smallest one [kg m²]
  triangle,  ///< A + B < C; from, to: the smallest principal moment [kg m²]
};

struct InertiaRepair {
  std::string body;
  InertiaFault fault = InertiaFault::mass;
  double from = 0.0, to = 0.0;
};

enum class ApartReason { adjacent, srdf, overlap };

/// Two bodies (a link with those fixed to it) without contacts. A body has the name of the link that its joint moves,
/// or none if it is fixed to the world.
struct ApartBodies {
  std::string first, second;
  ApartReason reason = ApartReason::adjacent;
};

/// A URDF as MuJoCo reads it, what its reader does not take, and what was changed.
struct UrdfRobot {
  std::string text;  ///< links and joints alone, without visuals, with meshes by UrdfMesh::name and valid inertia
  std::vector<UrdfMesh> meshes;
  std::vector<Coupling> couplings;
  std::vector<ApartBodies> apart;  ///< adjacent ones and those of the SRDF; empty with self_collision
  std::vector<InertiaRepair> repairs;
  std::vector<std::string> massless;         ///< bodies with shapes, but no <inertial>: MuJoCo takes that of the shapes
  std::vector<std::string> inverted_limits;  ///< joints with lower > upper, which have none
  std::vector<std::string> lost_mimics;      ///< joints that mimic one which is not in the file, and so none
  std::filesystem::path srdf;                ///< that names bodies without contacts; empty: none
  bool self_collision = false;
};

struct UrdfSource {
  std::filesystem::path file;  ///< meshes and packages are searched for from its folder
  bool free_base = false;
  bool self_collision = false;
  std::vector<std::filesystem::path> package_path;  ///< ROS_PACKAGE_PATH
  std::vector<std::filesystem::path> package_dirs;
};

/// Whether this text is a URDF: its root element is <robot>.
bool is_urdf(const std::string& text);

/// Errors: bad_input with what is wrong and where; unsupported where a mesh needs a converter and this build has none.
Result<UrdfRobot> prepare_urdf(const std::string& text, const UrdfSource& source);

}  // namespace conebench
