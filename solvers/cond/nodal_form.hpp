#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "problems/contact_problem.hpp"
#include "solvers/solver.hpp"

namespace conebench::cond {

// Paper Lee23 (Lee, Lee, Lee, Large-dimensional multibody dynamics simulation using contact nodalization and
// diagonalization), Sec. III-A, in impulses: A = M of the problem [kg], k = k_v Δt [kg].

/// A block of rows whose velocity is D R (v_i − v_j): a contact, a limit row or a joint row. (13) has D = I.
struct NodalBlock {
  Index row = 0;                ///< its first in the problem
  int size = 3;                 ///< 3; in the plane 2; of a limit or joint 1
  std::array<int, 3> i{}, j{};  ///< columns of the nodes
  bool paired = false;          ///< D-contact; else there is no j
  Eigen::Matrix3d axes;         ///< R; the top left corner counts
  Eigen::Vector3d scale;        ///< D's diagonal; not of equal tangents where friction is anisotropic
  double gain = 0.0;            ///< k of its virtual node [kg]; 0: it has none
};

/// A v = b + Jᵀ λ with one block of rows a node or pair of nodes: (15).
struct NodalForm {
  SparseMatrix matrix;             ///< A, symmetric, own + virtual velocities
  Vector momentum;                 ///< b [N s]
  Vector bias;                     ///< φ: the rows' velocity is J v + φ [m/s]
  std::vector<NodalBlock> blocks;  ///< as in the problem's cones
  SparseMatrix point_velocities;   ///< J_v, virtual × own velocities: v_v = J_v v_o but for k⁻¹ times the impulse
  Index own = 0;                   ///< n of the problem

  Index virtual_nodes() const;
  /// 1/k of each row's virtual node, 0 where it has none: the compliance that virtual nodes add to the problem.
  Vector added_compliance(Index rows) const;
  /// J, rows × all velocities.
  SparseMatrix jacobian(Index rows) const;
};

struct NodalOptions {
  double virtual_gain = 0.0;  ///< k [kg]; 0: 0.3/w of the partner node, w that of frobenius_steps(); without one 3/w
                              ///< of the heaviest body
  bool ellipses = true;       ///< false: a contact with unequal tangents in D gets a virtual node
  /// First columns of the velocities' Cartesian triples. Without it a block is nodal only where all of its rows are.
  std::optional<std::vector<std::int64_t>> nodes = {};
};

/// What the problem lacks of a nodal form, if it has none: M and J, symmetry or a positive diagonal of M, one
/// compliance for both tangents of a contact.
std::optional<std::string> without_nodal_form(const ContactProblem& problem);
/// Why a solver that needs a nodal form does not take the problem; its flags come first.
std::optional<std::string> unsupported_by_nodes(const SolverInfo& info, const ContactProblem& problem);

/// (15). A node is in one block only: where (25) would not be diagonal, in a block's second use of a node, a virtual
/// node takes its place, as it does of all that is no node's. Where without_nodal_form() says nothing.
NodalForm nodalise(const ContactProblem& problem, const NodalOptions& options);

/// Where w_i must be equal for Γ to be diagonal (Proposition 3): of each block, `paired` over both of its nodes.
/// w = Σ a / Σ ‖A_i‖² there and a / ‖A_i‖² elsewhere: the minimum of ‖I − W A‖_F, whose formula before V-A2 lacks a
/// factor 2 and a square. `equilibrated`: in the norm of velocities times √a_ii, which does not add up m/s and rad/s.
Vector frobenius_steps(const NodalForm& form, bool pair, bool equilibrated = false);

}  // namespace conebench::cond
