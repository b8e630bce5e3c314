#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "metrics/cost_table.hpp"

namespace conebench {

/// A step function that rises from 0: y[k] holds from x[k] (included) up to x[k + 1]; 0 before x[0]. The x ascend
/// strictly and are finite.
struct StepFunction {
  std::vector<double> x;
  std::vector<double> y;

  double operator()(double at) const;
};

/// Dolan and Moré, Math. Programming 91 (2002): rho_s(tau) = weight of the problems on which solver s costs at most tau
/// times the best. The best of a problem is taken over its solved cells only; a problem that nobody solves stays in the
/// denominator, so that no curve reaches 1; ties count for all who tie. Against a best cost of 0 another 0 has the
/// ratio 1, and a positive cost an infinite one, which only rho_infinity counts: floor counts that can be 0 at 1.
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

/// Two solvers alone. With more than two in one profile the order of two of them may depend on a third (Gould and
/// Scott, ACM TOMS 43 (2016)), so these stand beside it.
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
