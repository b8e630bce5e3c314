#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "problems/contact_problem.hpp"

namespace conebench::testing {

/// P_K of one contact straight from the geometry of the cone, in scalars; shares no code with the library.
inline std::vector<double> coulomb_projection(const std::vector<double>& x, double mu) {
  const double normal = x.back();
  double tangential = 0.0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) tangential = std::hypot(tangential, x[i]);
  if (mu * tangential + normal <= 0.0) return std::vector<double>(x.size(), 0.0);
  if (tangential <= mu * normal) return x;
  // Along the generator (mu d, 1) of the cone under x.
  const double along = (mu * tangential + normal) / (1.0 + mu * mu);
  std::vector<double> result(x.size());
  for (std::size_t i = 0; i + 1 < x.size(); ++i) result[i] = along * mu * x[i] / tangential;
  result.back() = along;
  return result;
}

/// max_i ‖λ_i − P_{K_i}(λ_i − r_i v̂_i)‖ / (r_i V), r_i = d_i / trace(G_ii + R_ii) (trace ≤ 0: the inverse of the mean
/// of the others), V = max_i ‖g_i‖ (0: 1), from a dense G.
inline double scaled_natural_map(const ContactProblem& problem, const Vector& impulse) {
  const ConeProduct& cones = problem.cones();
  Matrix matrix = problem.delassus().dense();
  matrix.diagonal() += problem.compliance();
  const Vector sigma = matrix * impulse + problem.free_term();
  double scale = 0.0;
  double positive_sum = 0.0;
  double positive_count = 0.0;
  std::vector<double> mean_diagonal;
  for (Index b = 0; b < cones.blocks(); ++b) {
    const Index row = cones.block_row(b);
    const int size = cones.block_size(b);
    scale = std::max(scale, problem.free_term().segment(row, size).norm());
    mean_diagonal.push_back(matrix.diagonal().segment(row, size).sum() / size);
    if (mean_diagonal.back() > 0.0) {
      positive_sum += mean_diagonal.back();
      positive_count += 1.0;
    }
  }
  if (scale == 0.0) scale = 1.0;
  double worst = 0.0;
  for (Index b = 0; b < cones.blocks(); ++b) {
    const Index row = cones.block_row(b);
    const int size = cones.block_size(b);
    const double diagonal = mean_diagonal[static_cast<std::size_t>(b)];
    const double step = diagonal > 0.0 ? 1.0 / diagonal : (positive_count > 0.0 ? positive_count / positive_sum : 1.0);
    double square = 0.0;
    if (b < cones.joints()) {
      square = std::pow(step * sigma[row], 2);
    } else if (b < cones.joints() + cones.limits()) {
      square = std::pow(impulse[row] - std::max(0.0, impulse[row] - step * sigma[row]), 2);
    } else {
      const double mu = cones.friction()[static_cast<std::size_t>(b - cones.joints() - cones.limits())];
      std::vector<double> x(static_cast<std::size_t>(size));
      double slip = 0.0;
      for (int i = 0; i + 1 < size; ++i) slip = std::hypot(slip, sigma[row + i]);
      for (int i = 0; i < size; ++i) {
        const double velocity = sigma[row + i] + (i + 1 == size ? mu * slip : 0.0);
        x[static_cast<std::size_t>(i)] = impulse[row + i] - step * velocity;
      }
      const auto projected = coulomb_projection(x, mu);
      for (int i = 0; i < size; ++i) square += std::pow(impulse[row + i] - projected[static_cast<std::size_t>(i)], 2);
    }
    const double error = std::sqrt(square) / (step * scale);
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

}  // namespace conebench::testing
