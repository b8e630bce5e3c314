#pragma once

#include <cstdint>
#include <vector>

#include "problems/block_sparse_matrix.hpp"
#include "problems/types.hpp"

namespace conebench {

class Workers;

enum class Factorization { cholesky, lu };

/// Factors A + shift I for one matrix A = diag(scale) G diag(scale) + diag(compliance) and many shifts: a supernodal
/// Cholesky or LU without pivoting, in an order (AMD on the graph of blocks) and on a pattern found once.
///
/// Cholesky takes the symmetric part of G. LU takes G as given; with a positive definite symmetric part every pivot is
/// positive and no pivoting is needed. Nothing is allocated after the first factor().
class ShiftedFactor {
 public:
  ShiftedFactor() = default;
  /// `scale`, `compliance`: rows() of `matrix` long.
  ShiftedFactor(const BlockSparseMatrix& matrix, const Vector& scale, const Vector& compliance,
                Factorization factorization);

  /// False where a pivot is not positive: A + shift I is singular or indefinite to rounding. `workers`: share the work
  /// of large panels; no bit depends on their number. Null: none.
  bool factor(double shift, Workers* workers = nullptr);
  /// Factors A in its own place, for good: factor() may not follow. False where a pivot is not above `min_share` of
  /// its diagonal entry.
  bool factor_once(double min_share);

  /// What a solution works with; nothing is allocated where it comes from one of this size.
  struct Workspace {
    Vector rows;  ///< zero between solutions
    Vector panel;
  };
  /// x = (A + shift I)⁻¹ b by the last factors, which must have succeeded. x may be b.
  void solve(ConstVectorRef b, VectorRef x, Workspace& work) const;
  void solve(const Vector& b, Vector& x) { solve(b, x, work_); }
  /// gram (count × count) = Bᵀ (A + shift I)⁻¹ B for the columns B = columns[first … first + count − 1], by forward
  /// solutions alone, and those only along the paths of the elimination tree from B's rows to its root. For Cholesky
  /// with a shift of 0.
  void gram(const SparseMatrix& columns, Index first, int count, double* gram, Workspace& work) const;

  Index rows() const { return static_cast<Index>(old_row_.size()); }
  Index panels() const { return static_cast<Index>(panels_.size()); }
  /// Values that hold L; a solution by Cholesky multiplies by each twice.
  std::int64_t panel_values() const { return panel_values_; }
  /// Whether the last factor() inverted the panel with the pivot of `row` as a whole, or refused it meanwhile.
  bool inverted(Index row) const {
    const auto index = static_cast<std::size_t>(new_row_[static_cast<std::size_t>(row)]);
    return panels_[static_cast<std::size_t>(panel_of_[index])].inverted;
  }

 private:
  /// Neighbouring columns of L that are eliminated together, in a dense matrix of `lead` × `pivots`: the pivots' rows
  /// come first, and zeros last.
  struct Panel {
    int first = 0;  ///< new row of the first pivot
    int pivots = 0;
    int rows = 0;
    int lead = 0;                  ///< rows, rounded up
    std::int64_t row_begin = 0;    ///< in rows_
    std::int64_t value_begin = 0;  ///< column by column, in original_ and values_
    bool inverted = false;         ///< it holds its inverse, by the last factor()
  };
  void analyse(const BlockSparseMatrix& matrix);
  void assemble(const BlockSparseMatrix& matrix, const Vector& scale, const Vector& compliance);
  /// Of the entry at new row i in the panel column of new row j ≤ i.
  std::int64_t offset(int i, int j) const;
  bool eliminate_panels(double shift, double min_share, Workers* workers);
  bool eliminate_pivots(const Panel& panel, double shift, double min_share, Workers* workers);
  void update_later(const Panel& panel, int side, Workers* workers);
  /// What one thread works with.
  struct Scratch {
    Vector factors, panel;
  };
  void update_later(const Panel& panel, int side, int column, Scratch& scratch);
  double* values(const Panel& panel, int side) { return values_.data() + side * panel_values_ + panel.value_begin; }
  const double* values(const Panel& panel, int side) const {
    return values_.data() + side * panel_values_ + panel.value_begin;
  }
  void make(Workspace& work) const;
  /// Of work.rows: the panel's pivots solved, what that leaves of the rows below added to these.
  void forward(const Panel& panel, Workspace& work) const;

  int sides_ = 1;  ///< 1: L alone. 2: L, and from panel_values_ on U transposed, both with the diagonal
  std::vector<int> old_row_, new_row_, panel_of_;  ///< by new row; by old row; by new row
  std::vector<Panel> panels_;
  std::int64_t panel_values_ = 0;
  std::vector<int> rows_;       ///< new rows of each panel, ascending
  std::vector<int> positions_;  ///< of the rows that a panel shares with a later one, in that one
  /// Of rows below a panel's pivots, as rows_: the first of the same later panel, and where its positions_ begin.
  std::vector<int> first_of_later_;
  std::vector<std::int64_t> positions_of_later_;
  Vector values_, original_;  ///< what is above the diagonal is not read; the originals are those of A
  Workspace work_;
  std::vector<Scratch> scratch_;  ///< one a thread
  Vector diagonal_;               ///< of A, by new row
};

}  // namespace conebench
