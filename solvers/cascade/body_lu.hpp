#pragma once

#include <memory>
#include <vector>

#include "problems/types.hpp"
#include "solvers/cascade/scaled_bodies.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/cascade/sparse_lu.hpp"

namespace conebench::cascade {

/// The systems of BlockLu solved in the space of the bodies' velocities, which is smaller where contacts outnumber
/// bodies. With G̃ = S M⁻¹ Sᵀ + E the matrix is A = D + L G̃ R = D′ + L S M⁻¹ Sᵀ R, D′ = D + L E R, so that (Woodbury)
///
///     K y = Sᵀ R D′⁻¹ b,   K = M + Sᵀ B S,   B = R D′⁻¹ L,   z = D′⁻¹ (b − L S y)
///
/// D′ is block diagonal, K couples bodies that touch. D′ may be as small as the regularisation and then takes digits:
/// each solution is refined with A itself, once or twice.
class BodyLu {
 public:
  using Block = Eigen::Matrix3d;

  explicit BodyLu(std::shared_ptr<const ScaledBodies> bodies);

  /// Whether `problem`'s matrix is S M⁻¹ Sᵀ + E to eight digits.
  bool represents(const ScaledProblem& problem);

  enum class Singular { fails, perturbed };
  /// As BlockLu's. False where a block of D′ or a pivot of K is singular; then there are no factors, or those of a
  /// matrix that is perturbed there.
  bool factor(const ScaledProblem& problem, const std::vector<Block>& left, const std::vector<Block>& right,
              const std::vector<Block>& diagonal, const std::vector<char>& dropped, Singular singular);
  void solve(const Vector& right_side, Vector& solution);
  /// Operations of a factorization, with those that K takes before.
  double flops() const { return system_.lu.flops() + assembly_flops_; }
  double bytes() const { return mass_.lu.bytes() + system_.lu.bytes(); }
  const std::shared_ptr<const ScaledBodies>& bodies() const { return bodies_; }

 private:
  /// A block matrix of velocities with its LU, which nothing scales.
  struct Velocities {
    std::vector<int> row_begin, columns;
    std::vector<Block> values;
    SparseLu lu;

    /// Takes the pattern, row by row, and empties the values.
    void analyse(std::vector<std::vector<int>> neighbours);
    int place(int row, int column) const;
    BlockMatrix matrix() const { return {row_begin, columns, values.empty() ? nullptr : values.front().data()}; }
  };
  bool factor_velocities(Velocities& of) { return of.lu.factor(of.matrix(), identity_, identity_, zero_, nothing_); }

  /// velocity_right_ = Sᵀ x.
  void push(const Vector& x);
  /// out = S velocities_.
  void pull(Vector& out) const;
  void solve_once(const Vector& right_side, Vector& solution);
  /// out = (S M⁻¹ Sᵀ + E) x.
  void multiply_bodies(const Vector& x, double shift, Vector& out);
  /// out = A z.
  void multiply(const Vector& z, Vector& out);

  std::shared_ptr<const ScaledBodies> bodies_;
  Velocities mass_, system_;                  ///< M; K
  std::vector<int> mass_place_, pair_place_;  ///< where in K each mass block and each pair of touches goes
  std::vector<Block> identity_, zero_;
  std::vector<char> nothing_;
  double assembly_flops_ = 0.0;

  double shift_ = 0.0;
  std::vector<Block> left_, right_, diagonal_, inverse_;  ///< of the last factorization; D′⁻¹
  std::vector<char> dropped_;
  Vector velocities_, velocity_right_, pushed_, scaled_, product_, correction_, rest_;
};

}  // namespace conebench::cascade
