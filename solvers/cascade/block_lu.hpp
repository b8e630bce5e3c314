#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "problems/linear/elimination.hpp"
#include "problems/types.hpp"
#include "solvers/cascade/linear_solver.hpp"
#include "solvers/cascade/scaled_problem.hpp"

namespace conebench::cascade {

/// What is made of a ScaledProblem's G̃ to be factored: block (i, j) is left[i] G̃_ij right[j], plus diagonal[i] where
/// i = j. Contacts that are left out act as rows of the identity. In the plane the second tangent is kept to the second
/// unknown of every contact, which couples with nothing and is 0 on the right side.
struct BlockSystem {
  using Block = Eigen::Matrix3d;
  std::vector<Block> left, right, diagonal;
  std::vector<char> left_out;

  /// diagonal[i] = d I beside G̃ itself.
  explicit BlockSystem(int contacts, double d = 0.0)
      : left(static_cast<std::size_t>(contacts), Block::Identity()),
        right(left),
        diagonal(left.size(), d * Block::Identity()),
        left_out(left.size(), false) {}
};

/// LU of all systems that share the symmetric pattern of one problem's blocks: one symbolic analysis, then as many
/// numeric factorizations as wanted. Contacts that are left out cost nothing.
///
/// The order is approximate minimum degree on the graph of G ∪ Gᵀ, the given one for few contacts, and nested
/// dissection where that would take more than tuned.dissected_above operations and this fewer.
class BlockLu final : public LinearSolver {
 public:
  /// Counts what `problem`'s pattern fills; the rest of the analysis waits for the first factorization. Factors of more
  /// than `max_bytes` are never made.
  explicit BlockLu(const ScaledProblem& problem, double max_bytes = std::numeric_limits<double>::infinity());

  /// Factors `system` with the values of `problem`, which has the analysed pattern. False where a pivot block was
  /// singular and had to be perturbed, and where the factors would take more than they may: solutions are then zero.
  bool factor(const ScaledProblem& problem, const BlockSystem& system) override;

  void solve(const Vector& right_side, Vector& solution) override;

  /// Floating-point operations of one numeric factorization with nothing left out.
  double flops() const { return flops_; }
  /// What the factors take, their indices and work space included.
  double bytes() const { return bytes_; }
  /// Whether they may be made.
  bool fits() const { return bytes_ <= max_bytes_; }

  /// L and U by rows.
  struct Factors {
    virtual ~Factors() = default;
    virtual bool factor(const ScaledProblem& problem, const BlockSystem& system) = 0;
    virtual void solve(const Vector& right_side, Vector& solution) = 0;
  };

 private:
  Elimination elimination_;  ///< empty once there are factors
  std::unique_ptr<Factors> factors_;
  double flops_, bytes_, max_bytes_;
};

}  // namespace conebench::cascade
