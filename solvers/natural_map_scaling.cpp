#include "solvers/natural_map_scaling.hpp"

#include <algorithm>
#include <cmath>

namespace conebench {

namespace {

bool usable(double inverse_step) { return inverse_step > 0.0 && std::isfinite(1.0 / inverse_step); }

/// Also where the squares leave the range.
double norm(ConstVectorRef x) {
  const double plain = x.norm();
  return plain > 1e-150 && plain < 1e150 ? plain : x.stableNorm();
}

}  // namespace

double natural_map_scaling(const ContactProblem& problem, VectorRef inverse_steps) {
  const BlockSparseMatrix& matrix = problem.blocks();
  double sum = 0.0;
  Index positive = 0;
  double velocity = 0.0;
  for (Index b = 0; b < matrix.block_rows(); ++b) {
    const Index row = matrix.block_offset(b);
    const int size = matrix.block_size(b);
    const double* own = matrix.block_values(matrix.diagonal(b));
    double trace = 0.0;
    for (int c = 0; c < size; ++c) trace += own[c * size + c] + problem.compliance()[row + c];
    inverse_steps[b] = trace / size;
    if (usable(inverse_steps[b])) {
      sum += inverse_steps[b];
      ++positive;
    }
    velocity = std::max(velocity, norm(problem.free_term().segment(row, size)));
  }
  const double mean = positive > 0 ? sum / static_cast<double>(positive) : 1.0;
  for (double& inverse : inverse_steps) inverse = usable(inverse) ? inverse : mean;
  return velocity > 0.0 ? velocity : 1.0;
}

}  // namespace conebench
