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
  BlockSystem system;

  explicit Fixture(ScaledProblem given = box_stack()) : problem(std::move(given)), system(n, 40.0) {
    srand(7);
    for (std::size_t i = 0; i < system.left.size(); ++i) {
      system.left[i].setRandom();
      system.right[i].setRandom();
      system.diagonal[i] += 20.0 * Eigen::Matrix3d::Random();
    }
  }
  void drop(int i) { system.left_out[static_cast<std::size_t>(i)] = true; }
  void drop_middle(int i) {
    const auto at = static_cast<std::size_t>(i);
    system.left[at].row(1).setZero();
    system.right[at].col(1).setZero();
    system.diagonal[at].row(1).setZero();
    system.diagonal[at].col(1).setZero();
    system.diagonal[at](1, 1) = 1.0;
  }
  Matrix dense() const {
    Matrix a = Matrix::Zero(3 * n, 3 * n);
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (system.left_out[at]) {
        a.block<3, 3>(3 * i, 3 * i).setIdentity();
        continue;
      }
      for (int k = problem.row_begin(i); k < problem.row_begin(i + 1); ++k) {
        const int j = problem.column(k);
        if (system.left_out[static_cast<std::size_t>(j)]) continue;
        a.block<3, 3>(3 * i, 3 * j) += system.left[at] * problem.block(k) * system.right[static_cast<std::size_t>(j)];
      }
      a.block<3, 3>(3 * i, 3 * i) += system.diagonal[at];
    }
    return a;
  }
  void expect_solved() {
    SparseLu lu;
    lu.analyse(problem.matrix());
    ASSERT_TRUE(lu.factor(problem.matrix(), system));
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

TEST(SparseLu, SolvesAnUnsymmetricSystem) {
  Fixture().expect_solved();
  Fixture(lattice(4)).expect_solved();
  for (const long contacts : {1L, 5L, 12L, 32L, 33L}) Fixture(dense_problem(contacts)).expect_solved();
}

TEST(SparseLu, SolvesInThePlaneAndCountsTheOperationsOfTwoByTwo) {
  const auto of = [](const char* scene, const OptionValues& options) {
    return ScaledProblem((*require_scene(scene))->make(options, 1).value());
  };
  const OptionValues plane{{"contacts", 30L}, {"dimension", 2L}}, space{{"contacts", 30L}};
  const OptionValues few{{"contacts", 12L}, {"dimension", 2L}};
  for (const ScaledProblem& problem :
       {of("random", plane), of("random", few), of("sphere-lattice", {{"nx", 4L}, {"friction", 0.0}})}) {
    ASSERT_TRUE(problem.planar());
    SparseLu lu;
    lu.analyse(problem.matrix());
    for (const double shift : {1.0, 1e-3}) {
      const System system(problem, shift);
      ASSERT_TRUE(lu.factor(problem.matrix(), system));
      const Matrix a = system.dense(problem);
      const Vector b = system.right_side();
      Vector x(problem.size());
      lu.solve(b, x);
      EXPECT_LE((a * x - b).norm(), 1e-11 * (b.norm() + x.norm()));
    }
  }
  SparseLu in_plane, in_space;
  in_plane.analyse(of("random", plane).matrix());
  in_space.analyse(of("random", space).matrix());
  EXPECT_NEAR(in_plane.flops(), 8.0 / 27.0 * in_space.flops(), 1e-9 * in_space.flops());
}

TEST(SparseLu, ReportsASingularPivotBlockInThePlane) {
  const ScaledProblem problem((*require_scene("random"))->make({{"contacts", 12L}, {"dimension", 2L}}, 1).value());
  System system(problem, 1.0);
  for (auto& block : system.left) block.setZero();
  system.diagonal[1].setZero();
  SparseLu lu;
  lu.analyse(problem.matrix());
  EXPECT_FALSE(lu.factor(problem.matrix(), system));
}

TEST(SparseLu, WhatIsLeftOutActsAsTheIdentity) {
  for (const ScaledProblem& problem : {lattice(3), lattice(4), dense_problem(16)}) {
    Fixture fixture(problem);
    for (int i = 0; i < fixture.n; i += 3) fixture.drop(i);
    for (int i = 1; i < fixture.n; i += 4) fixture.drop_middle(i);
    fixture.expect_solved();
  }
}

TEST(SparseLu, EverythingLeftOutIsTheIdentity) {
  Fixture fixture(lattice(3));
  for (int i = 0; i < fixture.n; ++i) fixture.drop(i);
  fixture.expect_solved();
}

TEST(SparseLu, ReportsASingularPivotBlock) {
  Fixture fixture;
  for (auto& block : fixture.system.left) block.setZero();
  for (auto& block : fixture.system.diagonal) block.setIdentity();
  fixture.system.diagonal[1].setZero();
  SparseLu lu;
  lu.analyse(fixture.problem.matrix());
  EXPECT_FALSE(lu.factor(fixture.problem.matrix(), fixture.system));
}

TEST(SparseLu, AFactorizationDoesNotDependOnTheOneBefore) {
  Fixture fixture(lattice(4));
  const Vector b = fixture.right_side();
  Vector first(b.size()), again(b.size()), other(b.size());
  SparseLu lu;
  lu.analyse(fixture.problem.matrix());
  lu.factor(fixture.problem.matrix(), fixture.system);
  lu.solve(b, first);
  BlockSystem half = fixture.system;
  for (std::size_t i = 0; i < half.left_out.size(); i += 2) half.left_out[i] = true;
  lu.factor(fixture.problem.matrix(), half);
  lu.factor(fixture.problem.matrix(), fixture.system);
  lu.solve(b, again);
  const std::vector<double> elsewhere(12345, 1.0);
  SparseLu second;
  second.analyse(fixture.problem.matrix());
  second.factor(fixture.problem.matrix(), fixture.system);
  second.solve(b, other);
  EXPECT_EQ(first, again);
  EXPECT_EQ(first, other);
}

}  // namespace
}  // namespace conebench::cascade
