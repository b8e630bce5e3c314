#pragma once

#include <vector>

#include "solvers/cascade/scaled_problem.hpp"
#include "solvers/gauss_seidel/coulomb_block.hpp"

namespace conebench::cascade {

/// Block Gauss–Seidel with NSGS's exact one-contact solution, in scaled coordinates.
class ContactSweep {
 public:
  explicit ContactSweep(const ScaledProblem& problem);

  /// One sweep over all contacts. Returns ‖Δr‖/‖r‖.
  double sweep(Vector& r) const;

 private:
  const ScaledProblem& problem_;
  gauss_seidel::CoulombBlock local_;
  std::vector<gauss_seidel::CoulombBlock::Prepared<3>> prepared_;
};

}  // namespace conebench::cascade
