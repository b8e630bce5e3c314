#pragma once

#include <array>
#include <vector>

#include "problems/types.hpp"
#include "scenes/elastic_mesh.hpp"

namespace conebench::simulation {

/// Linear tetrahedra whose strains are small once each one's rotation is taken out (co-rotational elements, paper 003's
/// (4) to (8)).
///
///     symbol   meaning                                                      unit
///     x, X     positions of the nodes, now and at rest                      m
///     F, R     D_s D_m⁻¹ of an element, its rotation (polar decomposition)  1
///     K_e      V Bᵀ C B                                                     N/m
class CorotatedBody {
 public:
  CorotatedBody(const TetrahedralMesh& mesh, double young, double poisson);

  /// A quarter of each tetrahedron at each of its corners, one entry a velocity [kg].
  Vector lumped_mass(double density) const;
  /// force = −Σ R K_e (Rᵀ x − X) [N] and stiffness = Σ R K_e Rᵀ, whose ∂R is dropped: positive semidefinite, symmetric
  /// to the last bit. Returns the elastic energy [J]. No allocation.
  double evaluate(const Vector& positions, Vector& force);
  const SparseMatrix& stiffness() const { return stiffness_; }

 private:
  struct Element {
    std::array<Index, 4> corners;
    std::array<int, 48> slots;          ///< in the stiffness's values: of rows of corner a in the columns of corner b
    Eigen::Matrix<double, 12, 1> rest;  ///< X, from corner 0
    TetrahedralElement at_rest;
  };
  std::vector<Element> elements_;
  SparseMatrix stiffness_;
  Index nodes_ = 0;
};

/// The rotation nearest to F, with determinant 1.
Eigen::Matrix3d rotation_of(const Eigen::Matrix3d& deformation);

}  // namespace conebench::simulation
