#pragma once

#include <Eigen/Core>
#include <array>
#include <utility>
#include <vector>

#include "problems/types.hpp"

namespace conebench {

/// A body of linear tetrahedra at rest.
struct TetrahedralMesh {
  std::vector<Eigen::Vector3d> nodes;            ///< [m]
  std::vector<std::array<Index, 4>> tetrahedra;  ///< corners, of either orientation
};

/// The six tetrahedra of a cell whose corners are numbered x + 2 y + 4 z: one for each order of the axes along which a
/// path leads from corner 0 to corner 7, so that neighbours' faces fit.
inline constexpr std::array<std::array<int, 4>, 6> tetrahedra_of_cell = {
    {{0, 1, 3, 7}, {0, 1, 5, 7}, {0, 2, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 4, 6, 7}}};

/// (nx, ny, nz) cells on a block of this size [m] from the origin on; nodes run along x, then y, then z.
TetrahedralMesh block_mesh(Index nx, Index ny, Index nz, const Eigen::Vector3d& size);

/// A ball about the origin: a block of cells³ cells pulled onto it.
TetrahedralMesh ball_mesh(Index cells, double radius);

/// Hooke's law of the strains (xx, yy, zz, xy, yz, zx), shears as angles, from Young's modulus [N/m²] and Poisson's
/// ratio.
Eigen::Matrix<double, 6, 6> hooke(double young, double poisson);

using ElementMatrix = Eigen::Matrix<double, 12, 12>;

/// A linear tetrahedron at rest.
struct TetrahedralElement {
  double volume = 0.0;            ///< V [m³]
  Eigen::Matrix3d inverse_edges;  ///< D_m⁻¹, of the edges from corner 0 [1/m]
  ElementMatrix stiffness;        ///< V Bᵀ C B [N/m], symmetric to the last bit
};
TetrahedralElement element_of(const Eigen::Matrix<double, 3, 4>& corners, const Eigen::Matrix<double, 6, 6>& law);

/// Sums M and `damped` · K element by element.
struct ElasticAssembly {
  static constexpr Index fixed = -1;  ///< a node that is part of the ground

  double density, damped;  ///< [kg/m³], Δt (Δt + β) [s²]
  Vector mass;             ///< lumped, one a node [kg]
  std::vector<Eigen::Triplet<double>> entries;

  void add(const std::array<Index, 4>& at, double volume, const ElementMatrix& stiffness);
};

}  // namespace conebench
