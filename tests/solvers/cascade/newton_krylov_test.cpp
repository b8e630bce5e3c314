#include "solvers/cascade/newton_krylov.hpp"

#include <gtest/gtest.h>

#include "scenes/scene_table.hpp"
#include "tests/solvers/cascade/jammed_problem.hpp"
#include "tests/solvers/cascade/judged_solve.hpp"

namespace conebench {
namespace {

using testing::judged_solve;
using testing::JudgedAnswer;

ContactProblem lattice(long edge, double perturbation, std::uint64_t seed = 1) {
  return (*require_scene("sphere-lattice"))
      ->make({{"nx", edge}, {"ny", edge}, {"nz", edge}, {"perturbation", perturbation}}, seed)
      .value();
}

TEST(NewtonKrylov, SolvesHyperstaticLatticesThatMove) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto answer = judged_solve("NEWTON-KRYLOV", lattice(6, 0.5, seed), 1e-8);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << seed;
    EXPECT_LE(answer.residual, 1e-8) << seed;
    EXPECT_GT(answer.summary.factorizations, 0) << seed;
  }
}

TEST(NewtonKrylov, TheGradientAloneCarriesALatticeAtRest) {
  const ContactProblem problem = lattice(10, 0.0);
  const auto answer = judged_solve("NEWTON-KRYLOV", problem, 1e-8);
  EXPECT_LE(answer.residual, 1e-8);
  EXPECT_EQ(answer.summary.factorizations, 0);
  Vector velocity(problem.rows());
  problem.velocity(answer.impulse, velocity);
  EXPECT_LE(velocity.lpNorm<Eigen::Infinity>(), 1e-8) << "closed form: all rest";
}

TEST(NewtonKrylov, HasTheVelocitiesOfAStackAtRest) {
  const ContactProblem problem = (*require_scene("box-stack"))->make({{"boxes", 4L}}, 1).value();
  for (const bool gradient : {true, false}) {
    const auto answer = judged_solve("NEWTON-KRYLOV", problem, 1e-9, {{"gradient", gradient}});
    EXPECT_LE(answer.residual, 1e-9) << gradient;
    Vector velocity(problem.rows());
    problem.velocity(answer.impulse, velocity);
    EXPECT_LE(velocity.lpNorm<Eigen::Infinity>(), 1e-8) << gradient;
  }
}

TEST(NewtonKrylov, IsAheadOfSweepsAloneAfterAsManyProducts) {
  const ContactProblem problem = lattice(7, 0.5, 2);
  const JudgedAnswer own = judged_solve("NEWTON-KRYLOV", problem, 1e-6);
  EXPECT_LE(own.residual, 1e-6);
  SilentMonitor monitor;
  const StopRule stop{.tolerance = 1e-6, .max_iterations = own.summary.operator_products, .stop_by = StopBy::solver};
  const auto sweeps = testing::prepared(*find_solver("NSGS"), problem, {});
  const auto answer = testing::solve(*sweeps, problem, stop, monitor);
  EXPECT_GT(judge(problem, answer.impulse)["natural_map_scaled"].value, 10.0 * own.residual);
}

/// With two products a system and the weakest regularisation hardly a step is any good.
TEST(NewtonKrylov, BadStepsLeaveItWithItsSweeps) {
  const OptionValues bad{{"products", 2L}, {"regularization", 1e-3}, {"gradient", false}};
  const JudgedAnswer answer = judged_solve("NEWTON-KRYLOV", lattice(6, 0.5), 1e-6, bad);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE(answer.residual, 1e-6);
}

TEST(NewtonKrylov, RepeatsToTheBit) {
  const ContactProblem problem = lattice(6, 0.5);
  const auto first = judged_solve("NEWTON-KRYLOV", problem, 1e-6);
  const auto again = judged_solve("NEWTON-KRYLOV", problem, 1e-6);
  EXPECT_EQ(first.impulse, again.impulse);
  EXPECT_EQ(first.summary.iterations, again.summary.iterations);
}

TEST(NewtonKrylov, StaysFiniteWhereNothingIsASolution) {
  const auto answer = judged_solve("NEWTON-KRYLOV", testing::jammed(1e-2), 1e-8);
  EXPECT_TRUE(answer.impulse.allFinite());
  EXPECT_NE(answer.summary.status, SolveStatus::converged);
  EXPECT_GT(answer.residual, 1e-8);
}

/// Two products solve no system of this size: a step is taken where strong regularisation makes it easy, or not at all.
TEST(NewtonKrylov, TakesNoStepThatIsNotSolvedFor) {
  const auto answer = judged_solve("NEWTON-KRYLOV", lattice(5, 0.5), 1e-6, {{"products", 2L}, {"gradient", false}});
  EXPECT_TRUE(answer.impulse.allFinite());
  EXPECT_LE(answer.residual, 1e-6);
}

}  // namespace
}  // namespace conebench
