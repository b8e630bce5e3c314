#pragma once

#include <memory>

#include "problems/types.hpp"
#include "solvers/cascade/block_matrix.hpp"
#include "solvers/linear/elimination.hpp"

namespace conebench::cascade {

/// LU of matrices of blocks that share one symmetric pattern: one symbolic analysis, then as many numeric
/// factorizations as wanted. Contacts of which everything is left out cost nothing.
///
/// The order is approximate minimum degree on the graph of G ∪ Gᵀ or, where that one's factors are large and METIS's
/// are smaller, nested dissection.
class SparseLu {
 public:
  /// Counts what `matrix`'s pattern fills; the rest of the analysis waits for the first factorization.
  void analyse(const BlockMatrix& matrix);

  /// Factors `system` with the values of `matrix`, which has the analysed pattern. False where a pivot block was
  /// singular and had to be perturbed.
  bool factor(const BlockMatrix& matrix, const BlockSystem& system);

  /// solution = A⁻¹ right_side; the right side itself in contacts that are left out, 0 in single components.
  void solve(const Vector& right_side, Vector& solution) { factors_->solve(right_side, solution); }

  /// Floating-point operations of one numeric factorization with nothing left out; an estimate before the first.
  double flops() const { return flops_; }
  /// What the factors take, their indices and work space included, once there are any.
  double bytes() const { return bytes_; }

  /// L and U by rows.
  struct Factors {
    virtual ~Factors() = default;
    virtual bool factor(const BlockMatrix& matrix, const BlockSystem& system) = 0;
    virtual void solve(const Vector& right_side, Vector& solution) = 0;
  };

 private:
  void estimate();
  void dissect(const BlockGraph& graph);

  int dimension_ = 3;
  double stored_ = 0.0;  ///< blocks of the matrix
  bool dissected_ = false;
  Elimination elimination_;  ///< empty once there are factors
  std::unique_ptr<Factors> factors_;
  double flops_ = 0.0;
  double bytes_ = 0.0;
};

}  // namespace conebench::cascade
