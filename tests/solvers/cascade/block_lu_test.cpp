#include "solvers/cascade/block_lu.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "problems/scenes/scene_table.hpp"

namespace conebench::cascade {
namespace {

/// A problem whose block pattern is sparse and irregular; the matrices below only use its pattern.
ScaledProblem pattern() {
  const auto problem = (*require_scene("box-stack"))->make({{"boxes", 6L}}, 1);
  return ScaledProblem(problem.value());
}

struct Fixture {
  ScaledProblem problem = pattern();
  int n = problem.contacts();
  std::vector<Eigen::Matrix3d> left, right, diagonal;
  std::vector<char> dropped;

  Fixture() : dropped(static_cast<std::size_t>(n), 0) {
    srand(7);
    for (int i = 0; i < n; ++i) {
      left.push_back(Eigen::Matrix3d::Random());
      right.push_back(Eigen::Matrix3d::Random());
      diagonal.push_back(20.0 * Eigen::Matrix3d::Random() + 40.0 * Eigen::Matrix3d::Identity());
    }
  }
  Matrix dense() const {
    Matrix a = Matrix::Zero(3 * n, 3 * n);
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (dropped[at]) {
        a.block<3, 3>(3 * i, 3 * i).setIdentity();
        continue;
      }
      for (int k = problem.row_begin(i); k < problem.row_begin(i + 1); ++k) {
        const int j = problem.column(k);
        if (dropped[static_cast<std::size_t>(j)]) continue;
        a.block<3, 3>(3 * i, 3 * j) += left[at] * problem.block(k) * right[static_cast<std::size_t>(j)];
      }
      a.block<3, 3>(3 * i, 3 * i) += diagonal[at];
    }
    return a;
  }
  void expect_solved() {
    BlockLu lu;
    lu.analyse(problem);
    ASSERT_TRUE(lu.factor(problem, left, right, diagonal, dropped));
    const Matrix a = dense();
    const Vector b = Vector::LinSpaced(3 * n, -1.0, 2.0);
    Vector x(3 * n);
    lu.solve(b, x);
    EXPECT_LE((a * x - b).norm(), 1e-11 * b.norm());
    EXPECT_EQ(lu.determinant_sign(), a.determinant() > 0.0 ? 1 : -1);
  }
};

TEST(BlockLu, SolvesAnUnsymmetricSystemAndKnowsTheSignOfItsDeterminant) { Fixture().expect_solved(); }

TEST(BlockLu, TheSignChangesWithOneRow) {
  Fixture fixture;
  for (auto& block : fixture.left) block.row(0) *= 0.0;
  fixture.diagonal[2].row(0) *= -1.0;
  for (auto& block : fixture.diagonal) block = Eigen::Matrix3d(block.diagonal().asDiagonal());
  fixture.expect_solved();
}

TEST(BlockLu, DroppedRowsActAsTheIdentity) {
  Fixture fixture;
  for (int i = 0; i < fixture.n; i += 3) fixture.dropped[static_cast<std::size_t>(i)] = 1;
  fixture.expect_solved();
}

TEST(BlockLu, ReportsASingularPivotBlock) {
  Fixture fixture;
  for (auto& block : fixture.left) block.setZero();
  for (auto& block : fixture.diagonal) block.setIdentity();
  fixture.diagonal[1].setZero();
  BlockLu lu;
  lu.analyse(fixture.problem);
  EXPECT_FALSE(lu.factor(fixture.problem, fixture.left, fixture.right, fixture.diagonal, fixture.dropped));
}

}  // namespace
}  // namespace conebench::cascade
