#pragma once

#include <string>

#include "base/result.hpp"

namespace conebench {

/// Whether this text is a URDF: its root element is <robot>.
bool is_urdf(const std::string& text);

/// The robot with its root link on a floating joint instead of fixed to the world. Errors (bad_input): not one root
/// link, or one that is called "world".
Result<std::string> with_floating_base(const std::string& urdf);

/// The robot with its meshes looked for in `folder`, or where its own <compiler meshdir> says from there, wherever the
/// text is read from.
std::string with_mesh_folder(const std::string& urdf, const std::string& folder);

}  // namespace conebench
