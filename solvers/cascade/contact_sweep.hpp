#pragma once

#include <vector>

#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"

namespace conebench::cascade {

/// Block Gauss–Seidel with NSGS's exact one-contact solution, in scaled coordinates. Where nothing has a second tangent
/// (2D contacts, limits) it streams 2×2 blocks.
class ContactSweep {
 public:
  explicit ContactSweep(const ScaledProblem& problem);

  /// To be called when the problem's diagonal blocks have changed.
  void refresh();
  /// One sweep over all contacts. Returns ‖Δr‖/‖r‖.
  double sweep(Vector& r) const;

 private:
  template <int Dim, class Blocks>
  double sweep_in(const Blocks& prepared, Vector& r) const;

  const ScaledProblem& problem_;
  gauss_seidel::CoulombBlock local_;
  std::vector<gauss_seidel::CoulombBlock::Prepared<3>> prepared_;
  std::vector<gauss_seidel::CoulombBlock::Prepared<2>> prepared_in_plane_;
};

}  // namespace conebench::cascade
