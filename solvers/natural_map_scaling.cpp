#include "solvers/natural_map_scaling.hpp"

#include <algorithm>

namespace conebench {

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
    if (inverse_steps[b] > 0.0) {
      sum += inverse_steps[b];
      ++positive;
    }
    velocity = std::max(velocity, problem.free_term().segment(row, size).norm());
  }
  const double mean = positive > 0 ? sum / static_cast<double>(positive) : 1.0;
  for (double& inverse : inverse_steps) inverse = inverse > 0.0 ? inverse : mean;
  return velocity > 0.0 ? velocity : 1.0;
}

}  // namespace conebench
