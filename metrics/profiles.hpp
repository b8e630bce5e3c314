#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "metrics/cost_table.hpp"

namespace conebench {

/// A step function: y[k] on [x[k], x[k + 1]), 0 before x[0]. The x are finite and strictly ascending.
struct StepFunction {
  std::vector<double> x;
  std::vector<double> y;

  double operator()(double at) const;
};

/// Dolan and Moré, Math. Programming 91 (2002): rho_s(tau) = weight of the problems on which solver s costs at most tau
/// times the best. The best cost is over solved cells only. A problem that no solver solves stays in the denominator,
/// so that no curve reaches 1. A tie counts for all its solvers. If the best cost is 0, the ratio of a cost 0 is 1, and
/// that of a positive cost is infinite and counts in rho_infinity only. So raise counts that can be 0 to at least 1.
struct PerformanceProfile {
  std::vector<StepFunction> curves;  ///< one a solver, over tau ≥ 1
  std::vector<double> rho_one;       ///< share on which the solver is (one of) the cheapest
  std::vector<double> rho_infinity;  ///< share that the solver solves at all
  double unsolved = 0.0;             ///< share that nobody solves
};

/// `weights`: one a problem, normalised here; empty: all the same. Throws std::invalid_argument as solver_count() and
/// normalised_weights() do.
PerformanceProfile performance_profile(const CostTable& costs, std::span<const double> weights = {});

/// Moré and Wild, SIAM J. Optim. 20 (2009): d_s(kappa) = weight of the problems that solver s solves at a cost of at
/// most kappa times the problem's unit; a curve does not depend on the other solvers. `units`: one a problem (the cost
/// of one operator product, n_p + 1, …), positive; empty: 1, which makes kappa the cost itself.
std::vector<StepFunction> data_profile(const CostTable& costs, std::span<const double> units = {},
                                       std::span<const double> weights = {});

/// The profile of two solvers only. In a profile of more solvers the order of two may depend on a third (Gould and
/// Scott, ACM TOMS 43 (2016)).
struct PairProfile {
  std::size_t first = 0;
  std::size_t second = 0;
  PerformanceProfile profile;                                              ///< curves[0]: first, curves[1]: second
  std::size_t first_better = 0, ties = 0, second_better = 0, neither = 0;  ///< problems
};

/// Only the numbers of problems.
PairProfile pair_counts(const CostTable& costs, std::size_t first, std::size_t second);
PairProfile pair_profile(const CostTable& costs, std::size_t first, std::size_t second,
                         std::span<const double> weights = {});

}  // namespace conebench
