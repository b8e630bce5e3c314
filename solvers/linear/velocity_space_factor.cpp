#include "solvers/linear/velocity_space_factor.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "problems/cones/contact_rows.hpp"
#include "problems/mass_solve.hpp"

namespace conebench {

namespace {

constexpr double same_matrix = 1e-12, largest_error = 1e-10;

/// a b + c, rounded once where that is an instruction: left to itself, a compiler chooses anew for each loop.
[[gnu::always_inline]] inline double multiply_add(double a, double b, double c) {
#ifdef FP_FAST_FMA
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

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
    : problem_(problem), scale_(std::move(scale)), compliance_(std::move(compliance)) {
  find_pattern();
  scaled_.resize(problem.rows());
  velocities_.resize(problem.primal()->jacobian.cols());
  analyse();
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
  const Eigen::SparseMatrix<double, Eigen::RowMajor> by_rows = scale_.asDiagonal() * problem_.primal()->jacobian;
  const ConeProduct& cones = problem_.cones();
  std::vector<int> place(static_cast<std::size_t>(by_rows.cols()), -1);
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

/// The pattern of K, and where its parts go.
void VelocitySpaceFactor::analyse() {
  const SparseMatrix& jacobian = problem_.primal()->jacobian;
  const SparseMatrix& mass = problem_.primal()->mass;
  const Index velocities = jacobian.cols();
  Eigen::SparseMatrix<double, Eigen::RowMajor> K = SparseMatrix(jacobian.transpose()) * jacobian;
  K += Eigen::SparseMatrix<double, Eigen::RowMajor>(mass);
  system_ = MultifrontalFactor(BlockSparseMatrix::from_sparse(K, grouped(velocities)), Vector::Ones(velocities),
                               Vector::Zero(velocities), Factorization::cholesky, Storage::automatic);
  for (std::size_t block = 0; block + 1 < block_begin_.size(); ++block) {
    for (std::int64_t a = block_begin_[block]; a < block_begin_[block + 1]; ++a) {
      for (std::int64_t b = block_begin_[block]; b <= a; ++b) {
        places_.push_back(system_.place(columns_[static_cast<std::size_t>(a)], columns_[static_cast<std::size_t>(b)]));
      }
    }
  }
  const SparseMatrix half = 0.5 * (mass + SparseMatrix(mass.transpose()));
  for (Index column = 0; column < half.outerSize(); ++column) {
    for (SparseMatrix::InnerIterator it(half, column); it; ++it) {
      if (it.row() >= column) mass_.push_back({system_.place(it.row(), column), it.value()});
    }
  }
}

/// K for D⁻¹ = diag(inverse_).
void VelocitySpaceFactor::assemble() {
  const ConeProduct& cones = problem_.cones();
  const std::span<double> K = system_.lower_triangle();
  std::fill(K.begin(), K.end(), 0.0);
  root_ = inverse_.cwiseSqrt();
  const std::int64_t* place = places_.data();
  for (Index block = 0; block < cones.blocks(); ++block) {
    const auto k = static_cast<std::size_t>(block);
    const auto size = static_cast<std::size_t>(cones.block_size(block));
    const auto columns = static_cast<std::size_t>(block_begin_[k + 1] - block_begin_[k]);
    weighted_.resize(columns * size);
    for (std::size_t r = 0; r < size; ++r) {
      const double weight = root_[cones.block_row(block) + static_cast<Index>(r)];
      for (std::size_t c = 0; c < columns; ++c) {
        weighted_[c * size + r] = weight * values_[static_cast<std::size_t>(value_begin_[k]) + c * size + r];
      }
    }
    // Products are rounded before they are added, whatever the machine could do in one.
    products_.resize(columns * (columns + 1) / 2 * size);
    double* product = products_.data();
    for (std::size_t a = 0; a < columns; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        for (std::size_t r = 0; r < size; ++r) *product++ = weighted_[a * size + r] * weighted_[b * size + r];
      }
    }
    product = products_.data();
    for (const auto end = product + products_.size(); product != end; product += size, ++place) {
      if (*place < 0) continue;  // no row has both
      double& entry = K[static_cast<std::size_t>(*place)];
      for (std::size_t r = 0; r < size; ++r) entry += product[r];
    }
  }
  for (const MassEntry& mass : mass_) K[static_cast<std::size_t>(mass.place)] += mass.value;
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

/// visit.operator()<Size>(row, each) for each block from its first row on, where each(see) calls see(value, velocity)
/// for all of its columns; see() takes Size values of W.
template <class Visit>
void VelocitySpaceFactor::each_block(const Visit& visit) {
  const ConeProduct& cones = problem_.cones();
  for (Index block = 0; block < cones.blocks(); ++block) {
    const auto k = static_cast<std::size_t>(block);
    const auto each = [&](const auto& see) {
      const double* value = values_.data() + value_begin_[k];
      for (std::int64_t c = block_begin_[k]; c < block_begin_[k + 1]; ++c)
        see(value, velocities_[columns_[static_cast<std::size_t>(c)]]);
    };
    with_block_rows(cones.block_size(block),
                    [&]<int Size>() { visit.template operator()<Size>(cones.block_row(block), each); });
  }
}

void VelocitySpaceFactor::solve(const Vector& b, Vector& x) {
  scaled_ = inverse_.cwiseProduct(b);
  velocities_.setZero();
  each_block([&]<int Size>(Index row, const auto& each) {
    const double* const own = scaled_.data() + row;
    each([&](const double*& value, double& velocity) {
      double sum = 0.0;
      for (int r = 0; r < Size; ++r) sum = multiply_add(*value++, own[r], sum);
      velocity += sum;
    });
  });
  system_.solve(velocities_, velocities_);
  each_block([&]<int Size>(Index row, const auto& each) {
    double pushed[Size] = {};
    each([&](const double*& value, double velocity) {
      for (int r = 0; r < Size; ++r) pushed[r] = multiply_add(*value++, velocity, pushed[r]);
    });
    for (int r = 0; r < Size; ++r) x[row + r] = multiply_add(-inverse_[row + r], pushed[r], scaled_[row + r]);
  });
}

}  // namespace conebench
