#pragma once

#include <memory>
#include <span>
#include <vector>

#include "problems/types.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/cascade/sparse_lu.hpp"

namespace conebench::cascade {

/// The systems of BlockLu solved in the space of the bodies' velocities, which is smaller where contacts outnumber
/// bodies. With M, J and no joints G̃ = S M⁻¹ Sᵀ + E, and the matrix is A = D + L G̃ R = D′ + L S M⁻¹ Sᵀ R with
/// D′ = D + L E R, so that (Woodbury)
///
///     K y = Sᵀ R D′⁻¹ b,   K = M + Sᵀ B S,   B = R D′⁻¹ L,   z = D′⁻¹ (b − L S y)
///
/// D′ is block diagonal, K couples bodies that touch. D′ may be as small as the regularisation and then takes digits:
/// each solution is refined with A itself, once or twice. Velocities are taken three at a time, of a free body first
/// the linear and then the angular ones; M is filled up with the identity.
///
/// | symbol | here | shape | unit |
/// | --- | --- | --- | --- |
/// | M | mass_ | 3×3 blocks, n_v × n_v | as given |
/// | S = c P⁻¹ J | touches_ | 3×3 blocks, 3 n_c × n_v | √M's |
/// | E = c² P⁻² R, and 1 in embedded components | local_ | 3 n_c, diagonal | 1 |
class BodyLu {
 public:
  using Block = Eigen::Matrix3d;

  /// `problem` has a source().
  explicit BodyLu(const ScaledProblem& problem);

  /// Whether `problem`'s matrix is S M⁻¹ Sᵀ + E to eight digits.
  bool represents(const ScaledProblem& problem);

  enum class Singular { fails, perturbed };
  /// As BlockLu's. False where a block of D′ or a pivot of K is singular; then there are no factors, or those of a
  /// matrix that is perturbed there. L and R of what is left out are 0. `problem` is needed by solve(), too.
  bool factor(const ScaledProblem& problem, const BlockSystem& system, Singular singular);
  void solve(const Vector& right_side, Vector& solution);
  /// Operations of a factorization, with those that K takes before.
  double flops() const { return lu_.flops() + assembly_flops_; }
  /// Of its factors and of what stands beside them.
  double bytes() const;

 private:
  /// Blocks by rows, in no order within one.
  struct BlockRows {
    struct Entry {
      int column;
      Block value;
    };
    std::vector<std::size_t> begin{0};
    std::vector<Entry> entries;
    std::span<const Entry> row(std::size_t i) const {
      return std::span(entries).subspan(begin[i], begin[i + 1] - begin[i]);
    }
    /// Takes three rows of `matrix` times their weights into the last row of blocks, as component a of it each.
    void add(const Eigen::SparseMatrix<double, Eigen::RowMajor>& matrix, Index row, int a, double weight);
    /// Of the last row of blocks; 0 where it is new.
    Block& block(int column);
  };
  BlockMatrix matrix() const { return {row_begin_, columns_, values_.front().data()}; }
  int place(int row, int column) const;
  void solve_once(const Vector& right_side, Vector& solution);
  /// out = right_side − A z.
  void subtract_product(const Vector& right_side, const Vector& z, Vector& out);

  BlockRows mass_, touches_;
  Vector local_;
  std::vector<int> row_begin_, columns_;  ///< of K
  std::vector<Block> values_;
  std::vector<int> mass_place_, pair_place_;  ///< where in K each mass block and each pair of touches goes
  BlockSystem whole_;                         ///< K as it is
  SparseLu lu_;
  double assembly_flops_ = 0.0;

  const ScaledProblem* problem_ = nullptr;  ///< of the last factorization, as what follows
  BlockSystem system_;
  std::vector<Block> inverse_;  ///< D′⁻¹
  Vector velocities_, velocity_right_, scaled_, product_, correction_, rest_;
};

}  // namespace conebench::cascade
