#include "solvers/admm/velocity_space_factor.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <random>

#include "problems/contact_problem.hpp"
#include "problems/delassus_operator.hpp"
#include "solvers/admm/admm.hpp"
#include "solvers/monitor.hpp"

namespace conebench {
namespace {

Vector wave(Index rows) {
  return Vector::NullaryExpr(rows, [](Index i) { return std::sin(static_cast<double>(3 * i + 1)); });
}

/// A row of bodies with `contacts` contacts between neighbours, redundant where they are many; `spoilt` adds to G's
/// diagonal what M and J do not have.
ContactProblem row_of_bodies(unsigned seed, Index joints, Index limits, Index contacts, Index velocities, int dimension,
                             double spoilt = 0.0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  ContactProblemData data;
  data.cones =
      ConeProduct::create(joints, limits, std::vector<double>(static_cast<std::size_t>(contacts), 0.5), dimension)
          .value();
  Matrix jacobian = Matrix::Zero(data.cones.rows(), velocities);
  for (Index b = 0; b < data.cones.blocks(); ++b) {
    const auto first = static_cast<Index>(random() % static_cast<std::uint64_t>(velocities - 3));
    for (Index r = data.cones.block_row(b); r < data.cones.block_row(b) + data.cones.block_size(b); ++r) {
      for (Index c = first; c < first + 4; ++c) jacobian(r, c) = normal(random);
    }
  }
  Matrix mass = Matrix::Zero(velocities, velocities);
  mass.diagonal() = wave(velocities).cwiseAbs().array() + 0.1;
  for (Index i = 0; i + 1 < velocities; i += 3) mass(i, i + 1) = mass(i + 1, i) = 0.02;
  Matrix delassus = jacobian * mass.lu().solve(Matrix(jacobian.transpose()));
  delassus.diagonal().array() += spoilt;
  data.delassus = make_block_sparse_delassus(BlockSparseMatrix::from_dense(delassus, data.cones));
  data.primal = PrimalForm{mass.sparseView(), jacobian.sparseView(), wave(velocities)};
  data.free_term = jacobian * data.primal->free_velocity;
  data.bias = Vector::Zero(data.cones.rows());
  return ContactProblem::create(std::move(data)).value();
}

TEST(VelocitySpaceFactor, SolvesTheShiftedSystemForAnyPatternAndShift) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const ContactProblem problem =
        row_of_bodies(seed, seed % 3, seed % 4, 1 + seed % 7 * 5, 7 + seed % 6, seed % 5 == 0 ? 2 : 3);
    const Index rows = problem.rows();
    const Vector scale = wave(rows).array() + 2.0, compliance = wave(rows).cwiseAbs(), b = wave(rows);
    auto factor = VelocitySpaceFactor::create(problem, scale, compliance);
    ASSERT_TRUE(factor);
    const Matrix scaled = scale.asDiagonal() * problem.blocks().dense() * scale.asDiagonal();
    Vector x(rows);
    for (const double shift : {1.0, 1e-3, 30.0}) {
      ASSERT_TRUE(factor->factor(shift));
      factor->solve(b, x);
      Matrix expected = scaled;
      expected.diagonal() += compliance + Vector::Constant(rows, shift);
      EXPECT_LT((expected * x - b).norm(), 1e-9 * b.norm()) << shift;
      Vector same = b;
      factor->solve(same, same);
      EXPECT_EQ(same, x) << "in place";
    }
  }
}

TEST(VelocitySpaceFactor, ASecondShiftLeavesNothingOfTheFirst) {
  const ContactProblem problem = row_of_bodies(4, 2, 3, 20, 9, 3);
  const Index rows = problem.rows();
  const Vector scale = wave(rows).array() + 2.0, compliance = wave(rows).cwiseAbs(), b = wave(rows);
  auto used = VelocitySpaceFactor::create(problem, scale, compliance);
  auto fresh = VelocitySpaceFactor::create(problem, scale, compliance);
  ASSERT_TRUE(used && fresh);
  Vector x(rows), expected(rows);
  ASSERT_TRUE(used->factor(10.0));
  ASSERT_TRUE(used->factor(0.3));
  ASSERT_TRUE(fresh->factor(0.3));
  used->solve(b, x);
  fresh->solve(b, expected);
  EXPECT_EQ(x, expected);
}

TEST(VelocitySpaceFactor, IsNotMadeWhereGIsAnotherMatrix) {
  const ContactProblem problem = row_of_bodies(1, 0, 0, 12, 9, 3, 1e-6);
  EXPECT_FALSE(VelocitySpaceFactor::create(problem, Vector::Ones(36), Vector::Zero(36)));
}

TEST(VelocitySpaceFactor, ShiftsThatCostTooManyDigitsAreRefused) {
  const ContactProblem problem = row_of_bodies(1, 0, 0, 12, 9, 3);
  auto factor = VelocitySpaceFactor::create(problem, Vector::Ones(36), Vector::Zero(36));
  ASSERT_TRUE(factor);
  EXPECT_TRUE(factor->factor(1e-2));
  EXPECT_FALSE(factor->factor(1e-14));
  EXPECT_FALSE(factor->factor(0.0));
  EXPECT_TRUE(factor->factor(1e-2));
}

TEST(VelocitySpaceFactor, AdmmWalksTheSameWayInItAsInTheSpaceOfImpulses) {
  const ContactProblem problem = row_of_bodies(5, 2, 3, 40, 24, 3);
  for (const char* id : {"ADMM-NCP-SA", "ADMM-NCP-SA-S", "ADMM-CCP"}) {
    Vector impulses[2];
    SolveSummary summaries[2];
    int which = 0;
    for (const char* storage : {"sparse", "velocities"}) {
      const auto solver = (*require_solver(id))->make({{"storage", std::string(storage)}}).value();
      ASSERT_FALSE(solver->prepare(problem));
      SilentMonitor silent;
      impulses[which].setZero(problem.rows());
      summaries[which] =
          solver->solve(Vector::Zero(problem.rows()), {1e-12, 300, Criterion::own}, silent, impulses[which]);
      ++which;
    }
    EXPECT_GT(impulses[0].norm(), 0.0) << id;
    EXPECT_LT((impulses[1] - impulses[0]).norm(), 1e-8 * impulses[0].norm()) << id;
    EXPECT_EQ(summaries[1].factorizations, summaries[0].factorizations) << id;
    EXPECT_GT(summaries[1].operator_products, summaries[0].operator_products) << id << ": factors are tried";
  }
}

}  // namespace
}  // namespace conebench
