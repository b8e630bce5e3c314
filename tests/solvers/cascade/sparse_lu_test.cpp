#include "solvers/cascade/sparse_lu.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "scenes/scene_table.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "tests/solvers/cascade/contact_system.hpp"

namespace conebench::cascade {
namespace {

/// A problem whose block pattern is sparse and irregular; the matrices below only use its pattern.
ScaledProblem box_stack() { return ScaledProblem((*require_scene("box-stack"))->make({{"boxes", 6L}}, 1).value()); }

ScaledProblem lattice(long edge) {
  return ScaledProblem((*require_scene("sphere-lattice"))->make({{"nx", edge}, {"ny", edge}, {"nz", edge}}, 1).value());
}

ScaledProblem dense_problem(long contacts) {
  return ScaledProblem((*require_scene("random"))->make({{"contacts", contacts}}, 1).value());
}

struct Fixture {
  ScaledProblem problem;
  int n = problem.contacts();
  std::vector<Eigen::Matrix3d> left, right, diagonal;
  std::vector<char> dropped;

  explicit Fixture(ScaledProblem given = box_stack())
      : problem(std::move(given)), dropped(static_cast<std::size_t>(n), Left::nothing) {
    srand(7);
    for (int i = 0; i < n; ++i) {
      left.push_back(Eigen::Matrix3d::Random());
      right.push_back(Eigen::Matrix3d::Random());
      diagonal.push_back(20.0 * Eigen::Matrix3d::Random() + 40.0 * Eigen::Matrix3d::Identity());
    }
  }
  void drop(int i, Left::What what) {
    const auto at = static_cast<std::size_t>(i);
    dropped[at] = what;
    if (what != Left::middle) return;
    left[at].row(1).setZero();
    right[at].col(1).setZero();
    diagonal[at].row(1).setZero();
    diagonal[at].col(1).setZero();
    diagonal[at](1, 1) = 1.0;
  }
  Matrix dense() const {
    Matrix a = Matrix::Zero(3 * n, 3 * n);
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (dropped[at] == Left::everything) {
        a.block<3, 3>(3 * i, 3 * i).setIdentity();
        continue;
      }
      for (int k = problem.row_begin(i); k < problem.row_begin(i + 1); ++k) {
        const int j = problem.column(k);
        if (dropped[static_cast<std::size_t>(j)] == Left::everything) continue;
        a.block<3, 3>(3 * i, 3 * j) += left[at] * problem.block(k) * right[static_cast<std::size_t>(j)];
      }
      a.block<3, 3>(3 * i, 3 * i) += diagonal[at];
    }
    return a;
  }
  void expect_solved() {
    SparseLu lu;
    lu.analyse(problem.matrix());
    ASSERT_TRUE(lu.factor(problem.matrix(), left, right, diagonal, dropped));
    const Matrix a = dense();
    const Vector b = right_side();
    Vector x(3 * n);
    lu.solve(b, x);
    EXPECT_LE((a * x - b).norm(), 1e-11 * b.norm());
  }
  /// 0 in every middle component.
  Vector right_side() const {
    Vector b = Vector::LinSpaced(3 * n, -1.0, 2.0);
    for (int i = 0; i < n; ++i) b[3 * i + 1] = 0.0;
    return b;
  }
};

TEST(SparseLu, SolvesAnUnsymmetricSystemAndKnowsTheSignOfItsDeterminant) {
  Fixture().expect_solved();
  Fixture(lattice(4)).expect_solved();
  Fixture(dense_problem(12)).expect_solved();
}

TEST(SparseLu, TheSignChangesWithOneRow) {
  Fixture fixture;
  for (auto& block : fixture.left) block.row(0) *= 0.0;
  fixture.diagonal[2].row(0) *= -1.0;
  for (auto& block : fixture.diagonal) block = Eigen::Matrix3d(block.diagonal().asDiagonal());
  fixture.expect_solved();
}

TEST(SparseLu, WhatIsLeftOutActsAsTheIdentity) {
  for (const long edge : {3L, 4L}) {
    Fixture fixture(lattice(edge));
    for (int i = 0; i < fixture.n; i += 3) fixture.drop(i, Left::everything);
    for (int i = 1; i < fixture.n; i += 4) fixture.drop(i, Left::middle);
    fixture.expect_solved();
  }
}

TEST(SparseLu, EverythingLeftOutIsTheIdentity) {
  Fixture fixture(lattice(3));
  for (int i = 0; i < fixture.n; ++i) fixture.drop(i, Left::everything);
  fixture.expect_solved();
}

TEST(SparseLu, ReportsASingularPivotBlock) {
  Fixture fixture;
  for (auto& block : fixture.left) block.setZero();
  for (auto& block : fixture.diagonal) block.setIdentity();
  fixture.diagonal[1].setZero();
  SparseLu lu;
  lu.analyse(fixture.problem.matrix());
  EXPECT_FALSE(lu.factor(fixture.problem.matrix(), fixture.left, fixture.right, fixture.diagonal, fixture.dropped));
}

TEST(SparseLu, AFactorizationDoesNotDependOnTheOneBefore) {
  Fixture fixture(lattice(4));
  const Vector b = fixture.right_side();
  Vector first(b.size()), again(b.size()), other(b.size());
  SparseLu lu;
  lu.analyse(fixture.problem.matrix());
  lu.factor(fixture.problem.matrix(), fixture.left, fixture.right, fixture.diagonal, fixture.dropped);
  lu.solve(b, first);
  std::vector<char> half(fixture.dropped);
  for (std::size_t i = 0; i < half.size(); i += 2) half[i] = Left::everything;
  lu.factor(fixture.problem.matrix(), fixture.left, fixture.right, fixture.diagonal, half);
  lu.factor(fixture.problem.matrix(), fixture.left, fixture.right, fixture.diagonal, fixture.dropped);
  lu.solve(b, again);
  const std::vector<double> elsewhere(12345, 1.0);
  SparseLu second;
  second.analyse(fixture.problem.matrix());
  second.factor(fixture.problem.matrix(), fixture.left, fixture.right, fixture.diagonal, fixture.dropped);
  second.solve(b, other);
  EXPECT_EQ(first, again);
  EXPECT_EQ(first, other);
}

}  // namespace
}  // namespace conebench::cascade
