#pragma once

#include <optional>
#include <vector>

#include "problems/block_sparse_matrix.hpp"
#include "problems/cone_product.hpp"
#include "problems/types.hpp"

namespace conebench::newton {

/// A product of intervals [l, u] and disks (balls of any dimension), block by block.
struct ConvexSet {
  std::vector<std::optional<Interval>> bounds;  ///< nothing: a disk
  std::vector<double> radii;                    ///< ≥ 0, of the disks

  /// P onto the set of block i, in place.
  void project(std::size_t i, Eigen::Ref<Vector> x) const;
};

/// min over x in C of ½ xᵀ A x + qᵀ x, A = G' + R' some rows and columns of G + R: the normal and the tangential
/// problem of staggered projections. A stays; q and the disks' radii change from call to call.
class ConvexQp {
 public:
  ConvexQp() = default;
  /// `blocks` names the block structure of the chosen `rows` of `matrix`; `bounds` one a block, nothing for a disk.
  ConvexQp(const BlockSparseMatrix& matrix, const Vector& compliance, const std::vector<Index>& rows,
           const ConeProduct& blocks, std::vector<std::optional<Interval>> bounds);

  Index rows() const { return matrix_.rows(); }
  const BlockSparseMatrix& matrix() const { return matrix_; }
  const Vector& compliance() const { return compliance_; }
  ConvexSet& set() { return set_; }
  const ConvexSet& set() const { return set_; }
  /// r_i of block i: d / trace of its diagonal block.
  double step(Index block) const { return steps_[static_cast<std::size_t>(block)]; }

  /// out = A x.
  void multiply(const Vector& x, Vector& out) const;
  /// max_i ‖x_i − P(x_i − r_i w_i)‖ / r_i with w = A x + q [m/s]; NaN survives.
  double residual(const Vector& x, const Vector& w) const;

  void gather(const Vector& full, Vector& part) const;
  void scatter(const Vector& part, Vector& full) const;

 private:
  std::vector<Index> rows_;
  BlockSparseMatrix matrix_;
  Vector compliance_;
  ConvexSet set_;
  std::vector<double> steps_;
};

}  // namespace conebench::newton
