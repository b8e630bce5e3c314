#include "simulation/scenes/urdf_mesh_converter.hpp"

#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <fmt/format.h>

#include <array>
#include <assimp/Importer.hpp>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/utf8.hpp"

namespace conebench {

namespace {

template <class Number>
void append(std::string& bytes, Number number) {
  std::array<char, sizeof number> raw{};
  std::memcpy(raw.data(), &number, sizeof number);
  bytes.append(raw.data(), raw.size());
}

void append(std::string& bytes, const aiVector3D& vector) {
  for (const float x : {vector.x, vector.y, vector.z}) append(bytes, x);
}

/// The triangles of one mesh, placed; their normals are left 0 and follow from the order of the corners.
std::uint32_t append_triangles(std::string& bytes, const aiMesh& mesh, const aiMatrix4x4& placed) {
  const bool mirrors = placed.Determinant() < 0.0F;
  std::uint32_t triangles = 0;
  for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
    const aiFace& face = mesh.mFaces[f];
    if (face.mNumIndices != 3) continue;
    std::array<unsigned, 3> corners = {face.mIndices[0], face.mIndices[1], face.mIndices[2]};
    if (mirrors) std::swap(corners[1], corners[2]);
    append(bytes, aiVector3D());
    for (const unsigned corner : corners) append(bytes, placed * mesh.mVertices[corner]);
    append(bytes, std::uint16_t{0});
    ++triangles;
  }
  return triangles;
}

}  // namespace

bool converts_meshes() { return true; }

Result<std::string> binary_stl_of(const std::filesystem::path& file) {
  Assimp::Importer importer;
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  const aiScene* const scene = importer.ReadFile(file.string(), aiProcess_Triangulate);
  if (scene == nullptr || scene->mRootNode == nullptr) {
    return Error{ErrorCode::bad_input, fmt::format("{}: assimp can't read it: {}", one_line(file.string()),
                                                   one_line(importer.GetErrorString()))};
  }
  constexpr std::size_t header = 80;
  std::string bytes(header + sizeof(std::uint32_t), '\0');
  std::uint32_t triangles = 0;
  std::vector<std::pair<const aiNode*, aiMatrix4x4>> left = {{scene->mRootNode, scene->mRootNode->mTransformation}};
  while (!left.empty()) {
    const auto [node, placed] = left.back();
    left.pop_back();
    for (unsigned m = 0; m < node->mNumMeshes; ++m) {
      triangles += append_triangles(bytes, *scene->mMeshes[node->mMeshes[m]], placed);
    }
    for (unsigned c = 0; c < node->mNumChildren; ++c) {
      left.emplace_back(node->mChildren[c], placed * node->mChildren[c]->mTransformation);
    }
  }
  if (triangles == 0) {
    return Error{ErrorCode::bad_input, fmt::format("{}: has no triangles", one_line(file.string()))};
  }
  std::memcpy(bytes.data() + header, &triangles, sizeof triangles);
  return bytes;
}

}  // namespace conebench
