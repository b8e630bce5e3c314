#include <gtest/gtest.h>

#include "tests/solvers/solver_harness.hpp"
#include "tests/support/make_problem.hpp"

namespace conebench {
namespace {

using namespace conebench::testing;

Answer run_newton(const std::string& id, const ContactProblem& problem, const OptionValues& options = {},
                  double tolerance = 1e-11) {
  const auto solver = prepared(*find_solver(id), problem, options);
  SilentMonitor silent;
  return solve(*solver, problem, {.tolerance = tolerance, .max_iterations = 1000, .stop_by = StopBy::solver}, silent);
}

class NonsmoothNewton : public ::testing::TestWithParam<std::string> {};

TEST_P(NonsmoothNewton, AgreesWithGaussSeidelInVelocities) {
  for (const long dimension : {2L, 3L}) {
    for (const double rank_share : {0.5, 1.0}) {
      const ContactProblem problem = make_problem(
          "known-solution",
          {{"contacts", 15L}, {"joints", 2L}, {"limits", 2L}, {"rank_share", rank_share}, {"dimension", dimension}});
      const Answer answer = run_newton(GetParam(), problem);
      const Answer exact = solve_to_verdict(*find_solver("NSGS"), problem, 1e-10);
      ASSERT_EQ(answer.summary.status, SolveStatus::converged);
      ASSERT_EQ(exact.summary.status, SolveStatus::converged);
      EXPECT_LE((velocity(problem, answer.impulse) - velocity(problem, exact.impulse)).norm(), 1e-7);
    }
  }
}

TEST_P(NonsmoothNewton, TakesAFewStepsToFullAccuracy) {
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 30L}, {"coupling", 4L}});
  const Answer answer = run_newton(GetParam(), problem);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_LE(answer.summary.iterations, 30);
  // One more where a plain step was tried in vain.
  EXPECT_GE(answer.summary.factorizations, answer.summary.iterations);
  EXPECT_LE(answer.summary.factorizations, answer.summary.iterations + 1);
  EXPECT_LE(judge(problem, answer.impulse)["natural_map_scaled"].value, 1e-10);
}

TEST_P(NonsmoothNewton, ALinearProblemTakesOnePlainStepAndSeveralRegularisedOnes) {
  if (GetParam() == "NSN-FB") GTEST_SKIP() << "its function is not linear in pieces";
  const ContactProblem problem = make_problem("random", {{"contacts", 1L}, {"mu_min", 0.0}, {"mu_max", 0.0}});
  const Answer plain = run_newton(GetParam(), problem);
  const Answer regularised = run_newton(GetParam(), problem, {{"plain_steps", false}});
  EXPECT_EQ(plain.summary.status, SolveStatus::converged);
  EXPECT_EQ(regularised.summary.status, SolveStatus::converged);
  EXPECT_EQ(plain.summary.iterations, 1);
  EXPECT_GE(regularised.summary.iterations, 3);
}

TEST_P(NonsmoothNewton, DenseAndSparseAgree) {
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 60L}, {"coupling", 3L}, {"joints", 3L}});
  const Answer dense = run_newton(GetParam(), problem, {{"storage", "dense"}});
  const Answer sparse = run_newton(GetParam(), problem, {{"storage", "sparse"}});
  EXPECT_EQ(dense.summary.status, SolveStatus::converged);
  EXPECT_EQ(sparse.summary.status, SolveStatus::converged);
  EXPECT_LE((dense.impulse - sparse.impulse).norm(), 1e-8 * dense.impulse.norm());
}

TEST_P(NonsmoothNewton, EveryLineSearchReachesTheSolution) {
  const ContactProblem problem = make_problem("known-solution", {{"contacts", 12L}, {"rank_share", 0.5}});
  for (const OptionValues& options : std::vector<OptionValues>{{{"line_search", "armijo"}, {"memory", 1L}},
                                                               {{"line_search", "armijo"}, {"memory", 10L}},
                                                               {{"line_search", "goldstein-price"}},
                                                               {{"steps", "spectral"}}}) {
    const Answer answer = run_newton(GetParam(), problem, options);
    EXPECT_EQ(answer.summary.status, SolveStatus::converged) << options.begin()->first;
  }
}

TEST_P(NonsmoothNewton, UnsymmetricMatrixIsSolvedAsGiven) {
  const ContactProblem problem = make_problem("random", {{"contacts", 8L}, {"asymmetry", 0.02}});
  ASSERT_GT(problem.symmetry_error(), 1e-3);
  const Answer answer = run_newton(GetParam(), problem);
  EXPECT_EQ(answer.summary.status, SolveStatus::converged);
  EXPECT_FALSE(answer.summary.solved_symmetrised);
  EXPECT_LE(judge(problem, answer.impulse)["natural_map_scaled"].value, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Functions, NonsmoothNewton, ::testing::Values("NSN-AC", "NSN-NM", "NSN-FB"),
                         [](const auto& param) {
                           return param.param == "NSN-AC"   ? std::string("AlartCurnier")
                                  : param.param == "NSN-NM" ? std::string("NaturalMap")
                                                            : std::string("FischerBurmeister");
                         });

TEST(NonsmoothNewtonFunctions, FischerBurmeisterReachesTheAnswerOfTheCascade) {
  const ContactProblem problem = make_problem("random", {{"contacts", 12L}}, 4);
  const Answer answer = run_newton("NSN-FB", problem);
  const Answer cascade = solve_to_verdict(*find_solver("CASCADE"), problem, 1e-12);
  ASSERT_EQ(answer.summary.status, SolveStatus::converged);
  ASSERT_EQ(cascade.summary.status, SolveStatus::converged);
  EXPECT_LE((answer.impulse - cascade.impulse).norm(), 1e-8 * cascade.impulse.norm());
}

}  // namespace
}  // namespace conebench
