#include "solvers/cascade/block_krylov.hpp"

#include <gtest/gtest.h>

#include "scenes/scene_table.hpp"
#include "solvers/cascade/block_lu.hpp"
#include "solvers/cascade/scaled_problem.hpp"
#include "tests/solvers/cascade/contact_system.hpp"
#include "tests/support/allocation_counter.hpp"

namespace conebench::cascade {
namespace {

ScaledProblem scene(const char* id, const OptionValues& values) {
  return ScaledProblem((*require_scene(id))->make(values, 1).value());
}

ScaledProblem lattice(long nx, long ny, long nz) {
  return scene("sphere-lattice", {{"nx", nx}, {"ny", ny}, {"nz", nz}, {"perturbation", 0.5}});
}

double error_of(const ScaledProblem& problem, const System& system, BlockKrylov& krylov) {
  const Vector b = system.right_side();
  Vector x(problem.size());
  EXPECT_TRUE(krylov.factor(problem, system));
  krylov.solve(b, x);
  return (system.dense(problem) * x - b).norm() / b.norm();
}

TEST(BlockKrylov, SolvesToItsToleranceInSpaceAndInThePlane) {
  for (const ScaledProblem& problem :
       {lattice(4, 4, 4), scene("box-stack", {{"boxes", 6L}}), scene("random", {{"contacts", 30L}}),
        scene("random", {{"contacts", 30L}, {"dimension", 2L}}),
        scene("random", {{"contacts", 10L}, {"limits", 6L}})}) {
    for (const double tolerance : {1e-2, 1e-9}) {
      BlockKrylov krylov(problem, {.tolerance = tolerance, .max_products = 2000});
      EXPECT_LE(error_of(problem, System(problem, 1e-2), krylov), 1.01 * tolerance + 1e-12);
      EXPECT_LE(krylov.relative_residual(), tolerance);
    }
  }
}

TEST(BlockKrylov, TheIncompleteFactorIsExactWhereNothingFillsIn) {
  const ScaledProblem column = lattice(1, 1, 12);  // contacts in a chain
  BlockKrylov krylov(column, {.tolerance = 1e-12});
  EXPECT_LE(error_of(column, System(column, 1e-2), krylov), 1e-12);
  EXPECT_LE(krylov.products(), 2);
}

TEST(BlockKrylov, SaysHowFarItCameWhereTheProductsEnd) {
  const ScaledProblem problem = lattice(5, 5, 5);
  BlockKrylov krylov(problem, {.tolerance = 1e-12, .max_products = 4});
  const double error = error_of(problem, System(problem, 1e-6), krylov);
  EXPECT_EQ(krylov.products(), 4);
  EXPECT_GT(krylov.relative_residual(), 1e-12);
  EXPECT_NEAR(krylov.relative_residual(), error, 1e-6 * error);
}

TEST(BlockKrylov, WhatIsLeftOutActsAsTheIdentity) {
  const ScaledProblem problem = lattice(4, 4, 4);
  System system(problem, 1e-2);
  for (std::size_t i = 0; i < system.left_out.size(); i += 3) system.left_out[i] = true;
  BlockKrylov krylov(problem, {.tolerance = 1e-10, .max_products = 2000});
  BlockLu lu(problem);
  const Vector b = system.right_side();
  Vector x(problem.size()), exact(problem.size());
  krylov.factor(problem, system);
  krylov.solve(b, x);
  lu.factor(problem, system);
  lu.solve(b, exact);
  EXPECT_LE((x - exact).norm(), 1e-7 * exact.norm());
}

TEST(BlockKrylov, AllocatesNothingAndRepeatsToTheBit) {
  const ScaledProblem problem = lattice(4, 4, 4);
  const System system(problem, 1e-2), other(problem, 1.0);
  BlockKrylov krylov(problem, {.tolerance = 1e-8});
  const Vector b = system.right_side();
  Vector first(problem.size()), again(problem.size());
  const long before = testing::allocation_count();
  krylov.factor(problem, system);
  krylov.solve(b, first);
  krylov.factor(problem, other);
  krylov.solve(b, again);
  krylov.factor(problem, system);
  krylov.solve(b, again);
  const long after = testing::allocation_count();
  EXPECT_EQ(first, again);
  if (testing::allocations_are_counted()) {
    EXPECT_EQ(after, before);
  }
}

}  // namespace
}  // namespace conebench::cascade
