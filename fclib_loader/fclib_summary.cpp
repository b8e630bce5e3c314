#include <algorithm>

#include "fclib_loader/condensation.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "problems/mass_solve.hpp"

namespace conebench {

namespace {

constexpr double max_condensed_entries = 5e7;

/// ‖A − Aᵀ‖_F / ‖A‖_F.
double symmetry_error_of(const SparseMatrix& matrix) {
  if (matrix.nonZeros() == 0) return 0.0;
  const double norm = matrix.norm();
  const SparseMatrix transposed = matrix.transpose();
  return norm > 0.0 ? SparseMatrix(matrix - transposed).norm() / norm : 0.0;
}

}  // namespace

FclibSummary summarise(const FclibContent& content) {
  FclibSummary summary;
  const bool local = content.kind == FclibKind::local || content.kind == FclibKind::mixed_local ||
                     content.kind == FclibKind::local_rolling;
  summary.kind = to_string(content.kind);
  summary.space_dimension = content.space_dimension;
  summary.limits = content.extension ? content.extension->limits : 0;
  summary.contacts = content.mu.size() - summary.limits;
  summary.rows = summary.contacts * content.space_dimension + summary.limits;
  summary.nonzeros = local ? content.w_matrix.nonZeros() : content.h_matrix.nonZeros();
  if (summary.contacts > 0) {
    summary.mu_min = content.mu.head(summary.contacts).minCoeff();
    summary.mu_max = content.mu.head(summary.contacts).maxCoeff();
  }
  if (summary.contacts > 0 && content.mu_rolling.size() > 0) {
    summary.mu_r_min = content.mu_rolling.head(summary.contacts).minCoeff();
    summary.mu_r_max = content.mu_rolling.head(summary.contacts).maxCoeff();
  }
  if (local) {
    summary.symmetry_error = symmetry_error_of(content.w_matrix);
  } else if (in_small_blocks(content.m_matrix) &&
             entries_of_solution(content.m_matrix, content.h_matrix) <= max_condensed_entries) {
    const Result<MassFactor> factor = MassFactor::create(content.m_matrix);
    if (factor) {
      const SparseMatrix solution = factor->solve(content.h_matrix);
      const SparseMatrix transposed = content.h_matrix.transpose();
      summary.symmetry_error = symmetry_error_of(transposed * solution);
    }
  }
  summary.has_guess = !content.guesses.empty();
  summary.has_solution = content.solution.has_value();
  return summary;
}

}  // namespace conebench
