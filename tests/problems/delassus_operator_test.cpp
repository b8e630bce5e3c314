#include "problems/delassus_operator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <optional>
#include <vector>

#include "base/workers.hpp"
#include "problems/factored_delassus.hpp"
#include "problems/mass_solve.hpp"
#include "scenes/random_source.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using ::testing::HasSubstr;

Matrix random_matrix(Index rows, Index cols, RandomSource& random) {
  Matrix matrix(rows, cols);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) matrix(i, j) = random.normal();
  }
  return matrix;
}

/// A A^T + I on diagonal blocks of `block` rows: positive definite.
SparseMatrix block_mass(Index size, Index block, RandomSource& random) {
  Matrix mass = Matrix::Zero(size, size);
  for (Index begin = 0; begin < size; begin += block) {
    const Index n = std::min(block, size - begin);
    const Matrix a = random_matrix(n, n, random);
    mass.block(begin, begin, n, n) = a * a.transpose() + Matrix::Identity(n, n);
  }
  return mass.sparseView();
}

SparseMatrix sparse(const Matrix& matrix) { return matrix.sparseView(); }

std::optional<SparseMatrix> solve_mass(const SparseMatrix& mass, const SparseMatrix& right) {
  const auto factor = FactoredMass::create(mass);
  if (!factor) return std::nullopt;
  return factor->solve(right);
}

std::string failure(const SparseMatrix& mass, const SparseMatrix& jacobian) {
  const auto made = make_factored_delassus(mass, jacobian);
  return made ? "" : made.error().message;
}

void expect_solves(const Matrix& mass, RandomSource& random) {
  const Matrix right = random_matrix(mass.rows(), 3, random);
  const auto solution = solve_mass(sparse(mass), sparse(right));
  ASSERT_TRUE(solution.has_value());
  const double scale = mass.cwiseAbs().maxCoeff() * Matrix(*solution).norm();
  EXPECT_LT((mass * Matrix(*solution) - right).norm(), 1e-12 * (scale + right.norm()));
}

TEST(SolveMass, SolvesSmallBlocksOneLargeBlockAndUnsymmetricMasses) {
  RandomSource random(1);
  expect_solves(Matrix(block_mass(30, 1, random)), random);
  expect_solves(Matrix(block_mass(30, 6, random)), random);
  expect_solves(Matrix(block_mass(60, 60, random)), random);
  expect_solves(Matrix(block_mass(270, 270, random)), random);
  expect_solves(Matrix::Identity(7, 7) + 0.3 * random_matrix(7, 7, random), random);
  expect_solves(20.0 * Matrix::Identity(270, 270) + 0.3 * random_matrix(270, 270, random), random);
}

TEST(SolveMass, SolvesAMechanismsMassAlongItsTree) {
  // Rows couple with their ancestors only: a trunk of six, four branches of three; sizes that differ by 1e6.
  RandomSource random(9);
  const Index size = 18;
  std::vector<Index> parent(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) parent[static_cast<std::size_t>(i)] = i >= 6 && i % 3 == 0 ? 5 : i - 1;
  Matrix lower = Matrix::Zero(size, size);
  for (Index i = 0; i < size; ++i) {
    for (Index j = i; j >= 0; j = parent[static_cast<std::size_t>(j)]) lower(i, j) = i == j ? 1.0 : random.normal();
  }
  Vector pivots(size);
  for (Index i = 0; i < size; ++i) pivots[i] = std::pow(10.0, 3.0 - 6.0 * static_cast<double>(i) / 17.0);
  const Matrix mass = lower.transpose() * pivots.asDiagonal() * lower;
  ASSERT_EQ(mass(8, 11), 0.0);
  expect_solves(mass, random);
  const auto inverse = solve_mass(sparse(mass), sparse(Matrix::Identity(size, size)));
  ASSERT_TRUE(inverse.has_value());
  EXPECT_EQ((Matrix(*inverse) - Matrix(*inverse).transpose()).norm(), 0.0);
}

TEST(FactoredMass, SolvesVectorsAndMatricesAlikeWhateverItsKind) {
  RandomSource random(10);
  Matrix interleaved = Matrix::Identity(12, 12);  // blocks whose rows take turns
  for (Index i = 0; i + 2 < 12; ++i) interleaved(i, i + 2) = interleaved(i + 2, i) = 0.4;
  const Matrix general = 20.0 * Matrix::Identity(270, 270) + 0.3 * random_matrix(270, 270, random);
  for (const Matrix& mass :
       {Matrix(block_mass(30, 6, random)), interleaved, Matrix(block_mass(270, 270, random)), general}) {
    const auto factor = FactoredMass::create(sparse(mass));
    ASSERT_TRUE(factor.has_value());
    ASSERT_EQ(factor->size(), mass.rows());
    const Matrix right = random_matrix(mass.rows(), 4, random);
    const SparseMatrix together = factor->solve(sparse(right));
    EXPECT_LT((mass * Matrix(together) - right).norm(), 1e-12 * mass.norm() * Matrix(together).norm());
    for (Index c = 0; c < right.cols(); ++c) {
      const Vector alone = factor->solve(Vector(right.col(c)));
      EXPECT_LT((Matrix(together).col(c) - alone).norm(), 1e-13 * mass.norm() * alone.norm());
      Index before = -1;
      for (SparseMatrix::InnerIterator it(together, c); it; ++it) {
        EXPECT_GT(it.row(), before);
        before = it.row();
      }
    }
  }
}

TEST(SolveMass, SolvesIndefiniteMasses) {
  RandomSource random(2);
  for (const Index size : {4, 50}) {
    Matrix mass = random_matrix(size, size, random);
    mass = Matrix(mass + mass.transpose());
    expect_solves(mass, random);
  }
}

TEST(SolveMass, DoesNotMindUnits) {
  RandomSource random(3);
  for (const Index size : {6, 50}) {
    const Matrix mass = Matrix(block_mass(size, size, random));
    Vector units(size);
    for (double& unit : units) unit = std::pow(10.0, random.uniform(-9.0, 9.0));
    const auto scaled =
        solve_mass(sparse(units.asDiagonal() * mass * units.asDiagonal()), sparse(Matrix::Identity(size, size)));
    ASSERT_TRUE(scaled.has_value());
    const Matrix back = units.asDiagonal() * Matrix(*scaled) * units.asDiagonal();
    EXPECT_LT((mass * back - Matrix::Identity(size, size)).norm(), 1e-10);
  }
}

TEST(SolveMass, RefusesSingularMasses) {
  RandomSource random(4);
  const auto refused = [](const Matrix& mass) {
    return !solve_mass(sparse(mass), sparse(Matrix::Identity(mass.rows(), mass.rows()))).has_value();
  };
  EXPECT_TRUE(refused(Matrix::Zero(3, 3)));
  EXPECT_TRUE(refused(Vector(Eigen::Vector3d(1.0, 0.0, 2.0)).asDiagonal()));
  EXPECT_TRUE(refused(Matrix::Ones(2, 2)));
  for (const Index size : {5, 50}) {
    // Positive semi-definite of rank size - 1, and the same without symmetry.
    const Matrix a = random_matrix(size, size - 1, random);
    EXPECT_TRUE(refused(a * a.transpose())) << size;
    EXPECT_TRUE(refused(a * random_matrix(size - 1, size, random))) << size;
  }
  // One empty row in a large mass.
  Matrix large = Matrix(block_mass(50, 50, random));
  large.row(17).setZero();
  large.col(17).setZero();
  EXPECT_TRUE(refused(large));
}

TEST(FactoredDelassus, AgreesWithTheDenseInverse) {
  RandomSource random(5);
  const auto cones = ConeProduct::create(1, 2, {0.5, 0.3, 0.1}).value();
  for (const Index block : {6, 40}) {
    const SparseMatrix mass = block_mass(40, block, random);
    const Matrix jacobian = random_matrix(cones.rows(), 40, random);
    const auto made = make_factored_delassus(mass, sparse(jacobian));
    ASSERT_TRUE(made.ok());
    const Matrix expected = jacobian * Matrix(mass).inverse() * jacobian.transpose();
    const double rounding = 1e-12 * expected.norm();
    const DelassusOperator& factored = **made;
    EXPECT_EQ(factored.form(), DelassusForm::factored);
    EXPECT_LT((factored.dense() - expected).norm(), rounding);
    EXPECT_LT((factored.assemble(cones).dense() - expected).norm(), rounding);
    const Vector impulse = Vector::LinSpaced(cones.rows(), -1.0, 1.0);
    Vector velocity(cones.rows());
    for (const auto& other :
         {*made, make_dense_delassus(factored.dense()), make_block_sparse_delassus(factored.assemble(cones))}) {
      other->apply(impulse, velocity);
      EXPECT_LT((velocity - expected * impulse).norm(), rounding);
      EXPECT_EQ(other->size(), cones.rows());
      EXPECT_LT((other->dense() - expected).norm(), rounding);
    }
  }
}

TEST(FactoredDelassus, IsTheSameFromAFactoredMass) {
  RandomSource random(11);
  const SparseMatrix mass = block_mass(24, 6, random);
  const SparseMatrix jacobian = sparse(random_matrix(9, 24, random));
  const auto factor = FactoredMass::create(mass);
  ASSERT_TRUE(factor.has_value());
  EXPECT_EQ((*make_factored_delassus(*factor, jacobian))->dense(), (*make_factored_delassus(mass, jacobian))->dense());
  EXPECT_THAT(make_factored_delassus(*factor, sparse(random_matrix(9, 23, random))).error().message,
              HasSubstr("M is 24 x 24 and J is 9 x 23"));
}

TEST(FactoredDelassus, MayHaveNoRowsOrNoVelocities) {
  RandomSource random(6);
  for (const Index block : {2, 40}) {
    const auto no_rows = make_factored_delassus(block_mass(40, block, random), SparseMatrix(0, 40));
    ASSERT_TRUE(no_rows.ok());
    EXPECT_EQ((*no_rows)->size(), 0);
    EXPECT_EQ((*no_rows)->assemble(ConeProduct()).rows(), 0);
    Vector none(0);
    (*no_rows)->apply(none, none);
  }
  const auto no_velocities = make_factored_delassus(SparseMatrix(0, 0), SparseMatrix(3, 0));
  ASSERT_TRUE(no_velocities.ok());
  EXPECT_EQ((*no_velocities)->dense(), Matrix::Zero(3, 3));
  Vector velocity = Vector::Ones(3);
  (*no_velocities)->apply(Vector::Ones(3), velocity);
  EXPECT_EQ(velocity, Vector::Zero(3));
}

TEST(FactoredDelassus, RefusesBadPartsByName) {
  SparseMatrix identity(3, 3);
  identity.setIdentity();
  EXPECT_THAT(failure(identity, SparseMatrix(2, 4)), HasSubstr("M is 3 x 3 and J is 2 x 4"));
  EXPECT_THAT(failure(SparseMatrix(3, 2), SparseMatrix(2, 2)), HasSubstr("M is 3 x 2"));
  EXPECT_THAT(failure(SparseMatrix(3, 3), SparseMatrix(2, 3)), HasSubstr("singular"));
  SparseMatrix bad = identity;
  bad.coeffRef(1, 1) = std::nan("");
  EXPECT_THAT(failure(bad, SparseMatrix(2, 3)), HasSubstr("M has entries that are not finite"));
  EXPECT_THAT(failure(identity, bad), HasSubstr("J has entries that are not finite"));
}

TEST(DelassusOperator, NoBitOfAProductDependsOnTheThreads) {
  for (const char* form : {"dense", "block_sparse", "factored"}) {
    SCOPED_TRACE(form);
    const ContactProblem problem =
        testing::make_problem("sphere-lattice", {{"nx", 3L}, {"perturbation", 0.5}, {"form", std::string(form)}});
    const Vector impulse = Vector::LinSpaced(problem.rows(), -1.0, 2.0);
    Vector alone(problem.rows()), shared(problem.rows());
    problem.delassus().apply(impulse, alone);
    for (const int threads : {1, 2, 3}) {
      Workers workers(threads);
      shared.setConstant(7.0);
      problem.delassus().apply_by(workers, impulse, shared);
      EXPECT_EQ(shared, alone) << threads;
      problem.multiply(impulse, shared, workers);
      Vector multiplied(problem.rows());
      problem.multiply(impulse, multiplied);
      EXPECT_EQ(shared, multiplied) << threads;
    }
  }
}

TEST(DenseDelassus, RefusesAMatrixThatIsNotSquare) {
  EXPECT_THROW(make_dense_delassus(Matrix::Zero(2, 3)), std::invalid_argument);
}

TEST(DelassusOperator, ProductsDoNotAllocate) {
  if (!testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  RandomSource random(7);
  const auto cones = ConeProduct::create(1, 2, {0.5, 0.3, 0.1}).value();
  const auto factored =
      make_factored_delassus(block_mass(40, 6, random), sparse(random_matrix(12, 40, random))).value();
  const Vector impulse = Vector::Ones(12);
  Vector velocity(12);
  for (const auto& form :
       {factored, make_dense_delassus(factored->dense()), make_block_sparse_delassus(factored->assemble(cones))}) {
    const long before = testing::allocation_count();
    form->apply(impulse, velocity);
    EXPECT_EQ(testing::allocation_count(), before);
  }
}

}  // namespace
}  // namespace conebench
