#pragma once

#include <memory>

#include "base/result.hpp"
#include "problems/block_sparse_matrix.hpp"
#include "problems/cone_product.hpp"
#include "problems/diagonal_blocks.hpp"
#include "problems/types.hpp"

namespace conebench {

enum class DelassusForm { dense, block_sparse, factored };

/// The Delassus matrix G (rows × rows, [m/s per N s]) behind the form in which it is known. G is used as given, also
/// where it is not symmetric. Immutable, so shared freely between problems.
class DelassusOperator {
 public:
  virtual ~DelassusOperator() = default;
  virtual DelassusForm form() const = 0;
  virtual Index size() const = 0;
  /// velocity = G impulse. The two must not overlap. No allocation on the thread that made the operator; the factored
  /// form allocates once on any other, and for every product where M is one piece and not symmetric.
  virtual void apply(ConstVectorRef impulse, VectorRef velocity) const = 0;
  /// The same, shared among threads where the form can be: no bit depends on their number.
  virtual void apply_by(Workers& /*workers*/, ConstVectorRef impulse, VectorRef velocity) const {
    apply(impulse, velocity);
  }
  /// Assembled over the blocks of `cones`, whose rows() must be size().
  virtual BlockSparseMatrix assemble(const ConeProduct& cones) const = 0;
  virtual Matrix dense() const = 0;
  /// The blocks G_ii alone.
  virtual DiagonalBlocks diagonal(const ConeProduct& cones) const { return DiagonalBlocks(assemble(cones)); }
  /// Whether assemble() takes time and memory in proportion to the entries of what is given; otherwise G may be a dense
  /// matrix behind a sparse M, and assemble() solves with M once a row.
  virtual bool assembles_sparsely() const { return true; }
};

/// Dense G, size × size. Throws std::invalid_argument where it is not square.
std::shared_ptr<const DelassusOperator> make_dense_delassus(Matrix matrix);

std::shared_ptr<const DelassusOperator> make_block_sparse_delassus(BlockSparseMatrix matrix);

/// G = J M⁻¹ Jᵀ with M factored once (sparse L D Lᵀ; LU where M is not symmetric positive definite). Where M falls
/// apart in small blocks, M⁻¹ Jᵀ is kept too; else a product solves with M. J: rows × n_v, M: n_v × n_v, either may
/// have no rows. Errors (bad_input): sizes that don't match, entries that are not finite, M singular to working
/// precision whatever the units of its rows.
Result<std::shared_ptr<const DelassusOperator>> make_factored_delassus(const SparseMatrix& mass,
                                                                       const SparseMatrix& jacobian);

}  // namespace conebench
