#pragma once

#include <string>

#include "base/result.hpp"
#include "scenes/elastic_mesh.hpp"

namespace conebench {

/// The linear tetrahedra of a text file: Gmsh's .msh of version 4.1, or VTK's legacy form with an unstructured grid.
/// Elements of other kinds are left out, and nodes that are no tetrahedron's. Errors (bad_input): what can't be read or
/// is neither, with the line; no tetrahedron, one with a node that is not there or without volume.
Result<TetrahedralMesh> read_mesh(const std::string& file);

}  // namespace conebench
