#pragma once

#include <memory>

#include "base/result.hpp"
#include "problems/types.hpp"

namespace conebench {

/// M factored once, for M⁻¹ f: sparse Cholesky where M is symmetric positive definite, LU otherwise. Not FactoredMass,
/// so that the last digits of v_free, and with them the hashes of files, stay those that they were.
class MassFactor {
 public:
  /// Errors (bad_input): M singular to rounding.
  static Result<MassFactor> create(const SparseMatrix& mass);

  Vector solve(const Vector& right_side) const;
  SparseMatrix solve(const SparseMatrix& right_side) const;

 private:
  struct State;
  explicit MassFactor(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// Upper bound on the entries of M⁻¹ Jᵀ, with J (rows × n_v) given as its transpose: a column fills at most the
/// connected parts of M that it touches. Bodies apart make it small, an elastic body makes it dense.
double entries_of_solution(const SparseMatrix& mass, const SparseMatrix& jacobian_transposed);

}  // namespace conebench
