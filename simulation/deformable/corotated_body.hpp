#pragma once

#include <array>
#include <vector>

#include "base/workers.hpp"
#include "problems/types.hpp"
#include "scenes/elastic_mesh.hpp"

namespace conebench::simulation {

/// Linear tetrahedra whose strains are small once each one's rotation is taken out (co-rotational elements, paper
/// Lee23's (4) to (8)).
///
///     symbol   meaning                                                      unit
///     x, X     positions of the nodes, now and at rest                      m
///     F, R     D_s D_m⁻¹ of an element, its rotation (polar decomposition)  1
///     K_e      V Bᵀ C B                                                     N/m
///     s_i      stretches, F = U diag(s) Wᵀ with R = U Wᵀ                    1
///     t_k      (u_i w_jᵀ − u_j w_iᵀ)/√2: how F changes by a turn             1
///     μ, λ     Lamé's                                                       N/m²
class CorotatedBody {
 public:
  /// `first`: of the positions and velocities of its nodes, three each.
  CorotatedBody(const TetrahedralMesh& mesh, double young, double poisson, Index first = 0);

  /// Where its stiffness has entries.
  void add_pattern(std::vector<Eigen::Triplet<double>>& entries) const;
  /// Finds its entries among the values of a matrix that has these entries.
  void find_values(const SparseMatrix& matrix);

  /// Adds a quarter of each tetrahedron at each of its corners [kg].
  void add_mass(double density, Vector& mass) const;
  /// `turned`: Σ R K_e Rᵀ, ∂R dropped. `whole`: the forces' derivative, which has
  /// V (2 μ − 2 (2 μ − λ tr(S − I)) / (s_i + s_j)) more along each t_k; where s_i + s_j ≤ 0, in strongly inverted
  /// elements, the term is left out and it is not their derivative. `positive`: what is negative of that left out.
  /// All but `whole` are positive semidefinite.
  enum class Tangent { turned, whole, positive };

  /// Adds −Σ R K_e (Rᵀ x − X) [N] to `force` and the tangent to the matrix's values, symmetric to the last bit. Returns
  /// the elastic energy [J]. Every sum has one order, so that no bit depends on the number of workers. No allocation
  /// after the first call.
  double evaluate(const Vector& positions, Vector& force, SparseMatrix& stiffness, Workers& workers,
                  Tangent tangent = Tangent::turned);

 private:
  struct Element {
    std::array<Index, 4> corners;         ///< first position of each
    std::array<int, 48> value_indices{};  ///< in the stiffness: rows of corner a in the columns of corner b
    Eigen::Matrix<double, 12, 1> rest;    ///< X, from corner 0
    TetrahedralElement at_rest;
  };
  /// What an element adds at the state at hand.
  struct Share {
    Eigen::Matrix<double, 12, 1> force;
    std::array<Eigen::Matrix3d, 10> blocks;  ///< a ≤ b, by rows
    double energy = 0.0;
  };
  Share share_of(const Element& element, const Vector& positions, Tangent tangent) const;
  /// Of corners whose first position is from `begin` up to `end`: their forces and columns.
  static void add(const Element& element, const Share& share, Index begin, Index end, Vector& force, double* values);

  std::vector<Element> elements_;
  std::vector<Share> shares_;  ///< with several workers
  Index first_ = 0, nodes_ = 0;
  double shear_ = 0.0, bulk_ = 0.0;  ///< μ, λ
};

/// The rotation nearest to F, with determinant 1.
Eigen::Matrix3d rotation_of(const Eigen::Matrix3d& deformation);

/// Index of the stored entry (row, column) among the values of a compressed matrix that has it.
int value_index(const SparseMatrix& matrix, Index row, Index column);

}  // namespace conebench::simulation
