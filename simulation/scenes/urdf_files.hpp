#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "simulation/scenes/urdf.hpp"
#include "simulation/scenes/urdf_tree.hpp"

namespace conebench {

/// Finds the meshes of the robot's collision elements and names them in the tree as UrdfMesh::name.
///
/// A `package://NAME/REST` (`model://` alike) is REST in the first folder of that name which has it: upward from the
/// URDF's folder, then in ROS_PACKAGE_PATH, then in the package folders. A folder has the name of its last part and the
/// <name> of its package.xml. Other names are relative to the URDF's folder. Last, as MuJoCo has it, the name without
/// folders in the URDF's folder; first, the folder of the file's own <mujoco><compiler meshdir>.
///
/// Errors: bad_input with link, mesh and the places searched where it is not found, no name is given, or it is a
/// device, a pipe or a socket; unsupported where this build can't convert it.
Result<std::vector<UrdfMesh>> take_meshes(const UrdfTree& tree, pugi::xml_node robot, const UrdfSource& source);

/// The SRDF that lies beside the URDF or in ../srdf: with the same stem, or else the only one for a robot of this name;
/// empty: none.
std::filesystem::path find_srdf(const std::filesystem::path& urdf, const std::string& robot);

/// Parses an XML file. Errors (bad_input): it can't be read, or is not XML, with its line.
Result<pugi::xml_document> read_xml_file(const std::filesystem::path& file);
/// Errors (bad_input): not XML, with its line.
Result<pugi::xml_document> parse_xml(const std::string& text);

}  // namespace conebench
