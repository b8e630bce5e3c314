#include "problems/scaled_natural_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/scaled_rows.hpp"

namespace conebench {

namespace {

bool usable(double inverse_step) { return inverse_step > 0.0 && std::isfinite(1.0 / inverse_step); }

/// Also where the squares leave the range.
double norm(ConstVectorRef x) {
  const double plain = x.norm();
  return plain > 1e-150 && plain < 1e150 ? plain : x.stableNorm();
}

/// `row_of`, `size_of`, `values_of`: of the diagonal block of a number.
template <class RowOf, class SizeOf, class ValuesOf>
void mean_diagonals_of(Index blocks, RowOf row_of, SizeOf size_of, ValuesOf values_of, ConstVectorRef compliance,
                       VectorRef inverse_steps) {
  double sum = 0.0;
  Index positive = 0;
  for (Index b = 0; b < blocks; ++b) {
    const Index row = row_of(b);
    const int size = size_of(b);
    const double* own = values_of(b);
    double trace = 0.0;
    for (int c = 0; c < size; ++c) trace += own[c * size + c] + compliance[row + c];
    inverse_steps[b] = trace / size;
    if (usable(inverse_steps[b])) {
      sum += inverse_steps[b];
      ++positive;
    }
  }
  const double mean = positive > 0 ? sum / static_cast<double>(positive) : 1.0;
  for (double& inverse : inverse_steps) inverse = usable(inverse) ? inverse : mean;
}

}  // namespace

void mean_diagonals(const BlockSparseMatrix& matrix, ConstVectorRef compliance, VectorRef inverse_steps) {
  mean_diagonals_of(
      matrix.block_rows(), [&](Index b) { return matrix.block_offset(b); },
      [&](Index b) { return matrix.block_size(b); }, [&](Index b) { return matrix.block_values(matrix.diagonal(b)); },
      compliance, inverse_steps);
}

void mean_diagonals(const DiagonalBlocks& blocks, ConstVectorRef compliance, VectorRef inverse_steps) {
  mean_diagonals_of(
      blocks.count(), [&](Index b) { return blocks.row(b); }, [&](Index b) { return blocks.size(b); },
      [&](Index b) { return blocks.values(b); }, compliance, inverse_steps);
}

double reference_velocity(const ConeProduct& cones, ConstVectorRef free_term) {
  double velocity = 0.0;
  for (Index b = 0; b < cones.blocks(); ++b) {
    velocity = std::max(velocity, norm(free_term.segment(cones.block_row(b), cones.block_size(b))));
  }
  return velocity > 0.0 ? velocity : 1.0;
}

double natural_map_scaling(const ContactProblem& problem, VectorRef inverse_steps) {
  mean_diagonals(problem.diagonal(), problem.compliance(), inverse_steps);
  return reference_velocity(problem.cones(), problem.free_term());
}

double scaled_natural_map(const ConeProduct& cones, ConstVectorRef impulse, ConstVectorRef velocity,
                          ConstVectorRef inverse_steps, double reference_velocity, VectorRef scratch) {
  for (Index b = 0; b < cones.blocks(); ++b) {
    const Index row = cones.block_row(b);
    const int size = cones.block_size(b);
    const double step = 1.0 / inverse_steps[b];
    scratch.segment(row, size) = impulse.segment(row, size) - step * velocity.segment(row, size);
  }
  project_cone(cones, scratch, scratch);
  double largest = 0.0;
  for (Index b = 0; b < cones.blocks(); ++b) {
    const Index row = cones.block_row(b);
    const int size = cones.block_size(b);
    const double weight = inverse_steps[b] / reference_velocity;
    const double error = (weight * (impulse.segment(row, size) - scratch.segment(row, size))).norm();
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, error);
  }
  return largest;
}

double scaled_natural_map(const ContactProblem& given, ConstVectorRef given_impulse) {
  const Vector units = row_units_of(given);
  const Result<ContactProblem> scaled = in_row_units(given, units);
  if (!scaled) return std::numeric_limits<double>::infinity();
  const ContactProblem& problem = *scaled;
  const Vector impulse = given_impulse.cwiseQuotient(units);
  Vector inverse_steps(problem.cones().blocks());
  const double scale = natural_map_scaling(problem, inverse_steps);
  Vector velocity(problem.rows());
  Vector scratch(problem.rows());
  problem.velocity(impulse, velocity);
  add_de_saxce(problem.cones(), velocity, velocity);
  return scaled_natural_map(problem.cones(), impulse, velocity, inverse_steps, scale, scratch);
}

}  // namespace conebench
