#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "problems/contact_problem.hpp"
#include "problems/types.hpp"
#include "solvers/linear/multifrontal.hpp"

namespace conebench {

/// Factors A + shift I, A = S G S + R with G = J M⁻¹ Jᵀ and diagonals S and R, in the space of velocities, which is the
/// smaller one where contacts outnumber bodies. With W = S J and D = R + shift I (Woodbury)
///
///     (A + shift I)⁻¹ b = D⁻¹ (b − W K⁻¹ Wᵀ D⁻¹ b),   K = M + Wᵀ D⁻¹ W
class VelocitySpaceFactor {
 public:
  /// `scale`, `compliance`: the diagonals of S and R. Nothing where the problem has no primal form, or its G is not J
  /// M⁻¹ Jᵀ to twelve digits.
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
  VelocitySpaceFactor(const ContactProblem& problem, Vector scale, Vector compliance);
  bool represents_matrix() const;
  void find_pattern();
  void analyse();
  void assemble();
  template <class Visit>
  void each_block(const Visit& visit);

  ContactProblem problem_;
  Vector scale_, compliance_;
  struct MassEntry {
    std::int64_t place;
    double value;
  };
  // W block by block: the columns that a block's rows have, and its values, column by column.
  std::vector<std::int64_t> block_begin_, value_begin_;
  std::vector<int> columns_;
  std::vector<double> values_;
  MultifrontalFactor system_;         ///< K
  std::vector<std::int64_t> places_;  ///< in K of each block's pairs of columns, −1 where K has no entry
  std::vector<MassEntry> mass_;       ///< of the lower triangle of M's symmetric part
  std::vector<double> weighted_;      ///< a block of D^(-1/2) W
  std::vector<double> products_;      ///< of its pairs of columns, row by row
  Vector inverse_, root_;             ///< diagonals of D⁻¹ and of its square root
  Vector scaled_, velocities_;
};

}  // namespace conebench
