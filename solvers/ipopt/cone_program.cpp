#include "solvers/ipopt/cone_program.hpp"

#include <algorithm>
#include <cmath>

#include "problems/scaled_natural_map.hpp"

namespace conebench::ipopt {

ConeProgram::ConeProgram(const ContactProblem& problem) : cones_(problem.cones()), row_scale_(problem.rows()) {
  const BlockSparseMatrix& blocks = problem.blocks();
  Vector means(cones_.blocks());
  mean_diagonals(blocks, problem.compliance(), means);
  for (Index i = 0; i < cones_.blocks(); ++i) {
    row_scale_.segment(cones_.block_row(i), cones_.block_size(i)).setConstant(1.0 / std::sqrt(means[i]));
  }
  g_ = problem.free_term().cwiseProduct(row_scale_);
  const double largest = g_.size() > 0 ? g_.lpNorm<Eigen::Infinity>() : 0.0;
  if (largest > 0.0) impulse_scale_ = largest;
  g_ /= impulse_scale_;

  const SparseMatrix whole = problem.blocks().sparse();
  const SparseMatrix transposed = whole.transpose();
  SparseMatrix compliance(problem.rows(), problem.rows());
  compliance.setIdentity();
  compliance.diagonal() = problem.compliance();
  SparseMatrix symmetric = SparseMatrix(0.5 * (whole + transposed)) + compliance;
  symmetric = row_scale_.asDiagonal() * symmetric * row_scale_.asDiagonal();
  lower_ = symmetric.triangularView<Eigen::Lower>();
  lower_.makeCompressed();
  for (Index i = 0; i < cones_.contacts(); ++i) {
    const double mu = cones_.friction()[static_cast<std::size_t>(i)];
    if (mu == 0.0) continue;
    rubbing_.push_back(cones_.contact_row(i));
    friction_.push_back(mu);
  }
}

Vector ConeProgram::to_impulse(const double* x) const {
  return impulse_scale_ * row_scale_.cwiseProduct(Eigen::Map<const Vector>(x, cones_.rows()));
}

void ConeProgram::bounds(double unbounded, double* lower, double* upper) const {
  std::fill(lower, lower + variables(), -unbounded);
  std::fill(upper, upper + variables(), unbounded);
  std::fill(lower + cones_.first_limit_row(), lower + cones_.first_contact_row(), 0.0);
  const int tangents = cones_.contact_dimension() - 1;
  for (Index i = 0; i < cones_.contacts(); ++i) {
    const Index row = cones_.contact_row(i);
    lower[row + tangents] = 0.0;
    if (cones_.friction()[static_cast<std::size_t>(i)] > 0.0) continue;
    std::fill(lower + row, lower + row + tangents, 0.0);
    std::fill(upper + row, upper + row + tangents, 0.0);
  }
}

double ConeProgram::objective(const double* x) const {
  const Eigen::Map<const Vector> lambda(x, cones_.rows());
  const Vector product = lower_.selfadjointView<Eigen::Lower>() * lambda;
  return 0.5 * lambda.dot(product) + g_.dot(lambda);
}

void ConeProgram::gradient(const double* x, double* out) const {
  const Eigen::Map<const Vector> lambda(x, cones_.rows());
  const Vector product = lower_.selfadjointView<Eigen::Lower>() * lambda;
  Eigen::Map<Vector>(out, cones_.rows()) = product + g_;
}

void ConeProgram::constraint_values(const double* x, double* out) const {
  const int tangents = cones_.contact_dimension() - 1;
  for (std::size_t i = 0; i < rubbing_.size(); ++i) {
    const double* own = x + rubbing_[i];
    out[i] = friction_[i] * friction_[i] * own[tangents] * own[tangents];
    for (int t = 0; t < tangents; ++t) out[i] -= own[t] * own[t];
  }
}

void ConeProgram::jacobian_pattern(int* rows, int* columns) const {
  for (std::size_t i = 0; i < rubbing_.size(); ++i) {
    for (int t = 0; t < cones_.contact_dimension(); ++t) {
      *rows++ = static_cast<int>(i);
      *columns++ = static_cast<int>(rubbing_[i]) + t;
    }
  }
}

void ConeProgram::jacobian(const double* x, double* out) const {
  const int size = cones_.contact_dimension();
  for (std::size_t i = 0; i < rubbing_.size(); ++i) {
    const double* own = x + rubbing_[i];
    for (int t = 0; t + 1 < size; ++t) *out++ = -2.0 * own[t];
    *out++ = 2.0 * friction_[i] * friction_[i] * own[size - 1];
  }
}

void ConeProgram::hessian_pattern(int* rows, int* columns) const {
  for (Index column = 0; column < lower_.outerSize(); ++column) {
    for (SparseMatrix::InnerIterator it(lower_, column); it; ++it) {
      *rows++ = static_cast<int>(it.row());
      *columns++ = static_cast<int>(column);
    }
  }
}

void ConeProgram::hessian(double objective_factor, const double* multipliers, double* out) const {
  for (Index k = 0; k < lower_.nonZeros(); ++k) out[k] = objective_factor * lower_.valuePtr()[k];
  const int size = cones_.contact_dimension();
  for (std::size_t i = 0; i < rubbing_.size(); ++i) {
    for (int t = 0; t < size; ++t) {
      // A column's first entry is its diagonal one.
      out[lower_.outerIndexPtr()[rubbing_[i] + t]] +=
          2.0 * multipliers[i] * (t + 1 == size ? friction_[i] * friction_[i] : -1.0);
    }
  }
}

}  // namespace conebench::ipopt
