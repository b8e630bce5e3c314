#pragma once

#include <tuple>
#include <vector>

#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"

namespace conebench::cascade {

/// Block Gauss–Seidel with NSGS's exact one-contact solution, in scaled coordinates. Where nothing has a second tangent
/// (2D contacts, limits) it streams 2×2 blocks.
class ContactSweep {
 public:
  explicit ContactSweep(const ScaledProblem& problem) : problem_(problem) { refresh(); }

  /// To be called when the problem's diagonal blocks have changed.
  void refresh();
  /// One sweep over all contacts. Returns ‖Δr‖/‖r‖.
  double sweep(Vector& r) const;

 private:
  template <int Dim>
  using Prepared = std::vector<gauss_seidel::CoulombBlock::Prepared<Dim>>;

  const ScaledProblem& problem_;
  gauss_seidel::CoulombBlock local_;
  std::tuple<Prepared<2>, Prepared<3>> prepared_;  ///< one of them
};

}  // namespace conebench::cascade
