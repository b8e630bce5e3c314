#include "solvers/cascade/cascade.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "metrics/residuals.hpp"
#include "scenes/scene_table.hpp"
#include "tests/solvers/cascade/jammed_problem.hpp"
#include "tests/solvers/cascade/judged_solve.hpp"
#include "tests/solvers/solver_harness.hpp"

namespace conebench {
namespace {

using testing::judged_solve;
using testing::JudgedAnswer;

ContactProblem scene(const std::string& id, const OptionValues& values, std::uint64_t seed = 1) {
  auto problem = (*require_scene(id))->make(values, seed);
  EXPECT_TRUE(problem.ok()) << problem.error().message;
  return problem.value();
}

class CascadeParts : public ::testing::TestWithParam<std::string> {};

TEST_P(CascadeParts, SolveAStackWithManyRedundantContactsToTenDigits) {
  const JudgedAnswer answer = judged_solve(GetParam(), scene("box-stack", {{"boxes", 5L}}), 1e-10);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged) << answer.summary.own_residual;
  EXPECT_LE(answer.residual, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(All, CascadeParts, ::testing::Values("IPM", "PPA", "CASCADE"),
                         [](const auto& instance) { return instance.param; });

TEST(Cascade, SolvesRandomProblemsOfEveryKindToTenDigits) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const OptionValues& values : std::vector<OptionValues>{
             {{"contacts", 15L}}, {{"contacts", 15L}, {"dimension", 2L}}, {{"contacts", 10L}, {"limits", 6L}}}) {
      const ContactProblem problem = scene("random", values, seed);
      EXPECT_LE(judged_solve("CASCADE", problem, 1e-10).residual, 1e-10) << problem.provenance().name;
    }
  }
}

TEST(Cascade, ReportsTheResidualOfItsAnswerAlsoWhereThatDoesNotPass) {
  for (const OptionValues& values : std::vector<OptionValues>{
           {{"contacts", 12L}}, {{"contacts", 12L}, {"dimension", 2L}}, {{"contacts", 8L}, {"joints", 4L}}}) {
    const ContactProblem problem = scene("random", values);
    auto solver = find_solver("CASCADE")->make({}).value();
    ASSERT_TRUE(solver->prepare(problem));
    SilentMonitor monitor;
    Vector impulse(problem.rows());
    for (long limit = 1; limit <= 20; ++limit) {
      const StopRule stop{.tolerance = 1e-15, .max_iterations = limit, .stop_by = StopBy::solver};
      const SolveSummary summary = solver->solve(Vector::Zero(problem.rows()), stop, monitor, impulse);
      const double residual = judge(problem, impulse)["natural_map_scaled"].value;
      EXPECT_NEAR(summary.own_residual, residual, 1e-9 * residual + 1e-14) << problem.provenance().name << limit;
    }
  }
}

TEST(Cascade, SolvesProblemsWithJointsAndLimits) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const OptionValues values{{"contacts", 8L}, {"joints", 6L}, {"limits", 3L}, {"rank_share", 0.6}};
    const ContactProblem problem = scene("known-solution", values, seed);
    const JudgedAnswer answer = judged_solve("CASCADE", problem, 1e-10);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << seed;
    EXPECT_LE(answer.residual, 2e-10) << seed;  // the joints' rounding is the judge's to see, not the solver's
  }
}

/// A joint that touches every contact of many that nothing else couples.
TEST(Cascade, RefusesJointsWhoseEliminationFillsMoreThanTheMemory) {
  constexpr Index contacts = 300;
  Matrix g = Matrix::Identity(1 + 3 * contacts, 1 + 3 * contacts);
  g.topRightCorner(1, 3 * contacts).setConstant(0.01);
  g.bottomLeftCorner(3 * contacts, 1).setConstant(0.01);
  ContactProblemData data;
  data.cones = ConeProduct::create(1, 0, std::vector<double>(contacts, 0.5)).value();
  data.delassus = make_dense_delassus(g);
  data.free_term = Vector::Constant(g.rows(), -1.0);
  const ContactProblem problem = ContactProblem::create(std::move(data)).value();
  const auto solver = find_solver("CASCADE")->make({{"memory", 10.0}}).value();
  const auto refused = solver->prepare(problem);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_EQ(judged_solve("CASCADE", problem, 1e-10, {{"memory", 30.0}}).summary.status, SolveStatus::converged);
}

TEST(Cascade, ClaimsNothingWhereJointsContradictEachOther) {
  ContactProblemData data;
  data.cones = ConeProduct::create(2, 0, {}).value();
  data.delassus = make_dense_delassus(Matrix::Ones(2, 2));
  data.free_term = Vector::Zero(2);
  data.free_term << 0.4, 0.4;
  const JudgedAnswer joints_only = judged_solve("CASCADE", ContactProblem::create(data).value(), 1e-10);
  EXPECT_EQ(joints_only.summary.status, SolveStatus::converged);
  EXPECT_LE(joints_only.residual, 1e-14);
  data.free_term[1] = -0.4;
  const ContactProblem contradiction = ContactProblem::create(data).value();
  EXPECT_EQ(judged_solve("CASCADE", contradiction, 1e-10).summary.status, SolveStatus::stalled);
  auto solver = find_solver("CASCADE")->make({});
  ASSERT_TRUE((*solver)->prepare(contradiction));
  SilentMonitor monitor;
  Vector impulse(2);
  const StopRule by_verdict{.tolerance = 1e-10, .stop_by = StopBy::judge};
  EXPECT_EQ((*solver)->solve(Vector::Zero(2), by_verdict, monitor, impulse).status, SolveStatus::stalled);
}

/// A body that six joint rows hold fast, on contacts into which it is pressed at `speed`: nothing can stop it, and what
/// the joints leave of G's contacts is rounding.
ContactProblem held_fast(Index contacts, double speed, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> entry(-1.0, 1.0);
  const Matrix jacobian = Matrix::NullaryExpr(6 + 3 * contacts, 6, [&]() { return entry(random); });
  const Vector velocity = Vector::NullaryExpr(6, [&]() { return entry(random); });
  ContactProblemData data;
  data.cones = ConeProduct::create(6, 0, std::vector<double>(static_cast<std::size_t>(contacts), 0.5)).value();
  data.delassus = make_dense_delassus(jacobian * jacobian.transpose());
  data.free_term = jacobian * velocity;
  for (Index i = 0; i < contacts; ++i) data.free_term[6 + 3 * i + 2] -= speed;
  return ContactProblem::create(std::move(data)).value();
}

TEST(Cascade, ReturnsTheBestOfTheWholeProblemWhereJointsDetermineContacts) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const ContactProblem problem = held_fast(4, 1e-4, seed);
    const JudgedAnswer answer = judged_solve("CASCADE", problem, 1e-8);
    EXPECT_NE(answer.summary.status, SolveStatus::converged);
    // What is left is rounding of large impulses: the judge sums in another order.
    EXPECT_NEAR(answer.summary.own_residual, answer.residual, 0.2 * answer.residual);
    EXPECT_LE(answer.residual, 1.1 * judge(problem, Vector::Zero(problem.rows()))["natural_map_scaled"].value);
    EXPECT_LE(answer.residual, 1.1 * judged_solve("PPA", problem, 1e-8).residual);
  }
}

TEST(Cascade, ReportsTheWholeResidualWhereJointsContradictEachOther) {
  Matrix g = Matrix::Identity(5, 5);
  g.topLeftCorner(2, 2).setOnes();
  ContactProblemData data;
  data.cones = ConeProduct::create(2, 0, {0.5}).value();
  data.delassus = make_dense_delassus(g);
  data.free_term = Vector::Zero(5);
  data.free_term << 0.4, -0.4, 0.1, 0.0, -1.0;
  const JudgedAnswer answer = judged_solve("CASCADE", ContactProblem::create(data).value(), 1e-10);
  EXPECT_NE(answer.summary.status, SolveStatus::converged);
  EXPECT_NEAR(answer.residual, 0.4, 0.01);
  EXPECT_NEAR(answer.summary.own_residual, answer.residual, 1e-12);
}

TEST(Cascade, EndsNearTheLookAtWhichTimeIsUpWhateverItIsDoing) {
  const std::vector<ContactProblem> problems{
      testing::jammed(2e-8), scene("box-stack", {{"boxes", 2L}, {"mass_ratio", 1e8}}),
      scene("random", {{"contacts", 12L}, {"mu_min", 0.8}, {"mu_max", 1.5}, {"conditioning", 300.0}})};
  const StopRule stop{.tolerance = 1e-8, .max_iterations = 20000, .stop_by = StopBy::judge};
  for (const char* id : {"CASCADE", "PPA"}) {
    for (const ContactProblem& problem : problems) {
      auto solver = find_solver(id)->make({}).value();
      ASSERT_TRUE(solver->prepare(problem));
      Vector impulse(problem.rows());
      for (long look = 1; look <= 2000; look += 1 + look / 8) {
        testing::StoppingMonitor monitor(look, Decision::out_of_time);
        const SolveSummary summary = solver->solve(Vector::Zero(problem.rows()), stop, monitor, impulse);
        if (summary.status == SolveStatus::stalled) break;  // it ends before that look
        EXPECT_EQ(summary.status, SolveStatus::time_limit);
        // Factors that no point is measured with right away: those of a start from rest.
        EXPECT_LE(summary.factorizations, look + 8) << id << ' ' << problem.provenance().name;
      }
    }
  }
}

/// The same problem with G in other units of mass and g of velocity.
ContactProblem in_units(const ContactProblem& problem, double mass, double velocity) {
  ContactProblemData data = problem.data();
  data.delassus =
      make_block_sparse_delassus(BlockSparseMatrix::from_dense(problem.blocks().dense() / mass, problem.cones()));
  data.free_term *= velocity;
  data.primal.reset();
  data.bias.reset();
  data.reference.reset();
  data.guess.reset();
  return ContactProblem::create(std::move(data)).value();
}

TEST(Cascade, ReturnsNumbersInTheMostExtremeUnits) {
  for (const long contacts : {1L, 3L, 12L}) {
    const ContactProblem problem = scene("random", {{"contacts", contacts}});
    for (const auto& [mass, velocity] :
         {std::pair(1.0, 1e200), {1.0, 1e-200}, {1e200, 1.0}, {1e-200, 1.0}, {1e-150, 1e160}}) {
      const ContactProblem extreme = in_units(problem, mass, velocity);
      auto solver = find_solver("CASCADE")->make({}).value();
      ASSERT_TRUE(solver->prepare(extreme));
      Vector impulse = Vector::Zero(problem.rows());
      SilentMonitor monitor;
      const StopRule stop{.tolerance = 1e-8, .max_iterations = 200, .stop_by = StopBy::solver};
      const SolveSummary summary = solver->solve(Vector::Zero(problem.rows()), stop, monitor, impulse);
      EXPECT_TRUE(impulse.allFinite()) << contacts << ' ' << mass << ' ' << velocity;
      if (summary.status == SolveStatus::converged) {
        EXPECT_LE(judge(extreme, impulse)["natural_map_scaled"].value, 1e-8)
            << contacts << ' ' << mass << ' ' << velocity;
      }
    }
  }
}

TEST(Cascade, IsDeterministic) {
  const ContactProblem problem = scene("random", {{"contacts", 20L}}, 4);
  EXPECT_EQ(judged_solve("CASCADE", problem, 1e-10).impulse, judged_solve("CASCADE", problem, 1e-10).impulse);
}

TEST(Cascade, CountsSweepsAndNewtonStepsAgainstTheLimit) {
  const ContactProblem problem = scene("box-stack", {{"boxes", 8L}});
  auto solver = find_solver("CASCADE")->make({});
  ASSERT_TRUE((*solver)->prepare(problem));
  SilentMonitor monitor;
  Vector impulse(problem.rows());
  for (const double tolerance : {1e-300, 1e-15}) {
    for (long limit = 1; limit <= 150; ++limit) {
      const StopRule stop{tolerance, limit, StopBy::solver};
      const auto summary = (*solver)->solve(Vector::Zero(problem.rows()), stop, monitor, impulse);
      EXPECT_EQ(summary.status, SolveStatus::max_iterations);
      EXPECT_LE(summary.iterations, limit);
    }
  }
}

TEST(Cascade, TakesNoAnalysisOfAProblemInSpaceForOneInPlane) {
  const ContactProblem space = scene("random", {{"contacts", 12L}});
  const ContactProblem plane = scene("random", {{"contacts", 12L}, {"dimension", 2L}});
  for (const char* id : {"CASCADE", "IPM"}) {
    auto solver = find_solver(id)->make({});
    for (const ContactProblem* problem : {&space, &plane, &space}) {
      ASSERT_TRUE((*solver)->prepare(*problem));
      SilentMonitor monitor;
      Vector impulse(problem->rows());
      (*solver)->solve(Vector::Zero(problem->rows()), {1e-10, 1000, StopBy::solver}, monitor, impulse);
      EXPECT_EQ(impulse, judged_solve(id, *problem, 1e-10).impulse) << id;
    }
  }
}

}  // namespace
}  // namespace conebench
