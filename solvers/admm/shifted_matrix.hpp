#pragma once

#include <memory>
#include <string>

#include "problems/block_sparse_matrix.hpp"
#include "problems/types.hpp"

namespace conebench {

/// How A + shift I is held and factored.
struct FactorizationOptions {
  std::string storage = "auto";            ///< auto | dense | sparse
  std::string factorization = "cholesky";  ///< cholesky (needs symmetry) | lu
};

/// A = diag(scale) G diag(scale) + diag(compliance), and the factors of A + shift I for a changing shift.
///
/// With Cholesky, A holds the symmetric part of G. Buffers are made at construction; only `factor` may allocate.
class ShiftedMatrix {
 public:
  virtual ~ShiftedMatrix() = default;
  virtual Index rows() const = 0;
  /// y = A x. The two must not overlap. No allocation.
  virtual void apply(const Vector& x, Vector& y) const = 0;
  /// Factors A + shift I. False where that is not positive definite (Cholesky) or is singular (LU).
  virtual bool factor(double shift) = 0;
  /// x = (A + shift I)⁻¹ b with the last factors. The two must not overlap. No allocation.
  virtual void solve(const Vector& b, Vector& x) const = 0;
};

/// `scale` and `compliance`: rows() long. The sparse forms order the blocks so as to keep the factors sparse (AMD),
/// once; `auto` takes the form whose factorization is estimated to be cheaper.
std::unique_ptr<ShiftedMatrix> make_shifted_matrix(const BlockSparseMatrix& matrix, const Vector& scale,
                                                   const Vector& compliance, const FactorizationOptions& options);

}  // namespace conebench
