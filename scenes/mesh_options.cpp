#include "scenes/mesh_options.hpp"

#include "scenes/mesh_file.hpp"

namespace conebench {

namespace {

constexpr double max_nodes = 2e5;

}  // namespace

void MeshOptions::declare(OptionBinder& bind, MeshOptions& o) {
  bind.text("mesh", o.mesh,
            "file of tetrahedra in place of the scene's own: Gmsh's .msh 4.1 or VTK's legacy form, as text");
  bind.real("scale", o.scale, {.minimum = 1e-9, .maximum = 1e9, .doc = "metres that a unit of the file stands for"});
}

MeshBox box_of(const TetrahedralMesh& mesh) {
  MeshBox box{Eigen::Vector3d::Constant(1e300), Eigen::Vector3d::Constant(-1e300)};
  for (const Eigen::Vector3d& node : mesh.nodes) {
    box.min = box.min.cwiseMin(node);
    box.max = box.max.cwiseMax(node);
  }
  return box;
}

Result<TetrahedralMesh> mesh_of(const MeshOptions& o, const std::function<Result<TetrahedralMesh>()>& own) {
  if (o.mesh.empty()) return own();
  CONEBENCH_TRY(auto mesh, read_mesh(o.mesh));
  if (double(mesh.nodes.size()) > max_nodes) {
    return Error{ErrorCode::wrong_usage, o.mesh + ": the mesh has more than 200000 nodes"};
  }
  for (Eigen::Vector3d& node : mesh.nodes) node *= o.scale;
  return mesh;
}

Result<TetrahedralMesh> block_of(const MeshOptions& o, long nx, long ny, long nz, const Eigen::Vector3d& size) {
  auto mesh = mesh_of(o, [&]() -> Result<TetrahedralMesh> {
    if (double(nx + 1) * double(ny + 1) * double(nz + 1) > max_nodes) {
      return Error{ErrorCode::wrong_usage, "options nx, ny, nz: more than 200000 nodes"};
    }
    return block_mesh(nx, ny, nz, size);
  });
  if (mesh && !o.mesh.empty()) {
    const Eigen::Vector3d corner = box_of(*mesh).min;
    for (Eigen::Vector3d& node : mesh->nodes) node -= corner;
  }
  return mesh;
}

}  // namespace conebench
