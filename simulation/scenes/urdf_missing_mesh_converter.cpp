#include "simulation/scenes/urdf_mesh_converter.hpp"

namespace conebench {

bool converts_meshes() { return false; }

Result<std::string> binary_stl_of(const std::filesystem::path& file) {
  return Error{ErrorCode::unsupported, file.string() + ": this build has no assimp; build with libassimp-dev"};
}

}  // namespace conebench
