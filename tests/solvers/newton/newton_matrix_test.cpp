#include "solvers/newton/newton_matrix.hpp"

#include <gtest/gtest.h>

#include "tests/solvers/micro_problems.hpp"
#include "tests/solvers/newton/mixed_problems.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench::newton {
namespace {

using namespace conebench::testing;

BlockDiagonal zero_blocks(const ConeProduct& cones) {
  return BlockDiagonal(cones.blocks(), [&](Index i) { return cones.block_size(i); });
}

BlockDiagonal random_blocks(const ConeProduct& cones, int seed) {
  std::srand(static_cast<unsigned>(seed));
  BlockDiagonal blocks = zero_blocks(cones);
  for (Index i = 0; i < cones.blocks(); ++i) blocks.block(i).setRandom();
  return blocks;
}

/// X + Y (G + R + ε E), assembled in the open.
Matrix expected_matrix(const ContactProblem& problem, const BlockDiagonal& x, const BlockDiagonal& y, double epsilon) {
  const ConeProduct& cones = problem.cones();
  Matrix a = problem.delassus().dense();
  a.diagonal() += problem.compliance();
  Matrix left = Matrix::Zero(a.rows(), a.rows());
  Matrix added = left;
  Vector shift(a.rows());
  for (Index i = 0; i < cones.blocks(); ++i) {
    const Index row = cones.block_row(i);
    const int size = cones.block_size(i);
    left.block(row, row, size, size) = y.block(i);
    added.block(row, row, size, size) = x.block(i);
    shift.segment(row, size).setConstant(a.diagonal().segment(row, size).mean());
  }
  return added + left * (a + epsilon * Matrix(shift.asDiagonal()));
}

TEST(NewtonMatrix, DenseAndSparseSolveTheSystemAsItIsWrittenDown) {
  std::vector<ContactProblem> problems = {mixed_laws()};
  for (const long dimension : {2L, 3L}) {
    problems.push_back(make_problem("known-solution", {{"contacts", 12L},
                                                       {"joints", 2L},
                                                       {"limits", 3L},
                                                       {"coupling", 3L},
                                                       {"compliance", 0.1},
                                                       {"dimension", dimension}}));
  }
  for (const ContactProblem& problem : problems) {
    const auto x = random_blocks(problem.cones(), 1);
    const auto y = random_blocks(problem.cones(), 2);
    const Matrix expected = expected_matrix(problem, x, y, 0.05);
    const Vector right = Vector::LinSpaced(problem.rows(), -1.0, 1.0);
    for (const Storage storage : {Storage::dense, Storage::sparse}) {
      NewtonMatrix matrix(problem.blocks(), problem.compliance(), storage);
      EXPECT_EQ(matrix.dense(), storage == Storage::dense);
      Vector solution(problem.rows());
      for (int repeat = 0; repeat < 2; ++repeat) {
        ASSERT_TRUE(matrix.factor(x, y, 0.05));
        matrix.solve(right, solution);
        EXPECT_LE((expected * solution - right).norm(), 1e-9 * expected.norm() * solution.norm());
      }
    }
  }
}

TEST(NewtonMatrix, RedundantStickingContactsNeedTheRegularisation) {
  const ContactProblem problem = cube_on_corners(8, 0.01, 0.8);
  const BlockDiagonal x = zero_blocks(problem.cones());
  BlockDiagonal y = x;
  for (Index i = 0; i < 8; ++i) y.block(i).setIdentity();
  const Vector right = -problem.free_term();
  for (const Storage storage : {Storage::dense, Storage::sparse}) {
    NewtonMatrix matrix(problem.blocks(), problem.compliance(), storage);
    Vector solution(problem.rows());
    ASSERT_TRUE(matrix.factor(x, y, 1e-6));
    matrix.solve(right, solution);
    Vector sigma(problem.rows());
    problem.velocity(solution, sigma);
    EXPECT_LE(sigma.norm(), 1e-5);
    EXPECT_LE(solution.norm(), 1.0) << "of the many solutions one without large internal forces";
  }
}

TEST(NewtonMatrix, StorageIsChosenBySizeAndDensity) {
  const auto is_dense = [](const OptionValues& values) {
    const ContactProblem problem = make_problem("known-solution", values);
    return NewtonMatrix(problem.blocks(), problem.compliance(), Storage::automatic).dense();
  };
  EXPECT_TRUE(is_dense({{"contacts", 20L}, {"coupling", 3L}}));
  EXPECT_FALSE(is_dense({{"contacts", 100L}, {"coupling", 3L}}));
  EXPECT_TRUE(is_dense({{"contacts", 100L}}));
}

}  // namespace
}  // namespace conebench::newton
