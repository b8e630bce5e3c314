#pragma once

#include <cmath>
#include <vector>

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

}  // namespace conebench::testing
