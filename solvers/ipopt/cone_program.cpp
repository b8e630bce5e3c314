#include "solvers/ipopt/cone_program.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones/contact_cones.hpp"
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
  for_each_contact(cones_, [&]<class Cone>(Index, Index row, const Cone& cone) {
    const int normal = static_cast<int>(row) + cone.normal;
    cone.for_each_group([&]<int>(int first, int size, double mu) {
      if (mu > 0.0)
        discs_.push_back({.first = static_cast<int>(row) + first, .size = size, .normal = normal, .mu = mu});
    });
  });
  for (const Disc& disc : discs_) jacobian_entries_ += disc.size + 1;
}

Vector ConeProgram::to_impulse(const double* x) const {
  return impulse_scale_ * row_scale_.cwiseProduct(Eigen::Map<const Vector>(x, cones_.rows()));
}

void ConeProgram::bounds(double unbounded, double* lower, double* upper) const {
  std::fill(lower, lower + variables(), -unbounded);
  std::fill(upper, upper + variables(), unbounded);
  for (Index row = cones_.first_limit_row(); row < cones_.first_contact_row(); ++row) {
    const Interval interval = cones_.bounds(row);
    const double unit = impulse_scale_ * row_scale_[row];
    lower[row] = std::max(interval.lower / unit, -unbounded);
    upper[row] = std::min(interval.upper / unit, unbounded);
  }
  for_each_contact(cones_, [&]<class Cone>(Index, Index row, const Cone& cone) {
    lower[row + cone.normal] = 0.0;
    cone.for_each_group([&]<int>(int first, int size, double mu) {
      if (mu > 0.0) return;
      std::fill_n(lower + row + first, size, 0.0);
      std::fill_n(upper + row + first, size, 0.0);
    });
  });
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
  for (const Disc& disc : discs_) {
    *out = disc.mu * disc.mu * x[disc.normal] * x[disc.normal];
    for (int t = disc.first; t < disc.first + disc.size; ++t) *out -= x[t] * x[t];
    ++out;
  }
}

void ConeProgram::jacobian_pattern(int* rows, int* columns) const {
  for (std::size_t i = 0; i < discs_.size(); ++i) {
    for (int t = 0; t <= discs_[i].size; ++t) {
      *rows++ = static_cast<int>(i);
      *columns++ = t < discs_[i].size ? discs_[i].first + t : discs_[i].normal;
    }
  }
}

void ConeProgram::jacobian(const double* x, double* out) const {
  for (const Disc& disc : discs_) {
    for (int t = disc.first; t < disc.first + disc.size; ++t) *out++ = -2.0 * x[t];
    *out++ = 2.0 * disc.mu * disc.mu * x[disc.normal];
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
  // A column's first entry is its diagonal one.
  const auto diagonal = [&](int row) -> double& { return out[lower_.outerIndexPtr()[row]]; };
  for (const Disc& disc : discs_) {
    const double multiplier = *multipliers++;
    for (int t = disc.first; t < disc.first + disc.size; ++t) diagonal(t) += 2.0 * multiplier * -1.0;
    diagonal(disc.normal) += 2.0 * multiplier * (disc.mu * disc.mu);
  }
}

}  // namespace conebench::ipopt
