#include "problems/linear/shifted_factor.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <random>

#include "base/workers.hpp"

namespace conebench {
namespace {

struct Case {
  BlockSparseMatrix matrix;
  Matrix dense;
};

/// G = J Jᵀ plus a share of a skew matrix on the same pattern, of `contacts` contacts between `bodies` bodies in a row.
Case chain(unsigned seed, Index joints, Index limits, Index contacts, Index bodies, double skew, int dimension = 3) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const ConeProduct cones =
      ConeProduct::create(joints, limits, std::vector<double>(static_cast<std::size_t>(contacts), 0.5), dimension)
          .value();
  Matrix jacobian = Matrix::Zero(cones.rows(), 6 * bodies);
  for (Index b = 0; b < cones.blocks(); ++b) {
    const auto body = static_cast<Index>(random() % static_cast<std::uint64_t>(bodies - 1));
    for (Index r = cones.block_row(b); r < cones.block_row(b) + cones.block_size(b); ++r) {
      for (Index c = 6 * body; c < 6 * body + 12; ++c) jacobian(r, c) = normal(random);
    }
  }
  Case result;
  result.dense = jacobian * jacobian.transpose();
  if (skew > 0.0) {
    const Matrix pattern = result.dense.unaryExpr([](double v) { return v != 0.0 ? 1.0 : 0.0; });
    Matrix noise = Matrix::NullaryExpr(cones.rows(), cones.rows(), [&] { return normal(random); });
    noise = Matrix(noise - noise.transpose());
    result.dense += skew * pattern.cwiseProduct(noise);
  }
  result.matrix = BlockSparseMatrix::from_dense(result.dense, cones);
  return result;
}

Vector wave(Index rows) {
  return Vector::NullaryExpr(rows, [](Index i) { return std::sin(static_cast<double>(3 * i + 1)); });
}

class Shifted : public ::testing::TestWithParam<Factorization> {};

TEST_P(Shifted, ThreadsShareAFactorizationToTheLastBit) {
  // Two bodies: one dense panel; forty: several large ones.
  for (const Index bodies : {2, 40}) {
    const Case c = chain(7, 2, 3, 320, bodies, 0.05);
    const Index rows = c.matrix.rows();
    const Vector ones = Vector::Ones(rows), b = wave(rows);
    Vector alone(rows), shared(rows);
    ShiftedFactor factor(c.matrix, ones, ones, GetParam());
    ShiftedFactor::Workspace work;
    ASSERT_TRUE(factor.factor(0.7));
    factor.solve(b, alone, work);
    for (const int threads : {2, 3}) {
      Workers workers(threads);
      ASSERT_TRUE(factor.factor(0.7, &workers));
      factor.solve(b, shared, work);
      EXPECT_EQ(shared, alone) << threads << " threads, " << bodies << " bodies";
    }
  }
}

TEST_P(Shifted, SolvesTheShiftedSystemForAnyPatternAndShift) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto contacts = static_cast<Index>(1 + seed % 13 * 5);
    const int dimension = seed % 5 == 0 ? 2 : 3;
    const Case c = chain(seed, seed % 3, seed % 4, contacts, 2 + seed % 9, 0.05, dimension);
    const Index rows = c.matrix.rows();
    const Vector scale = wave(rows).array() + 2.0;
    const Vector compliance = wave(rows).cwiseAbs();
    ShiftedFactor factor(c.matrix, scale, compliance, GetParam());
    Matrix expected = scale.asDiagonal() * c.dense * scale.asDiagonal();
    if (GetParam() == Factorization::cholesky) expected = Matrix(0.5 * (expected + expected.transpose()));
    expected.diagonal() += compliance;
    const Vector b = wave(rows);
    Vector x(rows);
    for (const double shift : {1.0, 0.1, 30.0}) {
      ASSERT_TRUE(factor.factor(shift));
      factor.solve(b, x);
      EXPECT_LE((expected * x + shift * x - b).norm(), 1e-11 * b.norm() * expected.norm() / shift);
    }
    Vector in_place = b;
    factor.solve(in_place, in_place);
    EXPECT_EQ(in_place, x);
  }
}

TEST_P(Shifted, ManyPanelsOfAFullMatrixAreSolved) {
  const Case c = chain(7, 2, 1, 130, 4, 0.01);
  ShiftedFactor factor(c.matrix, Vector::Ones(c.matrix.rows()), Vector::Zero(c.matrix.rows()), GetParam());
  ASSERT_TRUE(factor.factor(0.5));
  EXPECT_GT(factor.panels(), 3);
  Matrix expected = c.dense;
  if (GetParam() == Factorization::cholesky) expected = Matrix(0.5 * (c.dense + c.dense.transpose()));
  expected.diagonal().array() += 0.5;
  const Vector b = wave(c.matrix.rows());
  Vector x(b.size());
  factor.solve(b, x);
  const Vector reference = expected.partialPivLu().solve(b);
  EXPECT_LE((x - reference).norm(), 1e-9 * reference.norm());
}

TEST_P(Shifted, GroupsOfFewContactsAreSolvedTogether) {
  // Groups of 1, 2, … 8 contacts that touch nothing else, behind a joint and a limit.
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  const ConeProduct cones = ConeProduct::create(1, 1, std::vector<double>(36, 0.5)).value();
  Matrix dense = Matrix::Zero(cones.rows(), cones.rows());
  dense(0, 0) = 2.0;
  dense(1, 1) = 3.0;
  for (Index group = 1, row = 2; group <= 8; row += 3 * group, ++group) {
    const Matrix jacobian = Matrix::NullaryExpr(3 * group, 2 * group, [&] { return normal(random); });
    const Matrix skew = Matrix::NullaryExpr(3 * group, 3 * group, [&] { return 0.1 * normal(random); });
    dense.block(row, row, 3 * group, 3 * group) = jacobian * jacobian.transpose() + skew - skew.transpose();
  }
  const auto matrix = BlockSparseMatrix::from_dense(dense, cones);
  const Vector rows = Vector::Ones(cones.rows()), b = wave(cones.rows());
  ShiftedFactor factor(matrix, rows, 0.0 * rows, GetParam());
  if (GetParam() == Factorization::cholesky) dense = Matrix(0.5 * (dense + dense.transpose()));
  Vector x(b.size());
  for (const double shift : {1e-4, 1.0}) {
    ASSERT_TRUE(factor.factor(shift));
    EXPECT_EQ(factor.inverted(0), shift == 1.0);
    EXPECT_EQ(factor.inverted(85), shift == 1.0);
    factor.solve(b, x);
    const Vector reference = (dense + shift * Matrix::Identity(b.size(), b.size())).partialPivLu().solve(b);
    EXPECT_LE((x - reference).norm(), 1e-14 * dense.norm() / shift * reference.norm());
  }
  // So large beside the diagonal that groups are inverted, if they make one panel; those are the first 86 rows.
  constexpr double shift = 0.02;
  for (Index row = 0; row < b.size(); row += 5) {
    dense(row, row) -= 100.0;
    ShiftedFactor refused(BlockSparseMatrix::from_dense(dense, cones), rows, 0.0 * rows, GetParam());
    EXPECT_FALSE(refused.factor(shift)) << "row " << row;
    EXPECT_TRUE(refused.inverted(row) || row >= 86) << "row " << row;
    dense(row, row) += 100.0;
  }
}

TEST_P(Shifted, ReportsThatAnIndefiniteMatrixHasNoFactors) {
  Case c = chain(3, 0, 0, 30, 8, 0.0);
  c.dense.diagonal()[40] = -50.0;
  const ConeProduct cones = ConeProduct::create(0, 0, std::vector<double>(30, 0.5)).value();
  const auto matrix = BlockSparseMatrix::from_dense(c.dense, cones);
  ShiftedFactor factor(matrix, Vector::Ones(90), Vector::Zero(90), GetParam());
  EXPECT_FALSE(factor.factor(1e-3));
  EXPECT_TRUE(factor.factor(1e4)) << "and it recovers";
  Vector x(90);
  factor.solve(wave(90), x);
  EXPECT_LE((c.dense * x + 1e4 * x - wave(90)).norm(), 1e-10);
}

INSTANTIATE_TEST_SUITE_P(All, Shifted, ::testing::Values(Factorization::cholesky, Factorization::lu));

ShiftedFactor pattern_of(const Matrix& dense) {
  const Vector rows = Vector::Ones(dense.rows());
  const ConeProduct cones =
      ConeProduct::create(0, 0, std::vector<double>(static_cast<std::size_t>(dense.rows() / 3), 0.5)).value();
  return {BlockSparseMatrix::from_dense(dense, cones), rows, 0.0 * rows, Factorization::cholesky};
}

TEST(ShiftedFactor, FillOfATridiagonalChainIsNone) {
  // 40 contacts in a line, each coupled to the next: a perfect elimination order exists.
  Matrix dense = Matrix::Zero(120, 120);
  for (Index i = 0; i < 40; ++i) {
    dense.block(3 * i, 3 * i, 3, 3).setConstant(1.0);
    if (i > 0) dense.block(3 * i, 3 * i - 3, 3, 3).setConstant(1.0);
    if (i > 0) dense.block(3 * i - 3, 3 * i, 3, 3).setConstant(1.0);
  }
  const ShiftedFactor factor = pattern_of(dense);
  // 40 panels of 6 × 3 hold the factor; merged ones hold zeros too, far from the 14,400 of a dense factor.
  EXPECT_GE(factor.panel_values(), 711);
  EXPECT_LE(factor.panel_values(), 2000);
  EXPECT_GT(factor.panels(), 5);
  EXPECT_LE(factor.panels(), 20) << "pairs at least are merged";
}

TEST(ShiftedFactor, IndependentContactsAreEliminatedByThemselves) {
  const ShiftedFactor factor = pattern_of(2.0 * Matrix::Identity(150, 150));
  EXPECT_EQ(factor.panels(), 50);
  EXPECT_EQ(factor.panel_values(), 50 * 3 * 4) << "three rows and one of zeros";
}

TEST(ShiftedFactor, TheGramOfHalfASolutionIsThatOfTheWhole) {
  const Case c = chain(3, 1, 2, 24, 9, 0.0);
  const Index rows = c.matrix.rows();
  ShiftedFactor factor(c.matrix, Vector::Ones(rows), Vector::Ones(rows), Factorization::cholesky);
  ASSERT_TRUE(factor.factor_once(0.0));
  const Matrix inverse = (c.dense + Matrix::Identity(rows, rows)).inverse();
  std::mt19937_64 random(4);
  Matrix columns = Matrix::Zero(rows, 7);
  for (Index j = 0; j < columns.cols(); ++j) {
    for (int entry = 0; entry < 4; ++entry)
      columns(static_cast<Index>(random() % static_cast<std::uint64_t>(rows)), j) = 1.0 + entry;
  }
  ShiftedFactor::Workspace work;
  for (const Index first : {0, 2, 4}) {
    Matrix gram(3, 3);
    factor.gram(columns.sparseView(), first, 3, gram.data(), work);
    const Matrix part = columns.middleCols(first, 3);
    EXPECT_LE((gram - part.transpose() * inverse * part).norm(), 1e-13 * gram.norm());
  }
  EXPECT_TRUE(work.rows.isZero(0.0));
}

TEST(ShiftedFactor, RefusesPivotsThatAreRoundingOfTheirDiagonal) {
  Matrix singular(3, 3);
  singular << 2.0, 1.0, 1.0, 1.0, 2.0, -1.0, 1.0, -1.0, 2.0;
  singular.diagonal().array() += 1e-15;
  const auto cones = ConeProduct::create(3, 0, {}).value();
  const auto factor = [&] {
    return ShiftedFactor(BlockSparseMatrix::from_dense(singular, cones), Vector::Ones(3), Vector::Zero(3),
                         Factorization::cholesky);
  };
  EXPECT_FALSE(factor().factor_once(1e-12));
  EXPECT_TRUE(factor().factor(1e-3));
  singular.diagonal().array() += 1e-3;
  EXPECT_TRUE(factor().factor_once(1e-12));
}

TEST(ShiftedFactor, TakesNoRowsOneRowAndRefusesWhatIsNoNumber) {
  for (const Factorization kind : {Factorization::cholesky, Factorization::lu}) {
    ShiftedFactor none(BlockSparseMatrix::from_dense(Matrix(0, 0), ConeProduct()), Vector(0), Vector(0), kind);
    Vector nothing(0);
    EXPECT_TRUE(none.factor(1.0));
    none.solve(nothing, nothing);
    Matrix one = Matrix::Constant(1, 1, 3.0);
    const auto cones = ConeProduct::create(1, 0, {}).value();
    ShiftedFactor single(BlockSparseMatrix::from_dense(one, cones), Vector::Ones(1), Vector::Zero(1), kind);
    Vector x = Vector::Ones(1);
    ASSERT_TRUE(single.factor(1.0));
    single.solve(x, x);
    EXPECT_DOUBLE_EQ(x[0], 0.25);
    one(0, 0) = std::numeric_limits<double>::quiet_NaN();
    ShiftedFactor undefined(BlockSparseMatrix::from_dense(one, cones), Vector::Ones(1), Vector::Zero(1), kind);
    EXPECT_FALSE(undefined.factor(1.0));
  }
}

TEST(ShiftedFactor, OneWorkspaceServesMatricesOfAnySize) {
  ShiftedFactor::Workspace work;
  for (const Index contacts : {12, 3, 30}) {
    const Case c = chain(5, 0, 0, contacts, 6, 0.0);
    const Index rows = c.matrix.rows();
    ShiftedFactor factor(c.matrix, Vector::Ones(rows), Vector::Ones(rows), Factorization::cholesky);
    ASSERT_TRUE(factor.factor_once(0.0));
    const Vector b = wave(rows);
    Vector x(rows);
    factor.solve(b, x, work);
    EXPECT_LE((c.dense * x + x - b).norm(), 1e-11 * b.norm() * c.dense.norm());
  }
}

}  // namespace
}  // namespace conebench
