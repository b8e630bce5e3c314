#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "problems/contact_problem.hpp"
#include "solvers/siconos/library.hpp"

namespace conebench::siconos {

enum class Storage { block, sparse, dense };
/// given: the caller's; free: velocities over the largest of |g|, M over the mean of its diagonal.
enum class Units { given, free };

/// The problem in Siconos' terms: M = G + R, q = g, reaction = λ, velocity = σ, with the same signs; contacts only, the
/// normal component first.
class ProblemCopy {
 public:
  ProblemCopy(const Library& library, const ContactProblem& problem, Storage storage, Units units);
  ~ProblemCopy();
  ProblemCopy(const ProblemCopy&) = delete;
  ProblemCopy& operator=(const ProblemCopy&) = delete;

  FrictionContactProblem& problem() { return problem_; }
  /// The same with rolling friction.
  RollingFrictionContactProblem& rolling_problem() { return rolling_problem_; }
  Index rows() const { return static_cast<Index>(free_term_.size()); }
  int dimension() const { return problem_.dimension; }
  /// Writes M and q once more: the proximal method adds to them and takes off again, not to the bit.
  void restore();

  double impulse_unit() const { return impulse_unit_; }
  double velocity_unit() const { return velocity_unit_; }
  /// Between (t1, t2, n) and (n, t1, t2), (t, n) and (n, t), or (t1, t2, n, m1, m2) and (n, t1, t2, m1, m2);
  /// theirs = values / unit, and impulses back.
  void to_siconos(ConstVectorRef values, std::vector<double>& theirs, double unit) const;
  void from_siconos(const std::vector<double>& theirs, VectorRef impulse) const;

 private:
  void make_block();
  void make_sparse();
  void make_dense();
  /// A value of block `position` of the kept blocks, in Siconos' order.
  double* values(Index position) { return values_.data() + block_size_ * static_cast<std::size_t>(position); }

  const Library& library_;
  Storage storage_;
  std::size_t block_size_;
  int normal_;  ///< our index of a contact's normal
  /// Our index of a component of theirs.
  int ours(int component) const {
    if (component == 0) return normal_;
    return component <= normal_ ? component - 1 : component;
  }
  void set_units(const ContactProblem& problem);

  double impulse_unit_ = 1.0, velocity_unit_ = 1.0;
  std::vector<double> values_;       ///< blocks by rows of blocks, each column by column: what Siconos works on
  std::vector<double> kept_values_;  ///< as given
  std::vector<double> kept_free_term_;
  std::vector<double> free_term_, friction_, rolling_friction_;
  std::vector<std::size_t> row_begin_, columns_;

  // Of the block form; the matrix borrows them.
  SparseBlockStructuredMatrix blocks_{};
  std::vector<double*> block_pointers_;
  using BlockEnd = std::remove_pointer_t<decltype(SparseBlockStructuredMatrix::blocksize0)>;  ///< by its version
  std::vector<BlockEnd> block_ends_;

  NumericsMatrix* matrix_ = nullptr;
  FrictionContactProblem problem_{};
  RollingFrictionContactProblem rolling_problem_{};
};

}  // namespace conebench::siconos
