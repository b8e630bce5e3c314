#pragma once

#include <functional>
#include <string>

#include "base/options.hpp"
#include "base/result.hpp"
#include "scenes/elastic_mesh.hpp"

namespace conebench {

/// A file's mesh in place of a scene's own: the options `mesh` and `scale`.
struct MeshOptions {
  std::string mesh;
  double scale = 1.0;

  static void declare(OptionBinder& bind, MeshOptions& o);
};

/// The smallest box along the axes that holds a mesh.
struct MeshBox {
  Eigen::Vector3d min, max;
  Eigen::Vector3d size() const { return max - min; }
  Eigen::Vector3d middle() const { return 0.5 * (min + max); }
};
MeshBox box_of(const TetrahedralMesh& mesh);

/// The file's mesh in metres, where it stands in the file, or `own` where no file is named. Errors: those of read_mesh;
/// wrong_usage: more than 200000 nodes.
Result<TetrahedralMesh> mesh_of(const MeshOptions& o, const std::function<Result<TetrahedralMesh>()>& own);
/// The same with block_mesh's as `own`; a file's is moved so that its box begins at the origin.
Result<TetrahedralMesh> block_of(const MeshOptions& o, long nx, long ny, long nz, const Eigen::Vector3d& size);

}  // namespace conebench
