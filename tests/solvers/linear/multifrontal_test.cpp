#include "solvers/linear/multifrontal.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <random>

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

class Multifrontal : public ::testing::TestWithParam<std::tuple<Factorization, Storage>> {
 protected:
  Factorization factorization() const { return std::get<0>(GetParam()); }
  Storage storage() const { return std::get<1>(GetParam()); }
};

TEST_P(Multifrontal, SolvesTheShiftedSystemForAnyPatternAndShift) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto contacts = static_cast<Index>(1 + seed % 13 * 5);
    const int dimension = seed % 5 == 0 ? 2 : 3;
    const Case c = chain(seed, seed % 3, seed % 4, contacts, 2 + seed % 9, 0.05, dimension);
    const Index rows = c.matrix.rows();
    const Vector scale = wave(rows).array() + 2.0;
    const Vector compliance = wave(rows).cwiseAbs();
    MultifrontalFactor factor(c.matrix, scale, compliance, factorization(), storage());
    Matrix expected = scale.asDiagonal() * c.dense * scale.asDiagonal();
    if (factorization() == Factorization::cholesky) expected = Matrix(0.5 * (expected + expected.transpose()));
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

TEST_P(Multifrontal, FrontsWiderThanAPanelAreSolved) {
  const Case c = chain(7, 2, 1, 130, 4, 0.01);
  MultifrontalFactor factor(c.matrix, Vector::Ones(c.matrix.rows()), Vector::Zero(c.matrix.rows()), factorization(),
                            storage());
  ASSERT_TRUE(factor.factor(0.5));
  EXPECT_GT(factor.fronts().most_rows, 64);
  Matrix expected = c.dense;
  if (factorization() == Factorization::cholesky) expected = Matrix(0.5 * (c.dense + c.dense.transpose()));
  expected.diagonal().array() += 0.5;
  const Vector b = wave(c.matrix.rows());
  Vector x(b.size());
  factor.solve(b, x);
  const Vector reference = expected.partialPivLu().solve(b);
  EXPECT_LE((x - reference).norm(), 1e-9 * reference.norm());
}

TEST_P(Multifrontal, GroupsOfFewContactsAreSolvedBesideEachOther) {
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
  MultifrontalFactor factor(matrix, rows, 0.0 * rows, factorization(), storage());
  if (factorization() == Factorization::cholesky) dense = Matrix(0.5 * (dense + dense.transpose()));
  Vector x(b.size());
  for (const double shift : {1e-4, 1.0}) {
    ASSERT_TRUE(factor.factor(shift));
    factor.solve(b, x);
    const Vector reference = (dense + shift * Matrix::Identity(b.size(), b.size())).partialPivLu().solve(b);
    EXPECT_LE((x - reference).norm(), 1e-14 * dense.norm() / shift * reference.norm());
  }
  // Large beside the diagonal, so that what is of up to six contacts is inverted; those are the first 65 rows.
  constexpr double shift = 0.02;
  for (Index row = 0; row < b.size(); row += 5) {
    dense(row, row) -= 100.0;
    MultifrontalFactor refused(BlockSparseMatrix::from_dense(dense, cones), rows, 0.0 * rows, factorization(),
                               storage());
    EXPECT_FALSE(refused.factor(shift)) << "row " << row;
    EXPECT_EQ(refused.inverted(row), !refused.dense() && row < 65) << "row " << row;
    dense(row, row) += 100.0;
  }
}

TEST_P(Multifrontal, TellsThatAnIndefiniteMatrixHasNoFactors) {
  Case c = chain(3, 0, 0, 30, 8, 0.0);
  c.dense.diagonal()[40] = -50.0;
  const ConeProduct cones = ConeProduct::create(0, 0, std::vector<double>(30, 0.5)).value();
  const auto matrix = BlockSparseMatrix::from_dense(c.dense, cones);
  MultifrontalFactor factor(matrix, Vector::Ones(90), Vector::Zero(90), factorization(), storage());
  EXPECT_FALSE(factor.factor(1e-3));
  EXPECT_TRUE(factor.factor(1e4)) << "and it recovers";
  Vector x(90);
  factor.solve(wave(90), x);
  EXPECT_LE((c.dense * x + 1e4 * x - wave(90)).norm(), 1e-10);
}

INSTANTIATE_TEST_SUITE_P(All, Multifrontal,
                         ::testing::Combine(::testing::Values(Factorization::cholesky, Factorization::lu),
                                            ::testing::Values(Storage::dense, Storage::sparse, Storage::automatic)));

TEST(EliminationFronts, FillOfATridiagonalChainIsNone) {
  // 40 contacts in a line, each coupled to the next: a perfect elimination order exists.
  Matrix dense = Matrix::Zero(120, 120);
  for (Index i = 0; i < 40; ++i) {
    dense.block(3 * i, 3 * i, 3, 3).setConstant(1.0);
    if (i > 0) dense.block(3 * i, 3 * i - 3, 3, 3).setConstant(1.0);
    if (i > 0) dense.block(3 * i - 3, 3 * i, 3, 3).setConstant(1.0);
  }
  const ConeProduct cones = ConeProduct::create(0, 0, std::vector<double>(40, 0.5)).value();
  const auto fronts = analyse_fronts(BlockSparseMatrix::from_dense(dense, cones));
  // 40 panels of 6 × 3 hold the factor; merged ones hold zeros too, far from the 14,400 of a dense factor.
  EXPECT_GE(fronts.panel_values, 711);
  EXPECT_LE(fronts.panel_values, 2000);
  EXPECT_LE(fronts.most_rows, 18);
  std::vector<int> sorted = fronts.old_row;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < 120; ++i) EXPECT_EQ(sorted[static_cast<std::size_t>(i)], i);
}

TEST(EliminationFronts, IndependentContactsMakeIndependentFronts) {
  const ConeProduct cones = ConeProduct::create(0, 0, std::vector<double>(50, 0.5)).value();
  const auto fronts = analyse_fronts(BlockSparseMatrix::from_dense(Matrix(2.0 * Matrix::Identity(150, 150)), cones));
  EXPECT_EQ(fronts.fronts.size(), 50U);
  EXPECT_EQ(fronts.panel_values, 450);
  EXPECT_EQ(fronts.stack_values, 0);
}

}  // namespace
}  // namespace conebench
