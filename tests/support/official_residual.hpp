#pragma once

#include "metrics/residuals.hpp"

namespace conebench::testing {

/// The judge's natural_map_scaled of an answer.
inline double official_residual(const ContactProblem& problem, const Vector& impulse) {
  return judge(problem, impulse)["natural_map_scaled"].value;
}

}  // namespace conebench::testing
