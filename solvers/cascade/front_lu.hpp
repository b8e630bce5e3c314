#pragma once

#include <cstdint>
#include <vector>

#include "problems/types.hpp"
#include "solvers/cascade/block_matrix.hpp"
#include "solvers/linear/elimination_fronts.hpp"

namespace conebench::cascade {

/// The multifrontal counterpart of SparseLu's kernel for factors that fill: contacts that share the rows below them are
/// eliminated together in one dense matrix (Duff, Reid 1983), by Eigen's LU with partial pivoting among them,
/// triangular solves and one product.
///
/// A front holds only those components of its contacts that are unknown, at most three (in 2D two). So SSN's open and
/// slipping contacts, with none and two (in 2D one), make every dense matrix smaller.
class FrontLu {
 public:
  using Block = Eigen::Matrix3d;

  /// Takes the fronts of `matrix`'s graph, in contacts.
  FrontLu(const BlockMatrix& matrix, EliminationFronts fronts);

  /// As SparseLu's.
  bool factor(const BlockMatrix& matrix, const std::vector<Block>& left, const std::vector<Block>& right,
              const std::vector<Block>& diagonal, const std::vector<char>& left_out);
  void solve(const Vector& right_side, Vector& solution);
  int determinant_sign() const { return determinant_sign_; }
  /// Operations with nothing left out, zeros of merged fronts included.
  static double flops(const EliminationFronts& fronts, int dimension);
  /// What the factors and the stack of updates take at most.
  static double bytes(const EliminationFronts& fronts, int dimension);

 private:
  /// A stored block of G in the front that eliminates its earlier contact; places within the front.
  struct Entry {
    int block, row_place, column_place;
  };
  /// A front's part of the factors: its unknowns, pivots first, as indices into work_; L and the pivots' U in `rows`
  /// columns of `pivots`; the U beyond.
  struct Step {
    int pivots = 0;
    int rows = 0;
    std::size_t row_begin = 0, value_begin = 0;
  };

  /// Sizes the dense matrix of front f; tells the place of each of its contacts in offsets_.
  Step begin_step(const EliminationFront& front);
  void assemble(std::size_t f, const Step& step, const BlockMatrix& matrix, const std::vector<Block>& left,
                const std::vector<Block>& right, const std::vector<Block>& diagonal, double* schur);
  void add_child(std::size_t child, const Step& parent, const double* update, double* schur);
  bool eliminate(const Step& step, double* schur);
  int contact_at(const EliminationFront& front, int place) const {
    return place < front.pivots ? front.first_pivot + place
                                : fronts_.row_list[static_cast<std::size_t>(front.row_begin + place - front.pivots)];
  }

  EliminationFronts fronts_;
  std::vector<Entry> entries_;
  std::vector<int> entry_begin_;
  std::vector<char> left_out_;  ///< by new contact
  std::vector<int> offsets_;    ///< by place in the present front
  std::vector<Step> steps_;
  std::vector<int> rows_;          ///< of all steps: 3 new contact + component
  std::vector<int> interchanges_;  ///< of all pivots: the pivot row that came to this place
  Vector values_, stack_;          ///< aligned, so that sums repeat; not cleared: what is never touched takes no memory
  std::vector<std::size_t> waiting_;  ///< fronts whose updates are on the stack
  Vector work_, front_work_, permuted_;
  int determinant_sign_ = 1;
};

}  // namespace conebench::cascade
