#include "scenes/elastic_mesh.hpp"

#include <Eigen/LU>
#include <cmath>

namespace conebench {

TetrahedralMesh block_mesh(Index nx, Index ny, Index nz, const Eigen::Vector3d& size) {
  TetrahedralMesh mesh;
  const auto node = [&](Index i, Index j, Index k) { return i + (nx + 1) * (j + (ny + 1) * k); };
  const Eigen::Vector3d cell = size.cwiseQuotient(Eigen::Vector3d(double(nx), double(ny), double(nz)));
  for (Index k = 0; k <= nz; ++k) {
    for (Index j = 0; j <= ny; ++j) {
      for (Index i = 0; i <= nx; ++i) {
        mesh.nodes.push_back(cell.cwiseProduct(Eigen::Vector3d(double(i), double(j), double(k))));
      }
    }
  }
  for (Index k = 0; k < nz; ++k) {
    for (Index j = 0; j < ny; ++j) {
      for (Index i = 0; i < nx; ++i) {
        for (const auto& corners : tetrahedra_of_cell) {
          std::array<Index, 4> at{};
          for (std::size_t a = 0; a < 4; ++a) {
            at[a] = node(i + (corners[a] & 1), j + ((corners[a] >> 1) & 1), k + (corners[a] >> 2));
          }
          mesh.tetrahedra.push_back(at);
        }
      }
    }
  }
  return mesh;
}

TetrahedralMesh ball_mesh(Index cells, double radius) {
  TetrahedralMesh mesh = block_mesh(cells, cells, cells, Eigen::Vector3d::Constant(2.0));
  for (Eigen::Vector3d& node : mesh.nodes) {
    const Eigen::Vector3d p = node - Eigen::Vector3d::Ones();
    const Eigen::Vector3d s = p.cwiseAbs2();
    // The cube's faces, and all cubes within, go onto spheres.
    node = radius * p.cwiseProduct(Eigen::Vector3d(std::sqrt(1.0 - (s[1] + s[2]) / 2.0 + s[1] * s[2] / 3.0),
                                                   std::sqrt(1.0 - (s[2] + s[0]) / 2.0 + s[2] * s[0] / 3.0),
                                                   std::sqrt(1.0 - (s[0] + s[1]) / 2.0 + s[0] * s[1] / 3.0)));
  }
  return mesh;
}

Eigen::Matrix<double, 6, 6> hooke(double young, double poisson) {
  const double shear = young / (2.0 * (1.0 + poisson));
  const double lame = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
  Eigen::Matrix<double, 6, 6> c = Eigen::Matrix<double, 6, 6>::Zero();
  c.topLeftCorner<3, 3>().setConstant(lame);
  c.diagonal() << lame + 2.0 * shear, lame + 2.0 * shear, lame + 2.0 * shear, shear, shear, shear;
  return c;
}

TetrahedralElement element_of(const Eigen::Matrix<double, 3, 4>& corners, const Eigen::Matrix<double, 6, 6>& law) {
  TetrahedralElement element;
  Eigen::Matrix3d edges;
  for (int k = 0; k < 3; ++k) edges.col(k) = corners.col(k + 1) - corners.col(0);
  element.volume = std::abs(edges.determinant()) / 6.0;
  element.inverse_edges = edges.inverse();
  Eigen::Matrix<double, 3, 4> gradients;
  gradients.rightCols<3>() = element.inverse_edges.transpose();
  gradients.col(0) = -gradients.rightCols<3>().rowwise().sum();
  Eigen::Matrix<double, 6, 12> b = Eigen::Matrix<double, 6, 12>::Zero();
  for (int a = 0; a < 4; ++a) {
    const Eigen::Vector3d g = gradients.col(a);
    for (int axis = 0; axis < 3; ++axis) {
      const int next = (axis + 1) % 3;
      b(axis, 3 * a + axis) = g[axis];
      b(3 + axis, 3 * a + axis) = g[next];
      b(3 + axis, 3 * a + next) = g[axis];
    }
  }
  const ElementMatrix product = element.volume * b.transpose() * law * b;
  element.stiffness = 0.5 * (product + product.transpose());
  return element;
}

void ElasticAssembly::add(const std::array<Index, 4>& at, double volume, const ElementMatrix& stiffness) {
  for (const Index node : at) {
    if (node != fixed) mass[node] += 0.25 * density * volume;
  }
  for (int row = 0; row < 12; ++row) {
    for (int col = 0; col < 12; ++col) {
      // Summed in the same order on both sides of the diagonal, A comes out symmetric to the last bit.
      const double value = damped * stiffness(row, col);
      const Index row_node = at[static_cast<std::size_t>(row / 3)];
      const Index col_node = at[static_cast<std::size_t>(col / 3)];
      if (value == 0.0 || row_node == fixed || col_node == fixed) continue;
      entries.emplace_back(static_cast<int>(3 * row_node + row % 3), static_cast<int>(3 * col_node + col % 3), value);
    }
  }
}

}  // namespace conebench
