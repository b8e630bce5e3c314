#include "solvers/cascade/bilateral_relaxation.hpp"

#include <gtest/gtest.h>

#include "metrics/residuals.hpp"
#include "problems/joint_elimination.hpp"
#include "tests/solvers/cascade/jammed_problem.hpp"
#include "tests/solvers/cascade/judged_solve.hpp"

namespace conebench {
namespace {

using testing::judged_solve;
using testing::JudgedAnswer;

TEST(BilateralRelaxation, BearWhatTheToleranceAllowsWhereTheyJamWithContacts) {
  const JudgedAnswer loose = judged_solve("CASCADE", testing::jammed(-0.8e-8), 1e-8);
  EXPECT_EQ(loose.summary.status, SolveStatus::converged) << "with errors the other way it slips";
  EXPECT_LE(loose.residual, 1e-10);
  const ContactProblem problem = testing::jammed(0.8e-8);
  EXPECT_GE(judged_solve("PPA", problem, 1e-8).residual, 1.1e-8) << "where joints are satisfied to rounding";
  const JudgedAnswer answer = judged_solve("CASCADE", problem, 1e-8);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE(answer.residual, 1e-8);
  EXPECT_NEAR(answer.summary.own_residual, answer.residual, 1e-12);
  const JudgedAnswer strict = judged_solve("CASCADE", problem, 1e-9);
  EXPECT_NE(strict.summary.status, SolveStatus::converged) << "more than all rows together can bear";
  EXPECT_GE(strict.residual, 4e-9);
}

TEST(BilateralRelaxation, MoveNoFasterThanTheyMust) {
  const ContactProblem problem = testing::jammed(0.7e-8);
  EXPECT_GE(judged_solve("PPA", problem, 1e-8).residual, 1.02e-8) << "without which nothing has to be relaxed";
  const JudgedAnswer answer = judged_solve("CASCADE", problem, 1e-8);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  Vector velocity(problem.rows());
  problem.delassus().apply(answer.impulse, velocity);
  velocity += problem.free_term();
  const double free = problem.free_term().lpNorm<Eigen::Infinity>();
  const double fastest = velocity.head(problem.cones().joints()).lpNorm<Eigen::Infinity>();
  EXPECT_LE(fastest, 0.3e-8 * free);
  EXPECT_GE(fastest, 0.01e-8 * free);
}

TEST(BilateralRelaxation, StayAsTheyAreWhereTwoEliminationsTakeMoreThanTheMemory) {
  const ContactProblem problem = testing::jammed(0.8e-8, 12);
  double bytes = 1.0;
  while (!eliminate_joints(problem, bytes).ok()) bytes *= 1.01;
  for (const double share : {1.0, 1.9, 2.1}) {
    cascade::Parts parts(problem, share * bytes);
    ASSERT_TRUE(parts.lu().fits());
    SilentMonitor monitor;
    const StopRule stop{.tolerance = 1e-8, .stop_by = StopBy::solver};
    Vector workspace(problem.rows());
    cascade::Search search(stop, monitor, workspace);
    search.take_points_of(parts.problem());
    Vector r = Vector::Zero(parts.problem().size());
    EXPECT_FALSE(parts.newton().run(search, r, {.steps = 40, .stall_window = 20}));
    ASSERT_LE(search.best(), 1e-7);
    EXPECT_EQ(cascade::relax_joints(parts, search), share > 2.0) << share;
  }
}

}  // namespace
}  // namespace conebench
