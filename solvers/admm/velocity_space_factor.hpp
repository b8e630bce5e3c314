#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "problems/contact_problem.hpp"
#include "problems/linear/shifted_factor.hpp"
#include "problems/types.hpp"

namespace conebench {

/// Factors A + shift I, A = S G S + R with G = J M⁻¹ Jᵀ and diagonals S and R, in the space of velocities, which is the
/// smaller one where contacts outnumber bodies. With W = S J and D = R + shift I (Woodbury)
///
///     (A + shift I)⁻¹ b = D⁻¹ (b − W K⁻¹ Wᵀ D⁻¹ b),   K = M + Wᵀ D⁻¹ W
class VelocitySpaceFactor {
 public:
  /// `scale`, `compliance`: the diagonals of S and R. Nothing where the problem has no primal form, or its G is not J
  /// M⁻¹ Jᵀ to ten digits.
  static std::optional<VelocitySpaceFactor> create(const ContactProblem& problem, const Vector& scale,
                                                   const Vector& compliance);

  /// False where D is so small beside A that solutions lose more than six digits (one solution is tried and multiplied
  /// back), or not positive. Allocates.
  bool factor(double shift);
  /// x = (A + shift I)⁻¹ b by the last factors, which must have succeeded. x may be b.
  void solve(const Vector& b, Vector& x);
  /// Of a solution.
  double multiplications() const;

 private:
  VelocitySpaceFactor(const ContactProblem& problem, const Vector& scale, const Vector& compliance);
  void find_places();
  void assemble();

  ContactProblem problem_;
  Vector scale_, compliance_;
  Eigen::SparseMatrix<double, Eigen::RowMajor> rows_;  ///< W
  ShiftedFactor system_;                               ///< K
  std::vector<double> mass_;                           ///< M, as K stores it
  std::vector<std::int64_t> places_;                   ///< in K of the pairs of a row's entries
  std::vector<std::size_t> place_begin_;               ///< by rows of W; those with the same columns share theirs
  Vector inverse_;                                     ///< diagonal of D⁻¹
  Vector scaled_, velocities_;
};

}  // namespace conebench
