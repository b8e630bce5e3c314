#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace conebench {

/// Whether this build converts meshes (with assimp).
bool converts_meshes();

/// The bytes of a binary STL [m] with all triangles of a mesh file, in any format of assimp. Nodes of a scene are
/// placed. Collada's <unit> is applied; its <up_axis> is not, as in RViz: the coordinates are the link's. Errors:
/// bad_input where the file can't be read or has no triangles; unsupported without a converter.
Result<std::string> binary_stl_of(const std::filesystem::path& file);

}  // namespace conebench
