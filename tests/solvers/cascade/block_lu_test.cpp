#include "solvers/cascade/block_lu.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "scenes/scene_table.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "tests/solvers/cascade/contact_system.hpp"
#include "tests/support/allocation_counter.hpp"

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
    BlockLu lu(problem);
    ASSERT_TRUE(lu.factor(problem, system));
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

TEST(BlockLu, SolvesAnUnsymmetricSystem) {
  Fixture().expect_solved();
  Fixture(lattice(4)).expect_solved();
  for (const long contacts : {1L, 5L, 12L, 32L, 33L}) Fixture(dense_problem(contacts)).expect_solved();
}

TEST(BlockLu, ALargeLatticeIsDissected) {
  const ScaledProblem problem = lattice(9);
  BlockLu lu(problem);
  EXPECT_LT(lu.flops(), 0.7 * eliminate(problem.graph(), minimum_degree_order(problem.graph())).flops);
  ASSERT_TRUE(lu.factor(problem, BlockSystem(problem.contacts(), 1.0)));
  const Vector b = Vector::LinSpaced(problem.size(), -1.0, 2.0);
  Vector x(b.size()), product(b.size());
  lu.solve(b, x);
  problem.multiply(x, product);
  EXPECT_LE((product + x - b).norm(), 1e-11 * b.norm());
}

TEST(BlockLu, SolvesInThePlaneAndCountsTheOperationsOfTwoByTwo) {
  const auto of = [](const char* scene, const OptionValues& options) {
    return ScaledProblem((*require_scene(scene))->make(options, 1).value());
  };
  const OptionValues plane{{"contacts", 30L}, {"dimension", 2L}}, space{{"contacts", 30L}};
  const OptionValues few{{"contacts", 12L}, {"dimension", 2L}};
  for (const ScaledProblem& problem :
       {of("random", plane), of("random", few), of("sphere-lattice", {{"nx", 4L}, {"friction", 0.0}})}) {
    ASSERT_TRUE(problem.planar());
    BlockLu lu(problem);
    for (const double shift : {1.0, 1e-3}) {
      const System system(problem, shift);
      ASSERT_TRUE(lu.factor(problem, system));
      const Matrix a = system.dense(problem);
      const Vector b = system.right_side();
      Vector x(problem.size());
      lu.solve(b, x);
      EXPECT_LE((a * x - b).norm(), 1e-11 * (b.norm() + x.norm()));
    }
  }
  const BlockLu in_plane(of("random", plane)), in_space(of("random", space));
  EXPECT_NEAR(in_plane.flops(), 8.0 / 27.0 * in_space.flops(), 1e-9 * in_space.flops());
}

TEST(BlockLu, ReportsASingularPivotBlockInThePlane) {
  const ScaledProblem problem((*require_scene("random"))->make({{"contacts", 12L}, {"dimension", 2L}}, 1).value());
  System system(problem, 1.0);
  for (auto& block : system.left) block.setZero();
  system.diagonal[1].setZero();
  BlockLu lu(problem);
  EXPECT_FALSE(lu.factor(problem, system));
}

TEST(BlockLu, WhatIsLeftOutActsAsTheIdentity) {
  for (const ScaledProblem& problem : {lattice(3), lattice(4), dense_problem(16)}) {
    Fixture fixture(problem);
    for (int i = 0; i < fixture.n; i += 3) fixture.drop(i);
    for (int i = 1; i < fixture.n; i += 4) fixture.drop_middle(i);
    fixture.expect_solved();
  }
}

TEST(BlockLu, EverythingLeftOutIsTheIdentity) {
  Fixture fixture(lattice(3));
  for (int i = 0; i < fixture.n; ++i) fixture.drop(i);
  fixture.expect_solved();
}

TEST(BlockLu, ReportsASingularPivotBlock) {
  Fixture fixture;
  for (auto& block : fixture.system.left) block.setZero();
  for (auto& block : fixture.system.diagonal) block.setIdentity();
  fixture.system.diagonal[1].setZero();
  BlockLu lu(fixture.problem);
  EXPECT_FALSE(lu.factor(fixture.problem, fixture.system));
}

TEST(BlockLu, AFactorizationDoesNotDependOnTheOneBefore) {
  Fixture fixture(lattice(4));
  const Vector b = fixture.right_side();
  Vector first(b.size()), again(b.size()), other(b.size());
  BlockLu lu(fixture.problem);
  lu.factor(fixture.problem, fixture.system);
  lu.solve(b, first);
  BlockSystem half = fixture.system;
  for (std::size_t i = 0; i < half.left_out.size(); i += 2) half.left_out[i] = true;
  lu.factor(fixture.problem, half);
  lu.factor(fixture.problem, fixture.system);
  lu.solve(b, again);
  const std::vector<double> elsewhere(12345, 1.0);
  BlockLu second(fixture.problem);
  second.factor(fixture.problem, fixture.system);
  second.solve(b, other);
  EXPECT_EQ(first, again);
  EXPECT_EQ(first, other);
}

TEST(BlockLu, SolvesTheShiftedProblemsOfTheProximalPointAndTheNextProblemByOneAnalysis) {
  const auto boxes = [](double mass_ratio) {
    return ScaledProblem((*require_scene("box-stack"))->make({{"boxes", 9L}, {"mass_ratio", mass_ratio}}, 1).value());
  };
  const ScaledProblem problem = boxes(1.0);
  ScaledProblem shifted = problem;
  shifted.become_shifted(problem, 0.5, Vector::Zero(problem.size()));
  BlockLu lu(problem);
  for (const ScaledProblem& other : {problem, shifted, boxes(50.0), problem}) {
    ASSERT_TRUE(problem.same_pattern(other));
    const System system(other, 1e-3);
    ASSERT_TRUE(lu.factor(other, system));
    const Vector b = system.right_side();
    Vector x(b.size());
    lu.solve(b, x);
    EXPECT_LE((system.dense(other) * x - b).norm(), 1e-11 * (b.norm() + x.norm()));
  }
}

TEST(BlockLu, NoFactorIsMadeThatWouldTakeMoreThanItMay) {
  const ScaledProblem problem = lattice(5);
  const BlockLu free(problem);
  BlockLu lu(problem, 0.9 * free.bytes());
  EXPECT_TRUE(free.fits());
  EXPECT_FALSE(lu.fits());
  EXPECT_FALSE(lu.factor(problem, BlockSystem(problem.contacts(), 1.0)));
  Vector x(problem.size());
  lu.solve(Vector::Ones(problem.size()), x);
  EXPECT_TRUE(x.isZero(0.0));
}

TEST(BlockLu, CountsTheBytesThatItAllocates) {
  if (!conebench::testing::allocations_are_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  const auto smooth = ScaledProblem(
      (*require_scene("sphere-lattice"))->make({{"nx", 10L}, {"ny", 10L}, {"nz", 10L}, {"friction", 0.0}}, 1).value());
  for (const ScaledProblem& problem : {lattice(8), dense_problem(200), smooth}) {
    const BlockSystem system(problem.contacts(), 1.0);
    const double before = conebench::testing::heap_bytes();
    BlockLu lu(problem);
    ASSERT_TRUE(lu.factor(problem, system));
    const double taken = conebench::testing::heap_bytes() - before;
    EXPECT_NEAR(lu.bytes() / taken, 1.0, 0.05) << taken;
  }
}

}  // namespace
}  // namespace conebench::cascade
