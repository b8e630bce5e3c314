#include "solvers/admm/velocity_space_factor.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "problems/mass_solve.hpp"

namespace conebench {

namespace {

constexpr double largest_error = 1e-10;  ///< of a product or a solution, relative

/// Whose entries have no order that a matrix could share.
Vector probe(Index size) {
  return Vector::NullaryExpr(size, [](Index i) { return std::cos(static_cast<double>(i)); });
}

/// Velocities by threes, as free bodies have them, where that is possible.
ConeProduct grouped(Index velocities) {
  const bool threes = velocities % 3 == 0;
  return *ConeProduct::create(threes ? 0 : velocities, 0,
                              std::vector<double>(static_cast<std::size_t>(threes ? velocities / 3 : 0), 0.0));
}

bool represents_matrix(const ContactProblem& problem) {
  const PrimalForm& primal = *problem.primal();
  const auto mass = FactoredMass::create(primal.mass);
  if (!mass) return false;
  const Vector x = probe(problem.rows());
  Vector expected(x.size());
  problem.blocks().apply(x, expected);
  const Vector made = primal.jacobian * mass->solve(Vector(primal.jacobian.transpose() * x));
  return (made - expected).norm() <= largest_error * expected.norm();
}

}  // namespace

std::optional<VelocitySpaceFactor> VelocitySpaceFactor::create(const ContactProblem& problem, const Vector& scale,
                                                               const Vector& compliance) {
  if (!problem.primal() || !represents_matrix(problem)) return std::nullopt;
  return VelocitySpaceFactor(problem, scale, compliance);
}

VelocitySpaceFactor::VelocitySpaceFactor(const ContactProblem& problem, const Vector& scale, const Vector& compliance)
    : problem_(problem),
      scale_(scale),
      compliance_(compliance),
      rows_(scale.asDiagonal() * problem.primal()->jacobian),
      scaled_(problem.rows()),
      velocities_(rows_.cols()) {
  // M on the pattern of K.
  Eigen::SparseMatrix<double, Eigen::RowMajor> K = 0.0 * (SparseMatrix(rows_.transpose()) * rows_);
  K += Eigen::SparseMatrix<double, Eigen::RowMajor>(problem.primal()->mass);
  system_ = ShiftedFactor(BlockSparseMatrix::from_sparse(K, grouped(K.rows())), Vector::Ones(K.rows()),
                          Vector::Zero(K.rows()), Factorization::cholesky);
  mass_.assign(system_.lower_triangle().begin(), system_.lower_triangle().end());
  find_places();
}

double VelocitySpaceFactor::multiplications() const {
  return 2.0 * static_cast<double>(rows_.nonZeros()) + 2.0 * static_cast<double>(system_.panel_values());
}

void VelocitySpaceFactor::find_places() {
  std::span<const int> before;
  for (Index row = 0; row < rows_.rows(); ++row) {
    const int* const begin = rows_.innerIndexPtr() + rows_.outerIndexPtr()[row];
    const std::span columns(begin, rows_.innerIndexPtr() + rows_.outerIndexPtr()[row + 1]);
    if (row > 0 && std::ranges::equal(columns, before)) {
      place_begin_.push_back(place_begin_.back());
      continue;
    }
    place_begin_.push_back(places_.size());
    for (std::size_t a = 0; a < columns.size(); ++a) {
      for (std::size_t b = 0; b <= a; ++b) places_.push_back(system_.place(columns[a], columns[b]));
    }
    before = columns;
  }
}

/// K for D⁻¹ = diag(inverse_).
void VelocitySpaceFactor::assemble() {
  const std::span<double> K = system_.lower_triangle();
  std::ranges::copy(mass_, K.begin());
  for (Index row = 0; row < rows_.rows(); ++row) {
    const std::int64_t* place = places_.data() + place_begin_[static_cast<std::size_t>(row)];
    const double* const begin = rows_.valuePtr() + rows_.outerIndexPtr()[row];
    const double* const end = rows_.valuePtr() + rows_.outerIndexPtr()[row + 1];
    for (const double* a = begin; a < end; ++a) {
      const double weighted = inverse_[row] * *a;
      for (const double* b = begin; b <= a; ++b) K[static_cast<std::size_t>(*place++)] += weighted * *b;
    }
  }
}

bool VelocitySpaceFactor::factor(double shift) {
  inverse_ = (compliance_.array() + shift).inverse();
  if (!(inverse_.minCoeff() > 0.0) || !inverse_.allFinite()) return false;
  assemble();
  if (!system_.factor(0.0)) return false;

  const Vector b = probe(problem_.rows());
  Vector x(b.size()), back(b.size());
  solve(b, x);
  problem_.blocks().apply(scale_.cwiseProduct(x), back);
  back = back.cwiseProduct(scale_) + x.cwiseQuotient(inverse_);
  return (back - b).norm() <= largest_error * b.norm();
}

void VelocitySpaceFactor::solve(const Vector& b, Vector& x) {
  scaled_ = inverse_.cwiseProduct(b);
  velocities_.noalias() = rows_.transpose() * scaled_;
  system_.solve(velocities_, velocities_);
  x.noalias() = rows_ * velocities_;
  x = scaled_ - inverse_.cwiseProduct(x);
}

}  // namespace conebench
