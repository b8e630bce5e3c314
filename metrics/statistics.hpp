#pragma once

#include <cstddef>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "metrics/cost_table.hpp"

namespace conebench {

/// All return nullopt for an empty sample.
std::optional<double> mean(std::span<const double> values);
/// The mean of the two middle values where their number is even.
std::optional<double> median(std::span<const double> values);
/// The value at the share p of the sorted values, 0 ≤ p ≤ 1, linear between two of them (type 7 of Hyndman, Fan 1996).
std::optional<double> quantile(std::span<const double> values, double p);
/// Median of |x − median(x)|, not scaled by 1.4826.
std::optional<double> median_absolute_deviation(std::span<const double> values);
/// √(Σ (x − mean)² / (n − 1)); nothing for fewer than two values.
std::optional<double> sample_deviation(std::span<const double> values);

/// The mean without the ⌊share · n⌋ smallest and as many of the largest values; 0 ≤ share < 0.5.
std::optional<double> trimmed_mean(std::span<const double> values, double share);
/// Φ⁻¹(p), the value below which a standard normal variable stays with probability p, 0 < p < 1; to 1e-13.
/// Throws std::invalid_argument for another p.
double normal_quantile(double p);

/// Uniform on [0, bound), the same on every standard library (uniform_int_distribution is not).
std::size_t draw_below(std::mt19937_64& engine, std::size_t bound);

/// exp(Σ w log x), 0 where a value with a positive weight is 0. `weights`: one a value, normalised here; empty: all the
/// same. Throws std::invalid_argument for a negative value.
std::optional<double> geometric_mean(std::span<const double> values, std::span<const double> weights = {});
/// exp(Σ w log(x + shift)) − shift, shift ≥ 0 in the values' unit: differences far below the shift count little.
std::optional<double> shifted_geometric_mean(std::span<const double> values, double shift,
                                             std::span<const double> weights = {});

/// How a failed cell counts in a mean over problems. Leaving failures out would reward them.
enum class FailureMode {
  at_limit,       ///< the problem's limit
  penalised,      ///< a factor times the limit
  common_subset,  ///< problems outside common_subset() are left out for all solvers
};

struct MeanOptions {
  FailureMode mode = FailureMode::at_limit;
  double shift = 1e-3;
  double penalty_factor = 10.0;       ///< for `penalised`
  double minimum_solved_share = 0.0;  ///< for `common_subset`: its minimum_share
};

struct ShiftedMean {
  std::optional<double> value;  ///< nullopt: no problem counts, or the solver failed on one of the common subset
  std::size_t problems = 0;     ///< that count
  std::size_t failures = 0;     ///< of this solver on these problems
};

/// One a solver. `limits`: the cost at which a solve of the problem is cut off, one a problem (not read for
/// common_subset). Weights as in geometric_mean, one a problem. Throws std::invalid_argument for sizes that differ.
std::vector<ShiftedMean> shifted_means(const CostTable& costs, std::span<const double> limits,
                                       const MeanOptions& options, std::span<const double> weights = {});

}  // namespace conebench
