#include "solvers/linear/velocity_space_factor.hpp"

#include <cmath>
#include <utility>

#include "problems/mass_solve.hpp"

namespace conebench {

namespace {

constexpr double same_matrix = 1e-12, tolerated_error = 1e-10;

/// Whose entries have no order that a matrix could share.
Vector probe(Index size) {
  Vector x(size);
  for (Index i = 0; i < size; ++i) x[i] = std::cos(1.0 + 1.7 * static_cast<double>(i));
  return x;
}

/// Velocities by threes, as free bodies have them, where that is possible.
ConeProduct grouped(Index velocities) {
  const bool threes = velocities % 3 == 0;
  return *ConeProduct::create(threes ? 0 : velocities, 0,
                              std::vector<double>(static_cast<std::size_t>(threes ? velocities / 3 : 0), 0.0));
}

}  // namespace

VelocitySpaceFactor::VelocitySpaceFactor(const ContactProblem& problem, Vector scale, Vector compliance)
    : problem_(problem),
      scale_(std::move(scale)),
      compliance_(std::move(compliance)),
      rows_(scale_.asDiagonal() * problem.primal()->jacobian) {
  find_pattern();
  inverse_.setOnes(problem.rows());
  scaled_.resize(problem.rows());
  velocities_.resize(rows_.cols());
  assemble();
}

std::optional<VelocitySpaceFactor> VelocitySpaceFactor::create(const ContactProblem& problem, const Vector& scale,
                                                               const Vector& compliance) {
  if (!problem.primal()) return std::nullopt;
  VelocitySpaceFactor made(problem, scale, compliance);
  if (!made.represents_matrix()) return std::nullopt;
  return made;
}

bool VelocitySpaceFactor::represents_matrix() const {
  const PrimalForm& primal = *problem_.primal();
  const auto mass = FactoredMass::create(primal.mass);
  if (!mass) return false;
  const Vector x = probe(problem_.rows());
  Vector expected(x.size());
  problem_.blocks().apply(x, expected);
  const Vector made = primal.jacobian * mass->solve(Vector(primal.jacobian.transpose() * x));
  return (made - expected).norm() <= same_matrix * expected.norm();
}

void VelocitySpaceFactor::find_pattern() {
  const Eigen::SparseMatrix<double, Eigen::RowMajor> by_rows = rows_;
  const ConeProduct& cones = problem_.cones();
  std::vector<int> place(static_cast<std::size_t>(rows_.cols()), -1);
  block_begin_ = value_begin_ = {0};
  for (Index block = 0; block < cones.blocks(); ++block) {
    const int size = cones.block_size(block);
    const std::size_t first = columns_.size(), values = values_.size();
    for (int r = 0; r < size; ++r) {
      for (decltype(by_rows)::InnerIterator it(by_rows, cones.block_row(block) + r); it; ++it) {
        int& at = place[static_cast<std::size_t>(it.col())];
        if (at < 0) {
          at = static_cast<int>(columns_.size() - first);
          columns_.push_back(static_cast<int>(it.col()));
          values_.resize(values_.size() + static_cast<std::size_t>(size), 0.0);
        }
        values_[values + static_cast<std::size_t>(at * size + r)] = it.value();
      }
    }
    for (std::size_t k = first; k < columns_.size(); ++k) place[static_cast<std::size_t>(columns_[k])] = -1;
    block_begin_.push_back(static_cast<std::int64_t>(columns_.size()));
    value_begin_.push_back(static_cast<std::int64_t>(values_.size()));
  }
}

double VelocitySpaceFactor::multiplications() const {
  return 2.0 * static_cast<double>(values_.size()) + 2.0 * static_cast<double>(system_.fronts().panel_values);
}

/// K for D⁻¹ = diag(inverse_).
void VelocitySpaceFactor::assemble() {
  const SparseMatrix weighted = inverse_.cwiseSqrt().asDiagonal() * rows_;
  Eigen::SparseMatrix<double, Eigen::RowMajor> K = SparseMatrix(weighted.transpose()) * weighted;
  K += Eigen::SparseMatrix<double, Eigen::RowMajor>(problem_.primal()->mass);
  const Index velocities = rows_.cols();
  system_ = MultifrontalFactor(BlockSparseMatrix::from_sparse(K, grouped(velocities)), Vector::Ones(velocities),
                               Vector::Zero(velocities), Factorization::cholesky, Storage::automatic);
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
  return (back - b).norm() <= tolerated_error * b.norm();
}

void VelocitySpaceFactor::solve(const Vector& b, Vector& x) {
  const ConeProduct& cones = problem_.cones();
  scaled_ = inverse_.cwiseProduct(b);
  velocities_.setZero();
  for (Index block = 0; block < cones.blocks(); ++block) {
    const auto k = static_cast<std::size_t>(block);
    const double* value = values_.data() + value_begin_[k];
    const double* const own = scaled_.data() + cones.block_row(block);
    const int size = cones.block_size(block);
    for (std::int64_t c = block_begin_[k]; c < block_begin_[k + 1]; ++c) {
      double sum = 0.0;
      for (int r = 0; r < size; ++r) sum += *value++ * own[r];
      velocities_[columns_[static_cast<std::size_t>(c)]] += sum;
    }
  }
  system_.solve(velocities_, velocities_);
  for (Index block = 0; block < cones.blocks(); ++block) {
    const auto k = static_cast<std::size_t>(block);
    const double* value = values_.data() + value_begin_[k];
    const int size = cones.block_size(block);
    double pushed[3] = {0.0, 0.0, 0.0};
    for (std::int64_t c = block_begin_[k]; c < block_begin_[k + 1]; ++c) {
      const double velocity = velocities_[columns_[static_cast<std::size_t>(c)]];
      for (int r = 0; r < size; ++r) pushed[r] += *value++ * velocity;
    }
    const Index row = cones.block_row(block);
    for (int r = 0; r < size; ++r) x[row + r] = scaled_[row + r] - inverse_[row + r] * pushed[r];
  }
}

}  // namespace conebench
